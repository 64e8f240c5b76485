package jsonrepair

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// FuzzRepair holds Repair to what its callers rely on, whatever the text.
func FuzzRepair(f *testing.F) {
	for _, r := range repairs {
		f.Add(r.text)
	}
	for _, c := range cuts {
		f.Add(c.text)
	}
	for _, h := range hostile {
		f.Add(grown(h.begin, h.part, h.end, 24))
	}
	f.Fuzz(func(t *testing.T, text string) {
		const depth = 100
		m := mender{text: text, maxDepth: depth}
		m.mend() // also where the fast path would have taken it
		if most := 64 * (len(text) + 16); m.work > most {
			t.Errorf("%d bytes looked at, of %d", m.work, len(text))
		}
		got, err := Repair(text, depth)
		plain := strings.Trim(text, asciiSpace)
		if json.Valid([]byte(text)) && validEnd([]byte(plain), 0, depth) == len(plain) {
			if err != nil || string(got.JSON) != plain || got.Total > 0 || got.Cut != Whole {
				t.Fatalf("valid JSON became %q, %+v, %v", got.JSON, got, err)
			}
		}
		if err != nil {
			return
		}
		if !json.Valid(got.JSON) {
			t.Fatalf("%q became %q, which is no JSON", text, got.JSON)
		}
		if got.Total == 0 && string(got.JSON) != plain {
			t.Errorf("%q became %q without a word", text, got.JSON)
		}
		checkRecords(t, text, got)
		again, err := Repair(string(got.JSON), depth+1) // a sequence is one deeper
		if err != nil || string(again.JSON) != string(got.JSON) {
			t.Errorf("%q became %q, then %q, %v", text, got.JSON, again.JSON, err)
		}
	})
}

func checkRecords(t *testing.T, text string, got Result) {
	t.Helper()
	if len(got.Changes) != min(got.Total, MaxChanges) {
		t.Errorf("%d records of %d changes", len(got.Changes), got.Total)
	}
	if !slices.IsSortedFunc(got.Changes, func(a, b Change) int { return a.At - b.At }) {
		t.Errorf("records out of order: %+v", got.Changes)
	}
	for _, r := range got.Changes {
		if r.At < 0 || r.At > len(text) || len(r.From) > maxShown || len(r.To) > maxShown || r.Kind == "" {
			t.Errorf("bad record %+v", r)
		}
	}
}
