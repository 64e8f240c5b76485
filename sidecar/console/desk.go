package console

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	maxSeats  = 2                // drafts that are tried at once: the processors are for the turns
	draftTime = 15 * time.Second // until a page stops waiting for its draft
)

// desk is where drafts are tried: one for each person at a time, and few at once.
type desk struct {
	seats chan struct{}

	mu   sync.Mutex
	busy map[string]bool
}

func newDesk() *desk { return &desk{seats: make(chan struct{}, maxSeats), busy: map[string]bool{}} }

// personOf names who sits there: a session, or else an address.
func personOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		return keyOf(cookie.Value)
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return host
}

// work does one thing for a person. What goes on when ctx ends keeps its seat until it is done,
// and what it makes is nobody's. What changes something is waited for, so that nobody hears that it did not.
func (d *desk) work(ctx context.Context, who string, changes bool, do func() error) error {
	d.mu.Lock()
	if d.busy[who] {
		d.mu.Unlock()
		return &trouble{http.StatusTooManyRequests, "Your last draft is still being read", "One is read at a time. Go back, and try again in a moment."}
	}
	d.busy[who] = true
	d.mu.Unlock()
	leave := func() {
		d.mu.Lock()
		delete(d.busy, who)
		d.mu.Unlock()
	}
	select {
	case d.seats <- struct{}{}:
	case <-ctx.Done():
		leave()
		return &trouble{http.StatusServiceUnavailable, "Other drafts are being read", fmt.Sprintf("At most %d are read at once. Go back, and try again in a moment.", maxSeats)}
	}
	type end struct{ err, panics any }
	done := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panics = recover()
			leave()
			<-d.seats
			done <- e
		}()
		e.err = do()
	}()
	late := ctx.Done()
	if changes {
		late = nil
	}
	select {
	case e := <-done:
		if e.panics != nil {
			panic(e.panics) // of the request, as if it had been done there
		}
		err, _ := e.err.(error)
		return err
	case <-late:
		return &trouble{http.StatusServiceUnavailable, "This draft takes too long to read", fmt.Sprintf("It was not ready within %s. Nothing was changed.", draftTime)}
	}
}
