package parse

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Field is where in a reply a strategy reads.
type Field string

// The fields of a reply.
const (
	Content   Field = "content"
	Reasoning Field = "reasoning"
	native    Field = "tool_calls" // no strategy names it
)

// Env is what the `when` of a strategy sees. Text is the candidate itself, from
// its first to its last byte, so that the verdict does not depend on how a
// stream was cut into chunks. The tag doc is what operators read about a field.
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

// CallDelta is a piece of one of the server's own tool calls. Only Index ties
// the pieces together: some servers change the id with every piece.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments []byte // they must not change any more
}

// Kinds of events.
const (
	Text     EventKind = iota // for the user
	Thought                   // reasoning
	ToolCall                  // complete and checked
)

// EventKind says what an event carries.
type EventKind uint8

// Event is one thing that may leave now.
type Event struct {
	Kind EventKind
	Text string
	Call *tools.Call
}

// Step is one entry of the trace: what a strategy made of a piece of a field.
type Step struct {
	Strategy string  `json:"strategy"`
	Rule     string  `json:"rule,omitempty"` // file:line of the strategy
	Field    Field   `json:"field"`
	From     int     `json:"from"` // byte offsets in the field
	To       int     `json:"to"`
	Outcome  Outcome `json:"outcome"`
	Note     string  `json:"note,omitempty"`
	Error    string  `json:"error,omitempty"` // why the strategy's condition could not be evaluated
	Denied   *Env    `json:"-"`               // what its condition saw when it said no; nil otherwise
}

// Outcome is what became of the text that a step describes.
type Outcome string

// The outcomes.
const (
	Found    Outcome = "call"
	Refused  Outcome = "refused"  // looked like a call and is none
	Shown    Outcome = "content"  // markup removed, the text is shown
	Thinking Outcome = "thinking" // became reasoning
	Dropped  Outcome = "dropped"  // neither shown nor run
	Released Outcome = "released" // looked like markup, was prose
	Finished Outcome = "done"     // the model said that it is done
)

// Reading is a whole reply, read.
type Reading struct {
	Calls     []tools.Call
	Content   string // what the user sees
	Reasoning string
	Finish    string // tool_calls whenever there are calls; else stop, length or content_filter
	Cut       string // why the server ended it too early, where that was not the token limit; "": it did not
	Done      bool   // the model said so in a structured way
	Marked    bool   // Harmony markup was read; messages alone leave no step
	Headless  bool   // it began with a thought whose header the server ate
	Refused   []tools.Refusal
	Repeated  int // calls that stood in it once more, and were made once
	Steps     []Step
	// Candidates are the texts of which signs decided what they are.
	Candidates []Candidate
}

// Empty says that there is nothing to show and nothing to run.
func (r *Reading) Empty() bool { return len(r.Calls) == 0 && scan.Blank(r.Content) }

// Unmet says that the reply leaves nothing to run, and either refused a call, was cut, or
// has nothing to show.
func (r *Reading) Unmet() bool {
	return len(r.Calls) == 0 && (len(r.Refused) > 0 || r.Cut != "" || r.Empty())
}

// Denied says that the policy kept a call back.
func (r *Reading) Denied() bool {
	return slices.ContainsFunc(r.Refused, func(f tools.Refusal) bool { return f.Code == tools.Denied })
}

// maxSteps bounds the trace of one reply.
const maxSteps = 256

// Trace adds a step. Equal steps that touch are one, so that the trace does not depend on chunks.
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

// judge adds a candidate. A text is looked at again when more of the reply has come.
func (r *Reading) judge(c Candidate) {
	if len(r.Candidates) < maxSteps &&
		!slices.ContainsFunc(r.Candidates, func(o Candidate) bool { return c.Same(&o) }) {
		r.Candidates = append(r.Candidates, c)
	}
}

// Rests says that a call changes something and stands behind one that was refused, or in a reply that
// is not whole (torn): it may rest on that, or be a part of it. On what a tool reads it cannot rest
// yet, and what the policy denies, it judges by itself.
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

// Made says that a call that was in doubt was made all the same: the server's own field holds it.
func (r *Reading) Made(f *tools.Refusal, offered *tools.Catalog) bool {
	return slices.ContainsFunc(r.Calls, func(c tools.Call) bool { return same(f, c, offered) })
}

// same says that a refused call is c: it was in doubt, or behind such a one, or had no arguments.
func same(f *tools.Refusal, c tools.Call, offered *tools.Catalog) bool {
	if f.Text == "" {
		m, _ := offered.Name(f.Name)
		return m.Name == c.Name
	}
	return (f.Code == tools.Unsure || f.Code == tools.Behind) && f.Name == c.Name &&
		tools.SameJSON(c.Arguments, []byte(f.Text))
}
