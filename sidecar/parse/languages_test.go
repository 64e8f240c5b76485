package parse_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Sentences in 29 languages, written without a look at the words of evidence.yaml: in front of a call
// that is made, and of one that is only shown. No call of the second kind runs; a call of the first
// runs at once, or the model is asked.
func TestLanguages(t *testing.T) {
	const call = `<|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"make"}<|call|>`
	file, err := os.ReadFile("../../testdata/talk/lines.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	type count struct{ lines, run int }
	made, languages := count{}, map[string]*count{}
	for line := range strings.Lines(string(file)) {
		var l struct{ Lang, Kind, Text string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if languages[l.Lang] == nil {
			languages[l.Lang] = &count{}
		}
		runs := false
		for _, form := range []string{call, `{"name":"exec","arguments":{"command":"make"}}`} {
			got := readPieces(shipped.Strategies(""), offeredForFuzz(), []string{l.Text + "\n\n" + form},
				"stop")
			if runs = len(got.Calls) > 0; runs && l.Kind == "shown" {
				t.Errorf("%s: %q runs", l.Lang, l.Text)
			}
		}
		if l.Kind == "made" {
			made.lines++
			languages[l.Lang].lines++
			if runs {
				made.run++
				languages[l.Lang].run++
			}
		}
	}
	if made.lines < 300 || made.run*20 < made.lines*17 {
		t.Errorf("%d of %d calls that are made run at once", made.run, made.lines)
	}
	for lang, c := range languages {
		if c.run*2 < c.lines {
			t.Errorf("%s: %d of %d calls that are made run at once", lang, c.run, c.lines)
		}
	}
}
