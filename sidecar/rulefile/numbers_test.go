package rulefile

import (
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	at := Numbers{List: "weights", Name: "sign", Value: "weight"}
	for _, row := range []struct{ name, doc, want string }{
		{"one line each", "# top\nweights:\n  - {sign: a, weight: 3, about: Über.} # why\n  # more\n  - {about: Über., sign: b, weight: -0.5}\nrun: 1\n",
			"# top\nweights:\n  - {sign: a, weight: 1.5, about: Über.} # why\n  # more\n  - {about: Über., sign: b, weight: -2}\nrun: 1\n"},
		{"blocks", "weights:\n- sign: a\n  weight:   3 # three\n- sign: b\n  weight: 0", "weights:\n- sign: a\n  weight:   1.5 # three\n- sign: b\n  weight: -2"},
		{"one is missing", "weights:\n  - {sign: a, weight: 3}\nrun: 1\n", "weights:\n  - {sign: a, weight: 1.5}\n  - {sign: b, weight: -2}\nrun: 1\n"},
		{"at the end, without a line break", "weights:\n- {sign: b, weight: 3}", "weights:\n- {sign: b, weight: -2}\n- {sign: a, weight: 1.5}\n"},
		{"no list", "weights: {a: 3}\n", ""},
		{"none at all", "version: 1\n", ""},
		{"in brackets", "weights: [{sign: a, weight: 3}]\n", ""},
		{"no number", "weights:\n- {sign: a, weight: [3]}\n", ""},
		{"quoted", "weights:\n- {sign: a, weight: \"3\"}\n", ""},
		{"a line break that only YAML knows", "# x\u2028weights:\n- {sign: a, weight: 3}\n", ""},
		{"no YAML", "weights: [", ""},
		{"empty", "", ""},
	} {
		got, err := at.Write("evidence.yaml", row.doc, []Entered{{"a", 1.5}, {"b", -2}})
		if got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v; want %q", row.name, got, err, row.want)
		}
		if err != nil && !strings.Contains(err.Error(), "evidence.yaml") {
			t.Errorf("%s: %v has no place", row.name, err)
		}
	}
}

// What was written is read again as it was meant, and nothing else changes.
func FuzzNumbers(f *testing.F) {
	f.Add("weights:\n  - {sign: a, weight: 3, about: x}\n")
	f.Add("weights:\n- sign: a\n  weight: 3\n- &x\n  sign: a\n  weight: 1\n")
	at := Numbers{List: "weights", Name: "sign", Value: "weight"}
	f.Fuzz(func(t *testing.T, doc string) {
		once, err := at.Write("f.yaml", doc, []Entered{{"a", 1.5}})
		if err != nil {
			return
		}
		again, err := at.Write("f.yaml", once, []Entered{{"a", 1.5}})
		if err != nil || again != once {
			t.Errorf("%q becomes %q, and then %q: %v", doc, once, again, err)
		}
	})
}
