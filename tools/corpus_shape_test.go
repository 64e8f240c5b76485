package tools

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
)

type shapeCase struct {
	ID    string
	Grade string
	Tags  []string
	Input struct {
		Text   string
		Schema json.RawMessage
	}
	Expect struct {
		JSON  json.RawMessage
		Error bool
	}
}

// TestShapeCorpus measures arguments against the corpus, as far as they are objects.
func TestShapeCorpus(t *testing.T) {
	total, right := map[string]int{}, map[string]int{}
	for _, c := range corpus.Load[shapeCase](t, "coerce") {
		if !slices.Contains(c.Tags, "object") || c.Grade == "disputed" {
			continue
		}
		w := shaper{tool: "tool", schema: NewSchemas(1).of(c.Input.Schema), rules: testRules()}
		got, refusal := w.shape(c.Input.Text)
		ok := refusal != nil && c.Expect.Error
		if refusal == nil && !c.Expect.Error {
			ok = cmp.Equal(decoded(got), decoded(string(c.Expect.JSON)))
		}
		total[c.Grade]++
		if ok {
			right[c.Grade]++
			continue
		}
		log := t.Logf
		if c.Grade == "must" {
			log = t.Errorf
		}
		log("%s (%s): %s\n  got  %s %v\n  want %s %v", c.ID, c.Grade, c.Input.Text, got, refusal, c.Expect.JSON, c.Expect.Error)
	}
	t.Logf("right: %v of %v", right, total)
}

func decoded(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	return v
}
