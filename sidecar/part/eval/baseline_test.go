package eval

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// reported is a report of one variant. A case is its id, with a mark: + right, - wrong, ? not
// labelled.
func reported(variant, cases string) *Report {
	r := NewReport([]Variant{{Name: variant, Set: &ruleset.Set{}}})
	for _, word := range strings.Fields(cases) {
		mark, id := word[0], word[1:]
		row := Row{ID: id, Place: "f", Labelled: mark != '?',
			Made: []*Made{{Made: replay.Made{}, Right: mark == '+'}}}
		r.Add(row, []*Sum{{Cases: 1, Labelled: count(row.Labelled), Right: count(mark == '+')}})
	}
	r.Finish()
	return r
}

// Only a case that was right, and is wrong now, is a regression. What cannot be compared at
// all is an error.
func TestRegressions(t *testing.T) {
	for _, row := range []struct{ name, before, now, want, err string }{
		{"the same", "+a -b ?c", "+a -b ?c", "", ""},
		{"one is worse, one better", "+a -b", "-a +b", "a", ""},
		{"wrong cases that are new", "+a", "+a -b -c", "", ""},
		{"a case that is gone", "+a +b", "+a", "", ""},
		{"labelled since", "?a +b", "-a +b", "", ""},
		{"no longer labelled", "+a +b", "?a +b", "", ""},
		{"the same id in a new corpus", "+a", "+a -a", "", ""},
		{"the second of an id", "+a +a", "+a -a", "a", ""},
		{"nothing was right", "-a", "-a", "", ""},
		{"other cases", "+a", "-b", "", "no case that was right there"},
	} {
		doc, err := json.Marshal(reported("v", row.before))
		ruletest.Must(t, err)
		before, err := Baseline(doc)
		ruletest.Must(t, err)
		var want []string
		for _, id := range strings.Fields(row.want) {
			want = append(want, "v: "+id+" (f)")
		}
		got, err := reported("v", row.now).Regressions(before)
		if row.err != "" {
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, not %q", row.name, got, err, want)
		}
	}
	if _, err := reported("w", "-a").Regressions(reported("v", "+a")); err == nil ||
		!strings.Contains(err.Error(), "its variants are v, and these are w") {
		t.Errorf("a renamed variant: %v", err)
	}
}

func TestBaselineIsAReport(t *testing.T) {
	for doc, want := range map[string]string{
		`{"variants":[{"name":"v","right":2}]}`: "save it again",
		`{"variants":[null]}`:                   "no report",
		`{"id":"x"}`:                            "no report",
		`[]`:                                    "no report",
	} {
		if _, err := Baseline([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
