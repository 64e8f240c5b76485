package parse

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Field is the part of a reply that a strategy reads.
type Field string

// The fields of a reply.
const (
	Content   Field = "content"
	Reasoning Field = "reasoning"
	native    Field = "tool_calls" // no strategy names it
)

// Env is what the `when` of a strategy sees. Text is the whole candidate, so that the result does not
// depend on chunks. The tag doc describes a field to operators.
type Env struct {
	Text   string   `expr:"text" doc:"The candidate call as the model wrote it; its arguments, where the server parsed it."`
	Field  string   `expr:"field" doc:"Where it stands: content, reasoning or tool_calls."`
	Model  string   `expr:"model" doc:"The model id that the caller asked for."`
	Server string   `expr:"server" doc:"The id of the server's dialect in servers.yaml."`
	User   string   `expr:"user" doc:"The last message of the user, at most 4 KiB of it."`
	Tools  []string `expr:"tools" doc:"The names of the offered tools."`
}

// Delta is what one chunk of a reply adds.
type Delta struct {
	Reasoning string
	Content   string
	Calls     []CallDelta
}

// CallDelta is a piece of one of the server's own calls. Only Index joins the pieces: some servers
// change the id with each.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments []byte // must not change any more
}

// Kinds of events.
const (
	Text     EventKind = iota // for the user
	Thought                   // reasoning
	ToolCall                  // complete and checked
)

// EventKind tells what an event carries.
type EventKind uint8

// Event is something that may leave now.
type Event struct {
	Kind EventKind
	Text string
	Call *tools.Call
}

// Step is an entry of the trace: what a strategy made of a piece of a field.
type Step struct {
	Strategy string  `json:"strategy"`
	Rule     string  `json:"rule,omitempty"` // file:line of the strategy
	Field    Field   `json:"field"`
	From     int     `json:"from"` // byte offsets in the field
	To       int     `json:"to"`
	Outcome  Outcome `json:"outcome"`
	Note     string  `json:"note,omitempty"`
	Error    string  `json:"error,omitempty"` // why the condition could not be evaluated
	Denied   *Env    `json:"-"`               // the input of a condition that was false; nil otherwise
}

// Outcome is the result for the text of a step.
type Outcome string

// The outcomes.
const (
	Found    Outcome = "call"
	Refused  Outcome = "refused"  // looked like a call
	Shown    Outcome = "content"  // shown without its markup
	Thinking Outcome = "thinking" // became reasoning
	Dropped  Outcome = "dropped"  // neither shown nor run
	Released Outcome = "released" // looked like markup
	Finished Outcome = "done"     // the model ended the turn
)

// Reading is a whole reply, read.
type Reading struct {
	Calls     []tools.Call
	Content   string // what the user sees
	Reasoning string
	Finish    string // tool_calls if there are calls; else stop, length or content_filter
	Cut       string // why the server ended it early, except at the token limit
	Done      bool   // the model ended the turn explicitly
	Marked    bool   // Harmony markup was read; messages alone leave no step
	Headless  bool   // it began with a thought without its header
	Refused   []tools.Refusal
	Repeated  int // repeated calls, which were made once
	Steps     []Step
	// Candidates are the texts that signs decided about.
	Candidates []Candidate
}

// Empty reports whether there is nothing to show and nothing to run.
func (r *Reading) Empty() bool { return len(r.Calls) == 0 && scan.Blank(r.Content) }

// Unmet reports whether there is nothing to run, and a call was refused, the reply was cut, or there is
// nothing to show.
func (r *Reading) Unmet() bool {
	return len(r.Calls) == 0 && (len(r.Refused) > 0 || r.Cut != "" || r.Empty())
}

// Denied reports whether the policy denied a call.
func (r *Reading) Denied() bool {
	return slices.ContainsFunc(r.Refused, func(f tools.Refusal) bool { return f.Code == tools.Denied })
}

// maxSteps bounds the trace of one reply.
const maxSteps = 256

// Trace adds a step. Equal adjacent steps are merged, so that the trace does not depend on chunks.
func (r *Reading) Trace(s Step) {
	if n := len(r.Steps); n > 0 {
		last := &r.Steps[n-1]
		if last.To == s.From && last.Strategy == s.Strategy && last.Field == s.Field &&
			last.Outcome == s.Outcome && last.Note == s.Note && last.Error == s.Error {
			last.To = s.To
			return
		}
	}
	if len(r.Steps) < maxSteps {
		r.Steps = append(r.Steps, s)
	}
}

// judge adds a candidate, once: a stream looks at it repeatedly.
func (r *Reading) judge(c Candidate) {
	if len(r.Candidates) < maxSteps &&
		!slices.ContainsFunc(r.Candidates, func(o Candidate) bool { return c.Same(&o) }) {
		r.Candidates = append(r.Candidates, c)
	}
}

// Rests reports whether a call that changes something follows a refused one, or stands in an incomplete
// reply (torn): it may depend on that. Nothing depends on a tool that reads yet, and the policy judges
// what it denies by itself.
func (r *Reading) Rests(c tools.Call, offered *tools.Catalog, torn bool) bool {
	if offered.Class(c.Name) == tools.Read {
		return false
	}
	return torn || slices.ContainsFunc(r.Refused, func(f tools.Refusal) bool {
		class, _ := offered.ClassOf(f.Name)
		return f.Code != tools.Denied && (class != tools.Read || f.Code == tools.Truncated) &&
			!same(&f, c, offered) && !r.Made(&f, offered)
	})
}

// Made reports whether a call that was in doubt was made after all: the server's own field holds it.
func (r *Reading) Made(f *tools.Refusal, offered *tools.Catalog) bool {
	return slices.ContainsFunc(r.Calls, func(c tools.Call) bool { return same(f, c, offered) })
}

// same reports whether c is a refused call that was in doubt, behind such a one, or without arguments.
func same(f *tools.Refusal, c tools.Call, offered *tools.Catalog) bool {
	if f.Text == "" {
		m, _ := offered.Name(f.Name)
		return m.Name == c.Name
	}
	return (f.Code == tools.Unsure || f.Code == tools.Behind) && f.Name == c.Name &&
		tools.SameJSON(c.Arguments, []byte(f.Text))
}
