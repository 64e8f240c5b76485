package run

import (
	"context"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Resumer lets people go on with runs that were broken off while the server serves, one at a
// time. No caller waits for the answer: it stands in the journal. It is safe for concurrent use.
type Resumer struct {
	Executor   *Executor
	Rules      func() *ruleset.Set
	Background func(func(context.Context)) // runs something until the server stops
	Watch      []turn.Watch                // begin to watch the run that goes on

	mu   sync.Mutex
	busy string // the run that was resumed last and goes on; "": none does
}

// BusyError says that another run was resumed, and goes on.
type BusyError struct{ Run string }

func (e *BusyError) Error() string { return "run " + e.Run + " was resumed, and goes on" }

// Resume goes on with a run, and returns when it does. By is the person who wants that. If the
// server stops meanwhile, the run counts as left by its caller, and can be resumed again. The error is a
// *BusyError, or one of Executor.Resume.
func (r *Resumer) Resume(ctx context.Context, id, by string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy != "" {
		return &BusyError{r.busy}
	}
	run, err := r.Executor.Resume(ctx, r.Rules(), id, by)
	if err != nil {
		return err
	}
	r.busy = id
	run.from.Watch = turn.StartWatching(ctx, r.Watch,
		&turn.Request{ID: run.ID, Set: run.set, Who: run.who, Run: run.ID})
	began := time.Now()
	r.Background(func(ctx context.Context) {
		defer r.free()
		err := run.Run(ctx, discarded{})
		if run.from.Watch != nil {
			run.from.Watch.Ended(turn.NewOutcome(run.Account(), began, err))
		}
		if err != nil {
			r.Executor.Log.Warn("a run that was resumed did not come to an answer",
				"event", "run_not_resumed", "run", id, "detail", err.Error())
		}
	})
	return nil
}

func (r *Resumer) free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = ""
}

// discarded is a turn.Sink for an answer that no caller waits for.
type discarded struct{}

func (discarded) Flows() bool                  { return false }
func (discarded) Begin(string)                 {}
func (discarded) Take(*turn.Piece)             {}
func (discarded) Called(int) []string          { return nil }
func (discarded) Sent() bool                   { return false }
func (discarded) Say(string)                   {}
func (discarded) Finish() error                { return nil }
func (discarded) Fail(err *openai.Error) error { return err }
