package parse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestCompileRefuses(t *testing.T) {
	for want, st := range map[string]parse.Strategy{
		"no id":      {Kind: parse.Native},
		"confidence": {ID: "x", Kind: parse.Native, Confidence: 1.5},
		"lead":       {ID: "x", Kind: parse.Harmony, Header: harmony.UsualWords(), Lead: -1},
		"cannot read": {ID: "x", Kind: parse.Harmony, Header: harmony.UsualWords(),
			Read: []parse.Field{"header"}},
		"envelope.name":          {ID: "x", Kind: parse.JSON},
		"needs open":             {ID: "x", Kind: parse.Frames, Frame: calls("{object}")},
		"two characters":         block("{object}", "[", ""),
		"no blank in front":      block("{object}", " [", ""),
		"none of them a line":    block("{object}", "a\nb", ""),
		"close literals":         block("{object}", "<<", " "),
		"is all of a call":       block("{name}{code}", "<<", ">>"),
		"begins the call":        {ID: "x", Kind: parse.Frames},
		"before {tool} it":       block("{code}", "{tool}(", ""),
		"it needs a sign":        block("{code}", "a{tool}(", ""),
		"{object} does not":      block("{object}", "<{tool}>", ""),
		"needs call":             {ID: "x", Kind: parse.Frames, Open: []string{"<<"}},
		"needs tools":            {ID: "x", Kind: parse.Phrases},
		"kind \"magic\"":         {ID: "x", Kind: "magic"},
		"already; a kind can":    {ID: "y", Kind: parse.Lines},
		"needs header.":          {ID: "x", Kind: parse.Harmony},
		"cannot stand in header": {ID: "x", Kind: parse.Harmony, Header: harmony.Words{Roles: []string{"a"}, Channels: []string{"b"}, Types: []string{"c"}, Recipient: []string{"To"}}},
		"has the priority 1 of":  {ID: "y", Kind: parse.Harmony, Header: harmony.UsualWords(), Priority: 1},
	} {
		st.Place, st.Enabled = "rules.yaml:7", true
		_, err := parse.Compile([]parse.Strategy{{ID: "base", Kind: parse.Lines, Priority: 1, Enabled: true},
			st})
		var e *parse.StrategyError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Place != "rules.yaml:7" {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestDisabledStrategiesAreCheckedAndNotUsed(t *testing.T) {
	off := markers(nil)
	s, err := parse.Compile([]parse.Strategy{off, {ID: "b", Kind: parse.Lines, Priority: off.Priority}})
	if err != nil {
		t.Fatal(err)
	}
	if got := readPieces(s, offeredForFuzz(), []string{"[TOOL:exec|command=ls]"},
		"stop"); len(got.Calls) > 0 {
		t.Errorf("calls %v", got.Calls)
	}
	if _, err := parse.Compile([]parse.Strategy{{ID: "x", Kind: "magic"}}); err == nil {
		t.Error("a disabled strategy is not checked")
	}
}
