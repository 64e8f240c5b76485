package tools

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
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
// Where it disagrees by rule: nothing is made up (null for what was not given, a
// default or zero for what is missing, a name for a position), nothing is dropped to
// make the rest fit, text is meant for the only string parameter, and where text
// surrounds an object that could be meant as well, the call is refused.
func TestShapeCorpus(t *testing.T) {
	total, right := map[string]int{}, map[string]int{}
	for _, c := range testkit.Corpus[shapeCase](t, "coerce") {
		if !slices.Contains(c.Tags, "object") || c.Grade == "disputed" {
			continue
		}
		w := shaper{ops: args.Ops(), tool: "read_it", schema: NewSchemas(1).of(c.Input.Schema),
			rules: testRules()}
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
		log("%s (%s): %s\n  got  %s %v\n  want %s %v", c.ID, c.Grade, c.Input.Text, got, refusal,
			c.Expect.JSON, c.Expect.Error)
	}
	t.Logf("right: %v of %v", right, total)
	if 10*right["should"] < 8*total["should"] {
		t.Errorf("only %d of %d should cases are right", right["should"], total["should"])
	}
}

func decoded(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err.Error()
	}
	return v
}
