package admin

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxDrafts = 2                // tested at once: the processors are for the turns
	draftTime = 15 * time.Second // the longest wait for a draft
)

// DraftLimiter limits the tests of draft rules: one at a time for each person, and few in all.
type DraftLimiter struct {
	slots chan struct{}

	mu   sync.Mutex
	busy map[string]bool
}

// NewDraftLimiter returns a limiter with free slots.
func NewDraftLimiter() *DraftLimiter {
	return &DraftLimiter{slots: make(chan struct{}, maxDrafts), busy: map[string]bool{}}
}

// Work calls do for a person, within a bounded time. If that or ctx ends, do keeps its slot until it
// returns, and its result is dropped; but Work waits for a do that changes something, so that the caller
// learns of it. An *Error says why do was not called.
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
			fmt.Sprintf("at most %d are read at once; try again in a moment", maxDrafts))
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

const (
	maxMisses  = 10 // wrong tokens of an address within missTime
	missTime   = time.Minute
	maxMissers = 1024 // addresses that are remembered
)

// Misses counts wrong tokens by address. It never blocks a right one: others at an address could lock its
// owner out. It is safe for concurrent use.
type Misses struct {
	now func() time.Time

	mu sync.Mutex
	by *recent.Map[missCount]
}

type missCount struct {
	since time.Time
	n     int
}

// NewMisses returns an empty count.
func NewMisses(now func() time.Time) *Misses {
	return &Misses{now: now, by: recent.New[missCount](maxMissers, nil)}
}

// add counts a wrong token and returns how many the address has shown lately.
func (m *Misses) add(address string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	of, _ := m.by.Use(address)
	if m.now().Sub(of.since) > missTime {
		*of = missCount{since: m.now()}
	}
	of.n++
	return of.n
}

// Missed counts a wrong token and reports whether its address has shown too many, which it logs once a
// minute.
func (a *API) Missed(r *http.Request) (tired bool) {
	n := a.Misses.add(web.Address(r))
	if n == maxMisses+1 {
		a.Log.Warn("an address shows one wrong token after another", "event", "tokens_guessed",
			"from", r.RemoteAddr, "path", r.URL.Path)
	}
	return n > maxMisses
}
