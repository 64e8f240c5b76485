package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Resumer resumes broken runs for people while the server runs, one at a time. The answer goes to the
// journal only. It is safe for concurrent use.
type Resumer struct {
	Executor   *Executor
	Rules      func() *ruleset.Set
	Background func(func(context.Context)) // runs a function until the server stops
	Watch      []turn.Watch                // watches of the resumed run

	mu   sync.Mutex
	busy string // id of the resumed run; "": none is active
}

// BusyError says that another resumed run is active.
type BusyError struct{ Run string }

func (e *BusyError) Error() string { return "run " + e.Run + " was resumed, and goes on" }

// Resume starts a run again; by names the person who wants it. If the server stops meanwhile, the run
// counts as left by its caller and can be resumed again. The error is a *BusyError, or one of
// Executor.Resume.
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
	run.caller.Watch = turn.StartWatching(ctx, r.Watch,
		&turn.Request{ID: run.ID, Set: run.set, Who: run.who, Run: run.ID})
	began := time.Now()
	r.Background(func(ctx context.Context) {
		defer r.free()
		err := run.Run(ctx, discardSink{})
		if run.caller.Watch != nil {
			run.caller.Watch.Ended(turn.NewOutcome(run.Account(), began, err))
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

// discardSink is a turn.Sink for an answer that no caller waits for.
type discardSink struct{}

func (discardSink) Flows() bool                  { return false }
func (discardSink) Begin(string)                 {}
func (discardSink) Take(*turn.Piece)             {}
func (discardSink) Called(int) []string          { return nil }
func (discardSink) Sent() bool                   { return false }
func (discardSink) Say(string)                   {}
func (discardSink) Finish() error                { return nil }
func (discardSink) Fail(err *openai.Error) error { return err }

// ResumeAdmin resumes runs for the admin API and the console.
type ResumeAdmin struct {
	*Resumer // nil: no journal is kept
}

// serve resumes a run that was broken off. The answer of the run goes to the journal only.
func (k *ResumeAdmin) serve(_ *admin.API, w http.ResponseWriter, r *http.Request) error {
	var body struct {
		By string `json:"by"` // a claim, for the log
	}
	if err := admin.ReadJSON(r, &body); err != nil {
		return err
	}
	if len(body.By) > admin.MaxAnswerText {
		return admin.Refuse(http.StatusBadRequest,
			fmt.Sprintf("by has at most %d bytes", admin.MaxAnswerText), "")
	}
	id := r.PathValue("id")
	if err := k.Resume(r.Context(), id, cmp.Or(approvals.Visible(body.By), "the admin API")); err != nil {
		return err
	}
	web.WriteJSON(w, http.StatusAccepted, map[string]string{"run": id, "status": running})
	return nil
}

// Resume resumes a run for a person. The error says why nothing was changed.
func (k *ResumeAdmin) Resume(ctx context.Context, id, by string) error {
	if k == nil || k.Resumer == nil {
		return admin.Refuse(http.StatusNotFound, "no run is kept here",
			"runs are kept where there are tools for them and a state folder: --workspace-tools or --gateway, and --state")
	}
	err := k.Resumer.Resume(ctx, id, by)
	var busy *BusyError
	var elsewhere *GoesOnError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknownRun):
		return admin.Refuse(http.StatusNotFound, fmt.Sprintf("there is no run %q", id),
			"gpt-oss-executor runs list shows them")
	case errors.As(err, &busy):
		return admin.Refuse(http.StatusConflict, busy.Error(),
			"one run is resumed at a time; wait for its end")
	case errors.As(err, &elsewhere):
		return admin.Refuse(http.StatusConflict, elsewhere.Error(), "nothing was changed")
	}
	return admin.Refuse(http.StatusConflict, err.Error(), "nothing was changed; gpt-oss-executor runs show "+
		id+
		" shows what it did")
}
