package jsonrepair

import (
	"bytes"
	"encoding/json"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"math/big"
	"slices"
	"testing"
)

// repairCase is one case of the corpus: damaged text, and the value it means.
// Where Expect holds no value, an error is expected.
type repairCase struct {
	ID     string
	Grade  string
	Tags   []string
	Input  struct{ Text string }
	Expect struct{ JSON json.RawMessage }
}

// disagreements are the must and should labels that Repair does not follow.
var disagreements = map[string]string{
	"jr-0093": `a comment is data inside of quotes, also where a + follows it`,
	"jr-0094": `a comment is data inside of quotes`,
	"jr-0170": `\a keeps its backslash: in a pattern or a shell line it means something`,
	"jr-0241": `words before an object are prose, not an error`,
	"jr-0356": `a + inside of quotes is data`,
	"jr-0398": `lines of text are one string, not a list`,
	"jr-0407": `a key without a value gets null and the mark of a cut`,
	"jr-0412": `words before an array are prose, not an error`,
	"jr-0415": `\uZ000 keeps its backslash`,
	"jr-0443": `a missing value is null; jr-0172 says so, too`,
	"jr-0482": `a bare quote between two words is one inside of a string`,
	"jr-0662": `\uZZZ keeps its backslash`,
	"jr-0715": `\u keeps its backslash`,
	"jr-0716": `\u12 keeps its backslash`,
	"jr-0768": `\uZ000 keeps its backslash`,
}

func TestRepairCorpus(t *testing.T) {
	type class struct {
		grade  string
		object bool
	}
	passed, all := map[class]int{}, map[class]int{}
	for _, c := range testkit.Corpus[repairCase](t, "jsonrepair") {
		k := class{c.Grade, slices.Contains(c.Tags, "object")}
		all[k]++
		got, err := Repair(c.Input.Text, 0)
		ok := err != nil
		if c.Expect.JSON != nil {
			ok = err == nil && sameJSON(t, got.JSON, c.Expect.JSON)
		}
		if ok {
			passed[k]++
		}
		why, known := disagreements[c.ID]
		switch {
		case ok && known:
			t.Errorf("%s passes, though %q", c.ID, why)
		case !ok && !known && c.Grade != "disputed":
			t.Errorf("%s: %q\n got %s, %v\nwant %s", c.ID, c.Input.Text, got.JSON, err, c.Expect.JSON)
		}
	}
	for _, want := range []struct {
		class
		percent int
	}{
		{class{"must", true}, 100}, {class{"should", true}, 90},
		{class{"must", false}, 85}, {class{"should", false}, 80},
		{class{"disputed", true}, 0}, {class{"disputed", false}, 0},
	} {
		n, of := passed[want.class], all[want.class]
		t.Logf("%-8s object=%-5v %d/%d", want.grade, want.object, n, of)
		if n*100 < of*want.percent {
			t.Errorf("%s object=%v: %d of %d", want.grade, want.object, n, of)
		}
	}
}

// sameJSON compares two JSON texts as values; numbers by value, to the last digit.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return sameValue(decodeNumbers(t, a), decodeNumbers(t, b))
}

func decodeNumbers(t *testing.T, doc []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

func sameValue(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		x, okA := new(big.Rat).SetString(string(a))
		y, okB := new(big.Rat).SetString(string(b))
		return ok && okA && okB && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if v, ok := b[k]; !ok || !sameValue(a[k], v) {
				return false
			}
		}
		return true
	}
	return a == b
}
