package harmony_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

func grammar() *harmony.Grammar { return harmony.New(harmony.UsualWords(), harmony.Signs{}) }

func known(name string) bool { return name == "read" || name == "functions.read" }

func TestRead(t *testing.T) {
	for text, want := range map[string]harmony.Header{
		"assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>": {Role: "assistant", Channel: "commentary", Recipient: "functions.read", Constrain: true},
		"assistant to=functions.read<|channel|>commentary json<|message|>": {Role: "assistant",
			Channel: "commentary", Recipient: "functions.read", Constrain: true},
		"assistant<|channel|>commentary to = \"read\"<|message|>": {Role: "assistant",
			Channel: "commentary", Recipient: "read"},
		"assistant<|channel|>commentary to: read<|message|>": {Role: "assistant",
			Channel: "commentary", Recipient: "read"},
		"assistant<|channel|>commentary to=read to=json<|start|><|message|>": {Role: "assistant",
			Channel: "commentary", Recipient: "read"},
		"assistant<|channel|>final<|message|>": {Role: "assistant",
			Channel: "final"},
		"assistantfinal&lt;|message|&gt;": {Role: "assistant",
			Channel: "final", Flaw: "missing <|channel|>"},
		"assistant<|channel|>final now<|message|>": {Role: "assistant",
			Channel: "final", Rest: "now", RestAt: 26, Flaw: "noise in the header"},
		"assistant<|channel|>analysis<|channel|>final<|message|>": {Role: "assistant",
			Channel: "final", Flaw: "doubled channel"},
	} {
		got, n, is := grammar().Read(text, harmony.FromStart, true)
		if is != scan.Yes || n != len(text) || got.Stop != harmony.Message {
			t.Errorf("%q: %+v, %d of %d bytes, verdict %d", text, got, n, len(text), is)
		}
		want.Stop, want.StopN, want.Exact = got.Stop, got.StopN, text[len(text)-2:] == "|>"
		if got != want {
			t.Errorf("%q: %+v\nwant %+v", text, got, want)
		}
	}
}

// A header whose tokens are words in brackets counts if it is whole, with the end of another
// message in front of it or without.
func TestBracketed(t *testing.T) {
	g := harmony.New(harmony.UsualWords(), harmony.Signs{Pairs: []harmony.Brackets{{Open: "<", Close: ">"},
		{Open: "[[", Close: "]]"}}})
	for text, want := range map[string]bool{
		"<start>assistant<channel>final<message>Hi":                       true,
		"<channel>commentary to=functions.read <constrain>json<message>{": true,
		"<end><start>assistant<channel>final<message>Hi":                  true,
		"<START>assistant<Channel>final<message>Hi":                       true,
		"[[channel]]analysis[[message]]Hm":                                true,
		`<channel>commentary to=functions.read {"path":"a"}`:              true,
		"<channel>news</channel><message>Hi":                              false,
		"<start>your engines<message>Hi":                                  false,
		"<channel>final, and no more is said":                             false,
		"<end> of it <start>assistant<message>Hi":                         false,
		"[channel]analysis[message]Hm":                                    false,
		"<|channel|>final<|message|>Hi":                                   false,
		"<b>bold</b>":                                                     false, "[[link]]": false,
	} {
		whole, is := g.Bracketed(text, true)
		if (is == scan.Yes) != want || (whole != nil) != want {
			t.Errorf("%q: verdict %d", text, is)
		}
		for n := 1; n < len(text); n++ {
			if _, early := g.Bracketed(text[:n], false); early != scan.Wait && early != is {
				t.Errorf("%q: verdict %d after %d bytes, %d of all", text, early, n, is)
			}
		}
	}
}

