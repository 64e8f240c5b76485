package admin

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	maxSeats  = 2                // drafts that are tried at once: the processors are for the turns
	draftTime = 15 * time.Second // the longest wait for a draft
)

// DraftLimiter is where drafts of rules are tried: one for each person at a time, and few at once.
type DraftLimiter struct {
	slots chan struct{}

	mu   sync.Mutex
	busy map[string]bool
}

// NewDraftLimiter has free slots.
func NewDraftLimiter() *DraftLimiter {
	return &DraftLimiter{slots: make(chan struct{}, maxSeats), busy: map[string]bool{}}
}

// Work does one thing for a person, within a bounded time. What goes on when that or ctx ends keeps its slot
// until it is done, and its result is dropped. Work waits for what changes something, so that the caller
// hears of the change. An *Error says why it was not done.
func (d *DraftLimiter) Work(ctx context.Context, who string, changes bool, do func() error) error {
	ctx, stop := context.WithTimeout(ctx, draftTime)
	defer stop()
	d.mu.Lock()
	if d.busy[who] {
		d.mu.Unlock()
		return Refuse(http.StatusTooManyRequests, "your last draft is still being read",
			"one is read at a time; try again in a moment")
	}
	d.busy[who] = true
	d.mu.Unlock()
	leave := func() {
		d.mu.Lock()
		delete(d.busy, who)
		d.mu.Unlock()
	}
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		leave()
		return Refuse(http.StatusServiceUnavailable, "other drafts are being read",
			fmt.Sprintf("at most %d are read at once; try again in a moment", maxSeats))
	}
	type end struct{ err, panics any }
	done := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panics = recover()
			leave()
			<-d.slots
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
		return Refuse(http.StatusServiceUnavailable, "this draft takes too long to read",
			fmt.Sprintf("it was not ready within %s", draftTime))
	}
}
