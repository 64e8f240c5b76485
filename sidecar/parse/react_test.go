package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

func TestLine(t *testing.T) {
	for _, row := range []struct {
		line  string
		kw    parse.Keyword
		value string
		more  bool
	}{
		{"Action: read", parse.Action, "read", false},
		{"**Action Input:** {", parse.Input, "{", false},
		{"final answer: 42", parse.Final, "42", false},
		{"Observation: x", parse.Observation, "x", false},
		{"Thought:", parse.ReactThought, "", false},
		{"Act", parse.Plain, "", true},
		{"Actions speak: louder", parse.Plain, "", false},
		{"", parse.Plain, "", true},
	} {
		kw, at, more := parse.LineKeyword(row.line)
		if kw != row.kw || more != row.more || kw != parse.Plain && row.line[at:] != row.value {
			t.Errorf("%q: keyword %d, value at %d, more %v", row.line, kw, at, more)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string]string{"`read`": "read", "**read** (the tool)": "read",
		"read (a file)": "read", "read": "read"} {
		if got := parse.ActionName(in); got != want {
			t.Errorf("Name(%q) = %q", in, got)
		}
	}
	for in, want := range map[string]string{" {\"a\":1}\nmore ": "{\"a\":1}\nmore",
		"\"ls\"\nObservation: a": "\"ls\"", "ls\n": "ls"} {
		if got := parse.ArgumentsOf(in); got != want {
			t.Errorf("ArgumentsOf(%q) = %q", in, got)
		}
	}
	for in, want := range map[string]int{"ls\nObservation: a": 2, "ls\nObs": 2, "ls\nmore": 7, "ls": 2} {
		if got := parse.InputEnd(in, 0); got != want {
			t.Errorf("InputEnd(%q) = %d", in, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("  ## **Action Input** : {\"a\":1}")
	f.Fuzz(func(t *testing.T, line string) {
		if kw, at, _ := parse.LineKeyword(line); at < 0 || at > len(line) || kw > parse.Observation {
			t.Fatalf("%q: keyword %d, value at %d", line, kw, at)
		}
		if end := parse.InputEnd(line, 0); end < 0 || end > len(line) {
			t.Fatalf("%q ends at %d", line, end)
		}
		parse.ActionName(line)
		parse.ArgumentsOf(line)
	})
}
