package replay

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// The signs that are shown add up to the score, and the score decides; where nothing is
// weighed, nothing is shown.
func TestWeighed(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, row := range []struct {
		text      string
		decisions []string
	}{
		{"All is well.", nil},
		{`<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>`, nil},
		{`{"name":"read","arguments":{"path":"a"}}`, []string{"call"}},
		{`Such as {"name":"read","arguments":{"path":"a"}} and others.`, []string{"text"}},
		{"```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\n```json\n{\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}\n```", []string{"call", "call"}},
	} {
		message, _ := json.Marshal(map[string]any{"content": row.text})
		rec := &Record{Message: message, Tools: []json.RawMessage{[]byte(`"read"`), []byte(execTool)}}
		e, err := Explain(set, guard.World{}, "", rec)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Weighed) != len(row.decisions) {
			t.Errorf("%q: %+v, want %v", row.text, e.Weighed, row.decisions)
			continue
		}
		for i, w := range e.Weighed {
			sum := w.Base
			for _, s := range w.Signs {
				sum += s.Weight
			}
			if score := 1 / (1 + math.Exp(-sum)); math.Abs(sum-w.Sum) > 1e-9 ||
				math.Abs(score-w.Score) > 1e-9 || w.Decision == "call" != (score >= w.Run) {
				t.Errorf("%q: %+v does not add up", row.text, w)
			}
			if w.Decision != row.decisions[i] || w.Says == "" || w.Tool == "" {
				t.Errorf("%q: %+v, want %s", row.text, w, row.decisions[i])
			}
		}
	}
}
