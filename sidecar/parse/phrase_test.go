package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

var phrases = []parse.Phrase{
	{Tool: "web_search", After: []string{"search for", "look up"}, Until: []string{" and then"}, Take: "query", As: "sentence"},
	{Tool: "web_fetch", After: []string{"fetch"}, Take: "url", As: "url"},
	{Tool: "read", After: []string{"read"}, Take: "path", As: "path"},
}

func TestMatches(t *testing.T) {
	for text, want := range map[string]string{
		"I'll search for the tide table and then tell you.":    "web_search the tide table",
		"Fine. Let me fetch https://example.org/a.":            "web_fetch https://example.org/a",
		"I will read notes.md.":                                "read notes.md",
		"I will read the notes.":                               "",
		"I will not read notes.md.":                            "",
		"Shall I read notes.md?":                               "",
		"You read notes.md.":                                   "",
		"I will look up tides.\nI need to fetch it: file:///x": "web_search tides",
	} {
		got := ""
		for w := range parse.Matches(text, phrases) {
			got = w.Phrase.Tool + " " + w.Value
			if !strings.Contains(text[w.At:], w.Sentence) {
				t.Errorf("%q: %+v", text, w)
			}
			break
		}
		if got != want {
			t.Errorf("%q asks for %q, want %q", text, got, want)
		}
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("I'll search for İ. Let me read a/b.")
	f.Fuzz(func(t *testing.T, text string) {
		for w := range parse.Matches(text, phrases) {
			if w.At < 0 || w.At >= len(text) || w.Value == "" {
				t.Fatalf("%q: %+v", text, w)
			}
		}
	})
}
