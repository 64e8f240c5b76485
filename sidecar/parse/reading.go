package parse

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/evidence"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
	Steps     []Step
	Weighed   []evidence.Weighed // each text whose signs decided what it is
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
