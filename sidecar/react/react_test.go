package react_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/react"
)

func TestLine(t *testing.T) {
	for _, row := range []struct {
		line  string
		kw    react.Keyword
		value string
		more  bool
	}{
		{"Action: read", react.Action, "read", false},
		{"**Action Input:** {", react.Input, "{", false},
		{"final answer: 42", react.Final, "42", false},
		{"Observation: x", react.Observation, "x", false},
		{"Thought:", react.Thought, "", false},
		{"Act", react.Plain, "", true},
		{"Actions speak: louder", react.Plain, "", false},
		{"", react.Plain, "", true},
	} {
		kw, at, more := react.Line(row.line)
		if kw != row.kw || more != row.more || kw != react.Plain && row.line[at:] != row.value {
			t.Errorf("%q: keyword %d, value at %d, more %v", row.line, kw, at, more)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string]string{"`read`": "read", "**read** (the tool)": "read", "read (a file)": "read", "read": "read"} {
		if got := react.Name(in); got != want {
			t.Errorf("Name(%q) = %q", in, got)
		}
	}
	for in, want := range map[string]string{" {\"a\":1}\nmore ": "{\"a\":1}\nmore", "\"ls\"\nObservation: a": "\"ls\"", "ls\n": "ls"} {
		if got := react.ArgumentsOf(in); got != want {
			t.Errorf("ArgumentsOf(%q) = %q", in, got)
		}
	}
	for in, want := range map[string]int{"ls\nObservation: a": 2, "ls\nObs": 2, "ls\nmore": 7, "ls": 2} {
		if got := react.InputEnd(in, 0); got != want {
			t.Errorf("InputEnd(%q) = %d", in, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("  ## **Action Input** : {\"a\":1}")
	f.Fuzz(func(t *testing.T, line string) {
		if kw, at, _ := react.Line(line); at < 0 || at > len(line) || kw > react.Observation {
			t.Fatalf("%q: keyword %d, value at %d", line, kw, at)
		}
		if end := react.InputEnd(line, 0); end < 0 || end > len(line) {
			t.Fatalf("%q ends at %d", line, end)
		}
		react.Name(line)
		react.ArgumentsOf(line)
	})
}
