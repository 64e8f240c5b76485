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

// Shutdown says how a server stops.
type Shutdown struct {
	Drain time.Duration // it goes on accepting connections for so long
	// Quiet is how long open connections must be silent before they are closed; nil: they are not kept
	// open.
	Quiet func() time.Duration
	Until context.Context // when it ends, so do open requests
}

// Run serves until ctx ends. Then it says at /readyz and with each answer that it stops, so that callers
// turn elsewhere, and after Drain accepts nothing new. Open requests may end; those that are left at Until
// get an error event. The error is nil after such a stop.
func Run(ctx context.Context, l net.Listener, h http.Handler, leave func() Shutdown, log *slog.Logger) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	leaving, open := &atomic.Bool{}, &connections{busy: map[net.Conn]bool{}}
	srv := &http.Server{
		Handler:           announceStop(leaving, h),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         open.track,
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
	for how.Quiet != nil && how.Until.Err() == nil && !open.idle(how.Quiet()) {
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

// announceStop tells callers that the server stops. Each answer ends its connection, as clients that reuse
// it would be there when it is closed.
func announceStop(leaving *atomic.Bool, h http.Handler) http.Handler {
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

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// connections tracks open connections and whether each has a request. It is safe for concurrent use.
type connections struct {
	mu   sync.Mutex
	busy map[net.Conn]bool
	last time.Time // the last change of any connection
}

// track implements http.Server.ConnState.
func (c *connections) track(conn net.Conn, state http.ConnState) {
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

// idle reports whether no request is open, and there is no connection or none has changed for so long.
func (c *connections) idle(long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, busy := range c.busy {
		if busy {
			return false
		}
	}
	return len(c.busy) == 0 || time.Since(c.last) >= long
}
