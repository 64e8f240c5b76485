package executor

import (
	"context"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// recent are the runs of late, by their request. A caller that sends a request again, because
// its answer got lost, must not have everything done twice.
type recent struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[string]*memo
}

// memo is what is kept of a run.
type memo struct {
	run   *Run
	ended chan struct{} // closed at its end; what follows is good from then on
	until time.Time
	end   *ending // nil: it broke off, and another run may go on with its work
}

// ending is how a run has ended.
type ending struct {
	said         said
	text, finish string
}

func newRecent(now func() time.Time) *recent { return &recent{now: now, runs: map[string]*memo{}} }

// begin notes a run, or gives the one with the same request.
func (c *recent) begin(r *Run) (mine, other *memo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for key, m := range c.runs {
		select {
		case <-m.ended:
			if !now.Before(m.until) {
				delete(c.runs, key)
			}
		default:
		}
	}
	if other := c.runs[r.begin.Sum]; other != nil {
		return nil, other
	}
	m := &memo{run: r, ended: make(chan struct{})}
	c.runs[r.begin.Sum] = m
	return m, nil
}

// close notes how a run ended. One that changed nothing is forgotten: the same request may
// well have another answer.
func (c *recent) close(m *memo, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.until = c.now().Add(keep)
	if len(m.run.acts.did) == 0 && c.runs[m.run.begin.Sum] == m {
		delete(c.runs, m.run.begin.Sum)
	}
	close(m.ended)
}

// drop forgets a run with whose work another one goes on. It reports whether it was there: of
// two that want to go on only one does.
func (c *recent) drop(m *memo) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[m.run.begin.Sum] != m {
		return false
	}
	delete(c.runs, m.run.begin.Sum)
	return true
}

// join finds out whether the request of a run was asked before, and not long ago. It gives the
// end of that run, once it has one; or lets this one go on with its work; or neither.
func (r *Run) join(ctx context.Context) (mine *memo, end *ending, err error) {
	for {
		mine, other := r.recent.begin(r)
		if mine != nil {
			return mine, nil, nil
		}
		select {
		case <-other.ended:
		case <-ctx.Done():
			return nil, nil, &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request", Message: "the caller left"}
		}
		switch {
		case other.end != nil:
			r.Log.Info("the request was answered before, and gets the same answer", "event", "run_repeated", "run", r.ID, "first", other.run.ID)
			return nil, other.end, nil
		case r.recent.drop(other) && len(other.run.acts.did) > 0:
			r.Log.Info("the request was broken off before; this run goes on with its work", "event", "run_continued", "run", r.ID, "first", other.run.ID)
			r.work = other.run.work
		}
	}
}
