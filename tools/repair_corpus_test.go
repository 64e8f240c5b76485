package tools

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
)

// repairCase is one case of the corpus: damaged text, and the value it means.
type repairCase struct {
	ID     string
	Grade  string
	Tags   []string
	Input  struct{ Text string }
	Expect struct{ JSON json.RawMessage }
}

// disagreements are the labels that RepairJSON does not follow, and why.
var disagreements = map[string]string{}

func TestRepairCorpus(t *testing.T) {
	type key struct {
		grade  string
		object bool
	}
	passed, all := map[key]int{}, map[key]int{}
	for _, c := range corpus.Load[repairCase](t, "jsonrepair") {
		k := key{c.Grade, slices.Contains(c.Tags, "object")}
		all[k]++
		got, err := RepairJSON(c.Input.Text, 0)
		if c.Expect.JSON == nil && err != nil || err == nil && sameJSON(t, got.JSON, c.Expect.JSON) {
			passed[k]++
			continue
		}
		if disagreements[c.ID] == "" {
			t.Logf("%s object=%v %s: %q\n got %s %v\nwant %s", c.Grade, k.object, c.ID, c.Input.Text, got.JSON, err, c.Expect.JSON)
		}
	}
	for k := range all {
		t.Logf("%-8s object=%-5v %d/%d", k.grade, k.object, passed[k], all[k])
	}
}

// sameJSON compares two JSON texts as values; numbers by value, to the last digit.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return sameValue(decodeValue(t, a), decodeValue(t, b))
}

func decodeValue(t *testing.T, doc []byte) (v any) {
	t.Helper()
	if doc == nil {
		return nil
	}
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
