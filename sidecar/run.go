package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Run serves until ctx ends. Then nothing new is accepted, open requests may end
// within grace, and what is still open after that gets an error event. The error
// is nil after a stop that was asked for.
func Run(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration, log *slog.Logger) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if err := web.ServeUntil(ctx, srv, l); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	log.Info("stopping: open requests may end; a second signal stops at once", "event", "http_server_shutting_down", "grace", grace.String())
	wait, done := context.WithTimeout(context.Background(), grace)
	defer done()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		cut(turn.ErrStopping)
		last, done := context.WithTimeout(context.Background(), 2*time.Second)
		defer done()
		err = srv.Shutdown(last)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped", "event", "http_server_stopped")
	return nil
}
