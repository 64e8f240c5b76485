package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Serve serves the admin API until ctx ends, and then waits a moment for what
// is being answered. The error is nil after a stop that was asked for.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if err := web.ServeUntil(ctx, srv, l); err != nil {
		return fmt.Errorf("serve the admin API: %w", err)
	}
	wait, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if err != nil {
		return fmt.Errorf("stop the admin API: %w", err)
	}
	return nil
}
