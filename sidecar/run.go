package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Leave says how a server stops that was told to.
type Leave struct {
	Drain time.Duration // it goes on accepting connections so long, and says that it leaves
	// then it keeps open connections until nothing has come for so long; nil: it does not
	Quiet func() time.Duration
	Until context.Context // open requests may go on until this ends
}

// Run serves until ctx ends. Then it says that it leaves: at /readyz, and with each answer, so that
// callers come another way. A little later nothing new is accepted. Open requests may end, and what is
// still open at last gets an error event. The error is nil after a stop that was asked for.
func Run(ctx context.Context, l net.Listener, h http.Handler, leave func() Leave, log *slog.Logger) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	leaving, open := &atomic.Bool{}, &connections{busy: map[net.Conn]bool{}}
	srv := &http.Server{
		Handler:           farewell(leaving, h),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         open.note,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if err := web.ServeUntil(ctx, srv, l); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	leaving.Store(true)
	how := leave()
	log.Info("stopping: open requests may end; a second signal stops at once",
		"event", "http_server_shutting_down", "drain", how.Drain.String())
	pause(how.Until, how.Drain)
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop: %w", err)
	}
	for how.Quiet != nil && how.Until.Err() == nil && !open.quiet(how.Quiet()) {
		pause(how.Until, 10*time.Millisecond)
	}
	err := srv.Shutdown(how.Until)
	if err != nil && errors.Is(err, how.Until.Err()) {
		cut(turn.ErrStopping)
		last, done := context.WithTimeout(context.Background(), 2*time.Second)
		defer done()
		err = srv.Shutdown(last)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped", "event", "http_server_stopped")
	return nil
}

// farewell tells callers that the server leaves. A client that goes on over the same connection would be
// there when it is closed, so each answer ends its connection.
func farewell(leaving *atomic.Bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leaving.Load() {
			w.Header().Set("Connection", "close")
			if r.URL.Path == "/readyz" {
				web.WriteJSON(w, http.StatusServiceUnavailable, map[string]any{"ready": false,
					"failing": []string{"this server stops"}})
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// pause waits until some time has passed, or ctx has ended.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// connections are those of callers that are open, and whether a request is on them. Safe for
// concurrent use.
type connections struct {
	mu   sync.Mutex
	busy map[net.Conn]bool
	last time.Time // when something came or ended
}

// note is told what becomes of a connection.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.busy, conn)
	default:
		c.busy[conn] = state == http.StateActive
	}
}

// quiet reports whether no connection is busy, and none is open or nothing has come for so long.
func (c *connections) quiet(long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, busy := range c.busy {
		if busy {
			return false
		}
	}
	return len(c.busy) == 0 || time.Since(c.last) >= long
}
