package run

import (
	"errors"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// keep begins the journal of the run, where there is one.
func (r *Run) keep() (err error) {
	if r.Journal != nil && r.kept == nil {
		r.kept, err = r.Journal.Begin(r.begin)
	}
	return err
}

// add writes a record. The error means that nothing more must run.
func (r *Run) add(rec JournalRecord) error {
	if r.kept == nil {
		return nil
	}
	return r.kept.Add(rec)
}

// judgeReply keeps a reply.
func (r *Run) judgeReply(n int, s *modelReply) error {
	return r.add(JournalRecord{Turn: turnOf(n, s)})
}

// turnOf is a reply as it is kept.
func turnOf(n int, s *modelReply) *TurnRecord {
	t := &TurnRecord{N: n, Content: s.Content, Reasoning: s.Reasoning, Prompt: s.usage.prompt,
		Answer: s.usage.completion, Squeezed: s.squeezed,
		Finish: s.Finish, Done: s.Done, Over: s.over, Why: s.why}
	for i := range s.Calls {
		t.Calls = append(t.Calls, WroteRecord{ID: s.ids[i], Tool: s.Calls[i].Name,
			Arguments: string(s.Calls[i].Arguments)})
	}
	return t
}

// starts keeps that a call is about to run.
func (r *Run) starts(id string, call *tools.Call, does string) error {
	return r.add(JournalRecord{Call: &CallRecord{ID: id, Tool: call.Name, Does: does,
		Changes: r.changes(call)}})
}

// changes reports whether a call may change something.
func (r *Run) changes(call *tools.Call) bool { return r.set.Tools.Class(call.Name) != tools.Read }

// ended keeps how the run ended, and tells the operator.
func (r *Run) ended(end *ending, err error) {
	e := EndRecord{Status: Answered}
	var failed *openai.Error
	switch {
	case end != nil:
		e.Finish, e.Text = end.finish, end.text
		if end.finish == "length" {
			e.Status = Unfinished
		}
	case errors.As(err, &failed) && failed.Status == upstream.StatusClosed:
		e.Status = Departed
	default:
		e.Status = Failed
		if err != nil {
			e.Text = err.Error()
		}
	}
	r.status = e.Status
	if r.kept != nil {
		if err := errors.Join(r.add(JournalRecord{End: &e}), r.kept.Close()); err != nil {
			r.Log.Error("the end of a run cannot be kept", "event", "journal_broken", "run", r.ID,
				"detail", err.Error())
		}
	}
	r.Turns.Metrics.Runs.WithLabelValues(r.Model.ID.Value, e.Status).Inc()
	r.Log.Info("run ended", "event", "executor_run_end", "run", r.ID, "status", e.Status,
		"model", r.Model.ID.Value, "agent", r.who.Agent, "session", r.who.Session,
		"iterations", r.acts.turns, "calls", r.acts.calls, "prompt_tokens", r.usage.prompt,
		"completion_tokens", r.usage.completion,
		"elapsed_ms", r.Now().Sub(r.since).Milliseconds(), "rules", r.set.Version)
}
