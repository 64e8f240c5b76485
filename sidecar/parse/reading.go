package parse

import (
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/reading"
)

// What goes in and what comes out. The room reading says more of each.
type (
	Delta     = reading.Delta
	CallDelta = reading.CallDelta
	Event     = reading.Event
	EventKind = reading.EventKind
	Step      = reading.Step
	Outcome   = reading.Outcome
	Reading   = reading.Reading
	Field     = reading.Field
	Env       = reading.Env
)

// The kinds of events, the fields and the outcomes.
const (
	Text, Thought, ToolCall         = reading.Text, reading.Thought, reading.ToolCall
	Content, Reasoning              = reading.Content, reading.Reasoning
	Found, Refused, Shown, Thinking = reading.Found, reading.Refused, reading.Shown, reading.Thinking
	Dropped, Released, Finished     = reading.Dropped, reading.Released, reading.Finished
)

// verdict is what a look at text yields that may still grow.
type verdict = scan.Verdict

const no, yes, wait = scan.No, scan.Yes, scan.Wait
