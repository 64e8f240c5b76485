package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

func nameIn(t testing.TB, v string) *parse.NameText {
	c := tools.NewCatalog(ruletest.Shipped(t).Tools, nil, []tools.Tool{{Name: "read"}, {Name: "exec"},
		{Name: "web_search"}})
	return &parse.NameText{Names: parse.NewNames(c), Grammar: harmony.New(harmony.Words{
		Call: []string{"call"}, Channels: []string{"commentary"}, Types: []string{"json"},
		Roles: []string{"assistant"}, Recipient: []string{"to"},
	}, harmony.Signs{}), V: v, Last: '\n'}
}

// A named call ends where the arguments begin, and begins where its line does, if debris is all that stands in
// front.
func TestBefore(t *testing.T) {
	for v, want := range map[string]string{
		"read":                    "read|read",
		"Let me see. read ":       "read |read",
		"functions.read json ":    "functions.read json |functions.read",
		"⟦call⟧ read ⟦args⟧ ":     "⟦call⟧ read ⟦args⟧ |read",
		"It ends.functions.read":  "functions.read|functions.read",
		"read\n":                  "read\n|read",
		"- read ":                 "read |read", // an item of a list
		"bread ":                  "",
		"read this file first ":   "",
		"readçe":                  "",
		"Look.\ncommentary json ": "commentary json |", // the name was lost
		"assistantcommentary":     "assistantcommentary|",
		"json":                    "json|",
		"json ":                   "",
		" json":                   "",
		"It is json":              "",
		"":                        "",
	} {
		at := nameIn(t, v)
		c, ok := at.Before(len(v), false)
		got := ""
		if ok {
			got = v[c.Start:] + "|" + v[c.From:c.To]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", v, got, want)
		}
	}
	at := nameIn(t, "read json ")
	at.Floor = 2
	if c, ok := at.Before(len(at.V), false); ok {
		t.Errorf("it reaches back over what was released: %+v", c)
	}
}

// What may become a named call is held, and nothing else.
func TestHeld(t *testing.T) {
	for v, want := range map[string]int{
		"I look. re": 2, "I look. read": 4, "I look. functions.": 10, "I look. read json ": 10,
		"I look.\ncomm": 4, "I look.\ncommentary js": 13, "I look.\ncommon": 0, "I look.\njson ": 0,
		"I look. rest": 0, "I look.": 0, "": 0, "bread": 0, "It ends.func": 4,
		"x" + strings.Repeat("y", 100): 0,
	} {
		at := nameIn(t, v)
		if got := at.Held(len(v)); got != want {
			t.Errorf("%q: %d are held, want %d", v, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	n := nameIn(t, "").Names
	for word, want := range map[string][3]bool{ // known, named, may become one
		"read": {true, true, true}, "Read": {true, false, false}, "functions.Read": {true, true, true}, "rea": {false, false, true},
		"func": {false, false, true}, "fly": {false, false, false}, "": {false, false, false}, "multi_tool_use.parallel": {true, false, false},
	} {
		if got := [3]bool{n.Known(word), n.Named(word), n.IsPrefix(word)}; got != want {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
	open := parse.NewNames(tools.OpenCatalog(ruletest.Shipped(t).Tools))
	if open.Known("read") || open.Known("multi_tool_use.parallel") {
		t.Error("where all names are tools, none is known")
	}
}

// Whatever stands there, a named call lies within the text, and what is held is no more than the text.
func FuzzText(f *testing.F) {
	for _, v := range []string{"functions.read json ", "⟦call⟧ read ⟦args⟧", "- read", "read\xff",
		"\n\nread ("} {
		f.Add(v, 3)
	}
	f.Fuzz(func(t *testing.T, v string, floor int) {
		at := nameIn(t, v)
		at.Floor = min(max(floor, 0), len(v))
		if c, ok := at.Before(len(v), true); ok && !(at.Floor <= c.Start && c.Start <= c.From &&
			(c.Lost || c.From < c.To) && c.To <= len(v)) {
			t.Errorf("%q from %d: %+v", v, at.Floor, c)
		}
		n := at.Held(len(v))
		if n < 0 || n > len(v) {
			t.Errorf("%q: %d are held", v, n)
		}
		const front = "Text too long for one glance at it. "
		far := nameIn(t, front+v)
		far.Floor = at.Floor + len(front)
		if at.Last = ' '; at.Held(len(v)) != far.Held(len(far.V)) {
			t.Errorf("%q from %d: a glance says %d, a look %d", v, at.Floor, at.Held(len(v)),
				far.Held(len(far.V)))
		}
	})
}
