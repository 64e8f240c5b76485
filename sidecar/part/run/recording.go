package run

import (
	"errors"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// openJournal begins the journal of the run, if there is one.
func (r *Run) openJournal() (err error) {
	if r.Journal != nil && r.journal == nil {
		r.journal, err = r.Journal.Begin(r.begin)
	}
	return err
}

// record writes a record. After an error nothing more must run.
func (r *Run) record(rec JournalRecord) error {
	if r.journal == nil {
		return nil
	}
	return r.journal.Add(rec)
}

func (r *Run) recordReply(n int, s *modelReply) error {
	return r.record(JournalRecord{Turn: turnRecord(n, s)})
}

func turnRecord(n int, s *modelReply) *TurnRecord {
	t := &TurnRecord{N: n, Content: s.Content, Reasoning: s.Reasoning, Prompt: s.usage.prompt,
		Answer: s.usage.completion, Squeezed: s.squeezed,
		Finish: s.Finish, Done: s.Done, Over: s.over, Why: s.why}
	for i := range s.Calls {
		t.Calls = append(t.Calls, RequestedCall{ID: s.ids[i], Tool: s.Calls[i].Name,
			Arguments: string(s.Calls[i].Arguments)})
	}
	return t
}

func (r *Run) recordCall(id string, call *tools.Call, does string) error {
	return r.record(JournalRecord{Call: &CallRecord{ID: id, Tool: call.Name, Does: does,
		Changes: r.changes(call)}})
}

// changes reports whether a call may change something.
func (r *Run) changes(call *tools.Call) bool { return r.set.Tools.Class(call.Name) != tools.Read }

// recordEnd keeps and logs how the run ended.
func (r *Run) recordEnd(end *ending, err error) {
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
	if r.journal != nil {
		if err := errors.Join(r.record(JournalRecord{End: &e}), r.journal.Close()); err != nil {
			r.Log.Error("the end of a run cannot be kept", "event", "journal_broken", "run", r.ID,
				"detail", err.Error())
		}
	}
	r.Turns.Metrics.Runs.WithLabelValues(r.Model.ID.Value, e.Status).Inc()
	r.Log.Info("run ended", "event", "executor_run_end", "run", r.ID, "status", e.Status,
		"model", r.Model.ID.Value, "agent", r.who.Agent, "session", r.who.Session,
		"iterations", r.history.turns, "calls", r.history.calls, "prompt_tokens", r.usage.prompt,
		"completion_tokens", r.usage.completion,
		"elapsed_ms", r.Now().Sub(r.started).Milliseconds(), "rules", r.set.Version)
}
