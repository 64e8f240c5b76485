package run

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

type modelReply struct {
	parse.Reading
	ids      []string // of its calls
	usage    usage
	squeezed bool   // the request was too long at first
	sorry    string // sentence of the rules in place of an answer
	over     bool   // the run ends with it, and the work is not finished
	why      string
}

// replySink is a turn.Sink that collects one reply. It passes thoughts on as they come, but no text:
// only the last reply is the answer.
type replySink struct {
	to    turn.Sink
	begun *bool // a reply of the run has begun
	reply modelReply
	spent usage // by earlier replies of this turn, which were repeated
}

// Flows reports whether the caller gets a stream.
func (e *replySink) Flows() bool { return e.to.Flows() }

// Begin discards an earlier reply. The first one begins the answer of the run.
func (e *replySink) Begin(server string) {
	e.spent.add(e.reply.usage)
	e.reply = modelReply{}
	if !*e.begun {
		*e.begun = true
		e.to.Begin(server)
	}
}

// Take keeps the reading and passes thoughts on.
func (e *replySink) Take(p *turn.Piece) {
	if p.Doc != nil && p.Doc.Usage.Present() {
		e.reply.usage.set(p.Doc.Usage.Of(p.Doc.Doc))
	}
	for i := range p.Parts {
		part := &p.Parts[i]
		if thoughts := ofKind(part.Events, parse.Thought); len(thoughts) > 0 && e.Flows() {
			e.to.Take(&turn.Piece{More: p.More, Parts: []turn.Part{{Events: thoughts}}})
		}
		if part.Reading != nil {
			e.reply.Reading = *part.Reading
			for j := range e.reply.Calls {
				e.reply.Calls[j].Arguments = bytes.Clone(e.reply.Calls[j].Arguments)
			}
		}
	}
}

func ofKind(events []parse.Event, kind parse.EventKind) (out []parse.Event) {
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Called returns new ids. They never leave this program.
func (e *replySink) Called(int) []string {
	for len(e.reply.ids) < len(e.reply.Calls) {
		e.reply.ids = append(e.reply.ids, openai.NewCallID())
	}
	return e.reply.ids
}

// Sent is false: the caller has seen only thoughts.
func (e *replySink) Sent() bool { return false }

// Say takes a sentence of the rules as the answer.
func (e *replySink) Say(text string) { e.reply.Finish, e.reply.sorry = "stop", text }

// Finish does nothing.
func (e *replySink) Finish() error { return nil }

// Fail returns the error to the run.
func (e *replySink) Fail(err *openai.Error) error { return err }

type usage struct {
	prompt, cached, completion, reasoning int
	context                               int // of the last request and its reply
}

// set takes the values of a usage object; a later one of the same reply replaces it.
func (u *usage) set(doc []byte) {
	v := gjson.ParseBytes(doc)
	*u = usage{
		prompt: int(v.Get("prompt_tokens").Int()), completion: int(v.Get("completion_tokens").Int()),
		cached:    int(v.Get("prompt_tokens_details.cached_tokens").Int()),
		reasoning: int(v.Get("completion_tokens_details.reasoning_tokens").Int()),
	}
	u.context = u.prompt + u.completion
}

func (u *usage) add(more usage) {
	u.prompt += more.prompt
	u.cached += more.cached
	u.completion += more.completion
	u.reasoning += more.reasoning
	u.context = more.context
}

// json returns the usage object of all requests of a run.
func (u *usage) json() []byte {
	return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.prompt, u.completion, u.prompt+u.completion, u.cached, u.reasoning)
}

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
