package parse

import "testing"

func TestLine(t *testing.T) {
	german := (&LineWords{Action: []string{"Aktion", "Werkzeug"}}).kinds()
	for _, row := range []struct {
		words [][]string
		line  string
		kw    keyword
		value string
		more  bool
	}{
		{usualLineWords, "Action: read", actionLine, "read", false},
		{usualLineWords, "**Action Input:** {", inputLine, "{", false},
		{usualLineWords, "final answer: 42", finalLine, "42", false},
		{usualLineWords, "Observation: x", observationLine, "x", false},
		{usualLineWords, "Thought:", thoughtLine, "", false},
		{usualLineWords, "Act", otherLine, "", true},
		{usualLineWords, "Actions speak: louder", otherLine, "", false},
		{usualLineWords, "", otherLine, "", true},
		{german, "WERKZEUG : read", actionLine, "read", false},
		{german, "Action: read", otherLine, "", false},
		{german, "Action Input: {", inputLine, "{", false},
	} {
		kw, at, more := lineKeyword(row.words, row.line)
		if kw != row.kw || more != row.more || kw != otherLine && row.line[at:] != row.value {
			t.Errorf("%q: keyword %d, value at %d, more %v", row.line, kw, at, more)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string]string{"`read`": "read", "**read** (the tool)": "read",
		"read (a file)": "read", "read": "read"} {
		if got := actionName(in); got != want {
			t.Errorf("actionName(%q) = %q", in, got)
		}
	}
	for in, want := range map[string]string{" {\"a\":1}\nmore ": "{\"a\":1}\nmore",
		"\"ls\"\nObservation: a": "\"ls\"", "ls\n": "ls"} {
		if got := lineArguments(in); got != want {
			t.Errorf("lineArguments(%q) = %q", in, got)
		}
	}
	s := Strategies{lineWords: usualLineWords}
	for in, want := range map[string]int{"ls\nObservation: a": 2, "ls\nObs": 2, "ls\nmore": 7, "ls": 2} {
		if got := s.inputEnd(in, 0); got != want {
			t.Errorf("inputEnd(%q) = %d", in, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("  ## **Action Input** : {\"a\":1}")
	s := Strategies{lineWords: usualLineWords}
	f.Fuzz(func(t *testing.T, line string) {
		if kw, at, _ := lineKeyword(usualLineWords, line); at < 0 || at > len(line) || kw > observationLine {
			t.Fatalf("%q: keyword %d, value at %d", line, kw, at)
		}
		if end := s.inputEnd(line, 0); end < 0 || end > len(line) {
			t.Fatalf("%q ends at %d", line, end)
		}
		actionName(line)
		lineArguments(line)
	})
}