func TestBare(t *testing.T) {
	for text, body := range map[string]string{ // "": it is none; "<": control tokens go on with it
		`commentary to=functions.read json {"path":1}`:        `{"path":1}`,
		`to=functions.read commentary json {"path":1}`:        `{"path":1}`,
		`assistant to=read code: {"path":1}`:                  `{"path":1}`,
		`commentary to = "read" json={"path":1}`:              `{"path":1}`,
		`commentary to: read {"path":1}`:                      `{"path":1}`,
		`commentary to＝read 彩票json{"path":1}`:                 `{"path":1}`,
		`commentary to=read arguments: {"path":1}`:            `{"path":1}`,
		`commentary to=anybody {"path":1}`:                    `{"path":1}`,
		`commentary to=read code notes.md`:                    `notes.md`,
		`commentary to=read <|message|>{}`:                    `<`,
		`commentary to: anybody {"path":1}`:                   ``,
		`commentary to=anybody → {"path":1}`:                  ``,
		`commentary to=read and then we see what comes of it`: ``,
		`to=functions."read" json{"path":1}`:                  `{"path":1}`,
		`to=readcommentary json{"path":1}`:                    `{"path":1}`,
		"commentary\nto=read json\r\n{\"path\":1}":            `{"path":1}`,
		`Assistantcommentary to=read json{"path":1}`:          `{"path":1}`,
		`commentary to=read codeimport math`:                  `import math`,
		`commentary to=nobody codeimport math`:                ``,
		`to the end`:                                          ``,
		`commentary on {`:                                     ``,
	} {
		h, is := grammar().Bare(text, known, true)
		got := ""
		switch {
		case is == scan.Yes && h.Tokens:
			got = "<"
		case is == scan.Yes:
			got = text[h.Body:]
		}
		if got != body {
			t.Errorf("%q: body %q, want %q", text, got, body)
		}
	}
}

func TestShadow(t *testing.T) {
	for text, want := range map[string]bool{
		`ls -la\nassistant to=functions.read commentary json`: true,
		`done. analysis to=functions.read code`:               true,
		`the analysis to=functions.nobody`:                    false,
		`write to=functions.read`:                             false,
		`<|channel|>commentary to=functions.read`:             true,
		`to=functions.read`:                                   false,
	} {
		if got := grammar().Shadow(text, known); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What is said of a beginning, more text never takes back.
func FuzzGrowing(f *testing.F) {
	for _, s := range []string{
		`commentary to=functions.read json {"path":1}`,
		"assistant<|channel|>commentary to=read <|constrain|>json<|message|>{", `to = read : json → {`,
		"commentaryto=read{",
		"assistantfinal<|message|>", "to＝read\n\n\n{", "<|channel|>final&lt;|message|&gt;",
		`final to="read"code x`, "to=read < |message|>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g := grammar()
		bare, verdict := g.Bare(s, known, true)
		read, length, _ := g.Read(s, harmony.FromChannel, true)
		for n := 1; n < len(s); n++ {
			if got, is := g.Bare(s[:n], known, false); is != scan.Wait && (is != verdict || got != bare) {
				t.Fatalf("Bare %q: after %d bytes %+v (%d), at the end %+v (%d)", s, n, got, is, bare,
					verdict)
			}
			if got, at, is := g.Read(s[:n], harmony.FromChannel, false); is != scan.Wait &&
				(got != read || at != length) {
				t.Fatalf("Read %q: after %d bytes %+v (%d), at the end %+v (%d)", s, n, got, at, read, length)
			}
		}
	})
}

// A text with which no header begins is read as none, however it goes on.
func TestBegins(t *testing.T) {
	g, w := grammar(), harmony.UsualWords()
	parts := slices.Concat(w.Roles, w.Channels, w.Recipient, w.Types, []string{"=", ":", " ", "\n", "read",
		"functions.read", "{", "<|message|>", "the ", "a", "ſ", "\u200b", "to=", "＝"})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, "parts"), "")
		if rapid.Bool().Draw(t, "capital") {
			s = strings.ToUpper(s)
		}
		s = s[:rapid.IntRange(1, len(s)).Draw(t, "length")]
		if g.Begins(s) {
			return
		}
		if h, is := g.Bare(s, known, true); is != scan.No {
			t.Errorf("%q: %+v, verdict %d", s, h, is)
		}
		if c, is := scan.StartsAny(s, w.Channels, false); is != scan.No {
			t.Errorf("%q: %s, verdict %d", s, c, is)
		}
	})
}
