package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Check refuses what could not be read with.
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

// checkLiterals refuses literals that could not be looked for cheaply.
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
