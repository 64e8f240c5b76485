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

// memos are the runs of late, by their request. A caller that sends a request again, because
// its answer got lost, must not have everything done twice.
type memos struct {
	now  func() time.Time
	mu   sync.Mutex
	runs map[string]*memo
}

// memo is what is kept of a run.
type memo struct {
	id, sum string // of its request
	run     *Run
	ended   chan struct{} // closed at its end; what follows is good from then on
	until   time.Time
	end     *ending // nil: it broke off, and another run may go on with its work
	taken   bool    // one does
}

// ending is how a run has ended.
type ending struct {
	reply        modelReply
	text, finish string
}

func newMemos(now func() time.Time) *memos { return &memos{now: now, runs: map[string]*memo{}} }

// begin notes a run, or gives the one with the same request.
func (c *memos) begin(r *Run) (mine, other *memo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	maps.DeleteFunc(c.runs, func(_ string, m *memo) bool { return m.over() && !now.Before(m.until) })
	if other := c.runs[r.begin.Sum]; other != nil {
		return nil, other
	}
	return c.note(r, r.begin.ID), nil
}

// over reports whether the run has ended.
func (m *memo) over() bool {
	select {
	case <-m.ended:
		return true
	default:
		return false
	}
}

func (c *memos) note(r *Run, id string) *memo {
	m := &memo{id: id, sum: r.begin.Sum, run: r, ended: make(chan struct{})}
	c.runs[m.sum] = m
	return m
}

// close notes how a run ended. One that changed nothing is forgotten: the same request may
// well have another answer.
func (c *memos) close(m *memo, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.until = c.now().Add(keep)
	if len(m.run.acts.did) == 0 && c.runs[m.sum] == m {
		delete(c.runs, m.sum)
	}
	if m.end != nil { // no run goes on with its messages, which may be many
		m.run.talk = &talk{least: m.run.talk.weight()}
	}
	close(m.ended)
}

// follow lets a run go on as the one that broke off; nil where another one does. Only one of
// those that want to may.
func (c *memos) follow(broken *memo, r *Run) *memo {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.runs[broken.sum]; broken.taken || now != nil && now != broken {
		return nil
	}
	broken.taken = true
	return c.note(r, broken.id)
}

// enter looks whether the request of a run was asked before, and not long ago. Then the run
// has the name of that one, whose answer it gives or with whose work it goes on.
func (r *Run) enter() {
	if r.mine, r.joined = r.recent.begin(r); r.joined != nil {
		r.ID = r.joined.id
	} else {
		r.ID = r.begin.ID
	}
}

// join waits for the run with the same request, where there is one, and gives its end. Without
// one, this run begins, or goes on as the one that broke off.
func (r *Run) join(ctx context.Context) (*ending, error) {
	if r.mine == nil && r.joined == nil {
		r.enter()
	}
	for r.mine == nil {
		select {
		case <-r.joined.ended:
		case <-ctx.Done():
			return nil, callerLeft()
		}
		if r.joined.end != nil {
			r.Log.Info("the request was answered before, and gets the same answer", "event", "run_repeated",
				"run", r.ID)
			r.work = r.joined.run.work
			return r.joined.end, nil
		}
		if r.mine = r.recent.follow(r.joined, r); r.mine == nil {
			r.enter()
			continue
		}
		r.Log.Info("the request was broken off before; this run goes on with its work",
			"event", "run_continued", "run", r.ID)
		r.begin, r.work = r.joined.run.begin, r.joined.run.work
		return nil, r.reopen()
	}
	return nil, nil
}

// callerLeft is the error of a run that its caller left.
func callerLeft() *openai.Error {
	return &openai.Error{Status: upstream.StatusClosed, Type: "client_closed_request",
		Message: "the caller left"}
}

// reopen goes on with the journal of a run that broke off, where it has one.
func (r *Run) reopen() (err error) {
	if r.Journal == nil {
		return nil
	}
	if r.kept, _, err = r.Journal.Continue(r.ID, r.set.Version, r.by); errors.Is(err, ErrUnknownRun) {
		return nil // it had not begun
	}
	return err
}
