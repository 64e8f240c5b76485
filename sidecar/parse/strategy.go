package parse

import (
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Kind is how a strategy reads.
type Kind string

// The kinds of strategies.
const (
	Native  Kind = "native"  // message.tool_calls, as the server parsed them
	Harmony Kind = "harmony" // gpt-oss channel tokens: whole, damaged or stripped
	JSON    Kind = "json"    // one JSON object or array of calls: bare, fenced, or guided
	Lines   Kind = "lines"   // ReAct: Action: / Action Input:
	Frames  Kind = "frame"   // calls between an opening and a closing literal, as templates say
	Drop    Kind = "drop"    // no call at all: literals that are taken out of the text
	Phrases Kind = "phrases" // prose; a guess, read-only tools only
	Thinks  Kind = "thinks"  // no call at all: literals around the thoughts at the start of the content
)

// Kinds are those that a rule file may name, in the order in which people read of them.
func Kinds() []Kind {
	return []Kind{Native, Harmony, JSON, Lines, Frames, Drop, Phrases}
}

// Strategy is one way to read a reply, as a rule file describes it.
type Strategy struct {
	ID         string
	Kind       Kind
	Priority   int     // higher is tried first where two match at the same place
	Confidence float64 // 0..1, copied into each call it finds
	Place      string  // file:line of the rule
	Enabled    bool
	Read       []Field                 // empty: content only
	When       func(Env) (bool, error) // nil: always. An error means no call.
	// harmony: bytes of unmarked text held at the start of a reply without reasoning
	Lead   int
	Header harmony.Words // harmony: the words of a header
	Signs  harmony.Signs // harmony: characters that stand for those of control tokens
	// harmony: how thoughts begin; where headers are not known to be eaten, only such a text is held
	Thoughts []string
	Done     []string // lines: action names that end the turn; frame: a line that says so
	Envelope Keys     // json: the keys of a call object
	// frame: literals one of which starts a candidate; see ToolName
	Open []string
	// frame: literals one of which ends it; empty: the last call does
	Close     []string
	LineStart bool     // frame: a candidate starts only at the start of a line
	Frame     Frame    // frame: how what is between is read
	Phrase    []Phrase // phrases
	Tools     []string // phrases: the only tools this strategy may call
	Own       bool     // it reads the format that the model was trained on
	Opened    bool     // thinks: the prompt may have begun the thought
}

// ToolName stands in a literal of Open for the name of an offered tool, as it is
// offered, and in a literal of Close for the same name again. All else in a literal
// is matched without case, and one that begins with a letter only at the start of a
// word. In a frame whose opening literal holds it, the first call begins with the name.
const ToolName = "{tool}"

// Reads says that it reads a field of the reply.
func (st *Strategy) Reads(f Field) bool { return slices.Contains(st.Read, f) }

// Error is a strategy that cannot be read with.
type StrategyError struct {
	ID    string
	Place string // file:line
	Msg   string
}

// Error is the message with its place.
func (e *StrategyError) Error() string { return e.Place + ": strategy " + e.ID + ": " + e.Msg }

// Errorf is what is wrong with it.
func (st *Strategy) Errorf(format string, args ...any) error {
	return &StrategyError{ID: st.ID, Place: st.Place, Msg: fmt.Sprintf(format, args...)}
}
