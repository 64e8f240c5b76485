package run

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// recentRuns holds recent runs by request. A caller that repeats a request because the answer got lost
// must not have everything done twice.
type recentRuns struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[string]*recentRun
}

// recentRun is a run that is active or ended recently.
type recentRun struct {
	id, sum string // sum is the hash of its request
	run     *Run
	ended   chan struct{} // closed at its end; the fields below are set then
	until   time.Time
	end     *ending // nil: it broke off, and another run may go on
	resumed bool    // another run does
}

// ending is how a run ended.
type ending struct {
	reply        modelReply
	text, finish string
}

func newRecentRuns(now func() time.Time) *recentRuns {
	return &recentRuns{now: now, runs: map[string]*recentRun{}}
}

// begin adds a run, or returns the other one with the same request.
func (c *recentRuns) begin(r *Run) (mine, other *recentRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.runs, func(_ string, m *recentRun) bool { return m.over() && !now.Before(m.until) })
	if other := c.runs[r.begin.Sum]; other != nil {
		return nil, other
	}
	return c.add(r, r.begin.ID), nil
}

// over reports whether the run has ended.
func (m *recentRun) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

func (c *recentRuns) add(r *Run, id string) *recentRun {
	m := &recentRun{id: id, sum: r.begin.Sum, run: r, ended: make(chan struct{})}
	c.runs[m.sum] = m
	return m
}

// finish notes how a run ended. A run that changed nothing is forgotten: the same request may have
// another answer.
func (c *recentRuns) finish(m *recentRun, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.until = c.now().Add(keep)
	if len(m.run.history.changes) == 0 && c.runs[m.sum] == m {
		delete(c.runs, m.sum)
	}
	if m.end != nil { // no run goes on with its messages, which may be many
		m.run.talk = &conversation{baseWeight: m.run.talk.weight()}
	}
	close(m.ended)
}

// follow lets one run go on in place of a broken one. It returns nil if another run does.
func (c *recentRuns) follow(broken *recentRun, r *Run) *recentRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.runs[broken.sum]; broken.resumed || now != nil && now != broken {
		return nil
	}
	broken.resumed = true
	return c.add(r, broken.id)
}

// register looks for a recent run with the same request. If there is one, this run takes its id, and
// will return its answer or go on with its work.
func (r *Run) register() {
	if r.entry, r.other = r.recent.begin(r); r.other != nil {
		r.ID = r.other.id
	} else {
		r.ID = r.begin.ID
	}
}

// join waits for the run with the same request and returns its end. If there is none, this run begins,
// or goes on in place of one that broke off.
func (r *Run) join(ctx context.Context) (*ending, error) {
	if r.entry == nil && r.other == nil {
		r.register()
	}
	for r.entry == nil {
		select {
		case <-r.other.ended:
		case <-ctx.Done():
			return nil, callerLeft()
		}
		if r.other.end != nil {
			r.Log.Info("the request was answered before, and gets the same answer", "event", "run_repeated",
				"run", r.ID)
			r.runState = r.other.run.runState
			return r.other.end, nil
		}
		if r.entry = r.recent.follow(r.other, r); r.entry == nil {
			r.register()
			continue
		}
		r.Log.Info("the request was broken off before; this run goes on with its work",
			"event", "run_continued", "run", r.ID)
		r.begin, r.runState = r.other.run.begin, r.other.run.runState
		return nil, r.reopen()
	}
	return nil, nil
}

// callerLeft is the error of a run that its caller left.
func callerLeft() *openai.Error {
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request",
		Message: "the caller left"}
}

// reopen goes on with the journal of a run that broke off, if it has one.
func (r *Run) reopen() (err error) {
	if r.Journal == nil {
		return nil
	}
	if r.journal, _, err = r.Journal.Continue(r.ID, r.set.Version, r.by); errors.Is(err, ErrUnknownRun) {
		return nil // it had not begun
	}
	return err
}
