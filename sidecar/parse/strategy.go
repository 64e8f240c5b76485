package parse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Kind is the format that a strategy reads.
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

// Kinds returns the kinds that a rule file may name, in the order of the documentation.
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
	Done     []string  // lines: action names that end the turn; frame: a line that says so
	Lines    LineWords // lines: the words that begin them
	Envelope Keys      // json: the keys of a call object
	// frame: literals one of which starts a candidate; see ToolName
	Open []string
	// frame: literals one of which ends it; empty: the last call does
	Close     []string
	LineStart bool     // frame: a candidate starts only at the start of a line
	Frame     Frame    // frame: how what is between is read
	Phrase    []Phrase // phrases
	Tools     []string // phrases: the only tools this strategy may call
	Own       bool     // it reads the format that the model was trained on
	Foreign   bool     // it reads the format of another family, and may call only tools that read
	Opened    bool     // thinks: the prompt may have begun the thought
}

// ToolName stands in a literal of Open for the name of an offered tool, and in a literal of Close for
// the same name again. Literals match in any case, and one that begins with a letter only at the start
// of a word. In a frame whose opening literal contains it, the first call begins with the name.
const ToolName = "{tool}"

// SameFrame reports whether another strategy reads the same frame.
func (st *Strategy) SameFrame(other Strategy) bool {
	return slices.Equal(st.Open, other.Open) && slices.Equal(st.Close, other.Close) &&
		st.LineStart == other.LineStart && reflect.DeepEqual(st.Frame, other.Frame)
}

// Reads reports whether the strategy reads a field.
func (st *Strategy) Reads(f Field) bool { return slices.Contains(st.Read, f) }

// StrategyError is a mistake in a strategy.
type StrategyError struct {
	ID    string
	Place string // file:line
	Msg   string
}

// Error returns the message with its place.
func (e *StrategyError) Error() string { return e.Place + ": strategy " + e.ID + ": " + e.Msg }

// Errorf returns an error of the strategy.
func (st *Strategy) Errorf(format string, args ...any) error {
	return &StrategyError{ID: st.ID, Place: st.Place, Msg: fmt.Sprintf(format, args...)}
}

// Check reports the first mistake in a strategy.
func (st *Strategy) Check() error {
	switch {
	case st.ID == "":
		return st.Errorf("has no id")
	case st.Confidence < 0 || st.Confidence > 1:
		return st.Errorf("confidence %v is not between 0 and 1", st.Confidence)
	case st.Lead < 0 || st.Lead > 1<<16:
		return st.Errorf("lead %d is not between 0 and 65536", st.Lead)
	case st.Kind != Thinks && !slices.Contains(Kinds(), st.Kind):
		return st.Errorf("kind %q is none of %v", st.Kind, Kinds())
	}
	for _, f := range st.Read {
		if f != Content && f != Reasoning {
			return st.Errorf("cannot read %q; the fields are content and reasoning", f)
		}
	}
	switch st.Kind {
	case Harmony:
		if err := st.Header.Check(); err != nil {
			return st.Errorf("%v", err)
		}
	case JSON:
		if len(st.Envelope.Name) == 0 || len(st.Envelope.Arguments) == 0 {
			return st.Errorf("needs envelope.name and envelope.arguments")
		}
	case Drop:
		return st.checkLiterals()
	case Thinks:
		if len(st.Close) == 0 {
			return st.Errorf("needs close: a literal that ends the thoughts")
		}
	case Frames:
		if err := st.checkLiterals(); err != nil {
			return err
		}
		if err := st.Frame.Check(); err != nil {
			return st.Errorf("%v", err)
		}
		named := func(lit string) bool { return strings.Contains(lit, ToolName) }
		if first := st.Frame.Calls[0].whole(); (first == "object" || first == "tags") &&
			slices.ContainsFunc(st.Open, named) {
			return st.Errorf("%s in open is for calls that go on with the name; {%s} does not", ToolName, first)
		}
	case Phrases:
		if len(st.Tools) == 0 {
			return st.Errorf("needs tools: the only ones it may call")
		}
	}
	return nil
}

// checkLiterals reports literals that cannot be searched for cheaply.
func (st *Strategy) checkLiterals() error {
	if len(st.Open) == 0 {
		return st.Errorf("needs open: a literal that begins the call")
	}
	for _, lit := range slices.Concat(st.Open, st.Done) {
		before, _, named := strings.Cut(lit, ToolName)
		switch {
		case named && (before == "" || scan.IsSpace(before[0]) || len(before) == 1 && scan.IsWord(before[0])):
			return st.Errorf("%q cannot open a call: before %s it needs a sign, or two characters and no blank in front", lit, ToolName)
		case strings.Contains(lit, "\n"), !named && (lit == "" || scan.IsSpace(lit[0]) ||
			len(lit) < 2 && (scan.IsWord(lit[0]) || !st.LineStart)):
			return st.Errorf("%q cannot open a call: it needs two characters or more, or a sign and line_start, none of them a line break, and no blank in front", lit)
		}
	}
	for _, lit := range st.Close {
		if strings.TrimSpace(lit) == "" {
			return st.Errorf("needs close literals that are not blank")
		}
	}
	return nil
}
