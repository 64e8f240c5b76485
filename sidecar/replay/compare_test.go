package replay

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

func TestExpect(t *testing.T) {
	call := func(name, args string) MadeCall { return MadeCall{name, json.RawMessage(args)} }
	read := call("read", `{"path":"a","limit":5}`)
	for _, row := range []struct {
		expect string
		made   Made
		fits   bool
	}{
		{`{"calls":[{"name":"read","arguments":{"limit":5.0,"path":"a"}}]}`, Made{Calls: []MadeCall{read}}, true},
		{`{"calls":[{"name":"read","arguments":{"limit":5,"path":"a"}}]}`, Made{Calls: []MadeCall{read}}, true},
		{`{"calls":[{"name":"read"}]}`, Made{Calls: []MadeCall{read}, Content: "any"}, true},
		{`{"calls":[{"name":"exec"}]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[{"name":"read"}]}`, Made{Calls: []MadeCall{read, read}}, false},
		{`{"calls":[{"name":"read"},{"name":"exec"}]}`, Made{Calls: []MadeCall{call("exec", `{}`), read}}, false},
		{`{"calls":[]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[]}`, Made{Content: "any"}, true},
		{`{"calls":[{"name":"read","arguments":{"n":12345678901234567890}}]}`, Made{Calls: []MadeCall{call("read", `{"n":12345678901234567891}`)}}, false},
		{`{"calls":[{"name":"read","arguments":{"n":[1e2,{"x":0.50}]}}]}`, Made{Calls: []MadeCall{call("read", `{"n":[1.0e2,{"x":0.5}]}`)}}, true},
		{`{"content":"a b"}`, Made{Content: " a\nb"}, true},
		{`{"content":null}`, Made{Content: " \n"}, true},
		{`{"content":null}`, Made{Content: "x"}, false},
		{`{"content":"x","reasoning":"why"}`, Made{Content: "x", Reasoning: "why"}, true},
		{`{"content":"x","reasoning":"why"}`, Made{Content: "x", Reasoning: "because"}, false},
	} {
		rec := Record{Expect: json.RawMessage(row.expect)}
		e, err := rec.Expected()
		if err != nil || e == nil {
			t.Errorf("%s: %v, %v", row.expect, e, err)
			continue
		}
		if got := e.fits(&row.made); got != row.fits {
			t.Errorf("%s with %+v: %v", row.expect, row.made, got)
		}
	}
	for _, nothing := range []string{``, `null`, `{}`, `{"json":{"a":1}}`, `{"error":"x"}`} {
		if e, err := (&Record{Expect: json.RawMessage(nothing)}).Expected(); e != nil || err != nil {
			t.Errorf("%s: %+v, %v", nothing, e, err)
		}
	}
	for _, wrong := range []string{`"deny"`, `[]`, `{"calls":{}}`, `{"calls":[5]}`, `{"content":{}}`,
		`{"content":[[]]}`} {
		if e, err := (&Record{Expect: json.RawMessage(wrong)}).Expected(); err == nil {
			t.Errorf("%s: %+v", wrong, e)
		}
	}
}

func TestSignTest(t *testing.T) {
	for _, row := range []struct {
		better, worse int
		want          float64
	}{{0, 0, 1}, {1, 0, 1}, {5, 0, 0.0625}, {0, 5, 0.0625}, {9, 1, 22.0 / 1024}, {3, 3, 1},
		{8, 2, 112.0 / 1024}, {40000, 10, 0}} {
		got := (&Tally{Better: row.better, Worse: row.worse}).SignTest()
		if math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%d better, %d worse: %v, want %v", row.better, row.worse, got, row.want)
		}
	}
}

// labelled is what the corpora expect, in their words.
type labelled struct {
	Calls     []ExpectCall    `json:"calls"`
	ToolCalls []ExpectCall    `json:"tool_calls"`
	Content   json.RawMessage `json:"content"`
}

// ours is a label in the words of Expect; not ok where it has none for all of it.
func ours(label json.RawMessage) (doc json.RawMessage, ok bool) {
	for _, more := range []string{"accept", "content_any", "content_alternatives", "optional_tool_calls",
		"arguments_subset", "input_text", "arguments_text", "alternatives", "optional_repaired_calls"} {
		if strings.Contains(string(label), `"`+more+`"`) {
			return nil, false
		}
	}
	var l labelled
	if json.Unmarshal(label, &l) != nil {
		return nil, false
	}
	e := map[string]any{"calls": append([]ExpectCall{}, append(l.Calls, l.ToolCalls...)...)}
	var pieces []string
	if json.Unmarshal(l.Content, &pieces) == nil && pieces != nil {
		e["content"] = strings.Join(pieces, "")
	} else if l.Content != nil {
		e["content"] = l.Content
	}
	doc, err := json.Marshal(e)
	return doc, err == nil
}

// The corpora can be compared, and the same rules make the same of them. Most of
// what is labelled in words that Expect has is right: what fits is really looked at.
func TestCompareCorpora(t *testing.T) {
	set := ruletest.Shipped(t)
	for file, least := range map[string]struct{ right, labels int }{"gptoss": {95, 120}, "harmony": {90, 150},
		"react": {90, 20}, "markers": {55, 100}} {
		var tally Tally
		labels := 0
		for _, rec := range testkit.Corpus[Record](t, file) {
			label, ok := ours(rec.Expect)
			if rec.Expect = nil; ok {
				rec.Expect = label
				labels++
			}
			c, err := Compare(set, set, guard.World{}, "", &rec)
			if err != nil {
				t.Errorf("%s %s: %v", file, rec.ID, err)
				continue
			}
			tally.Add(c)
		}
		t.Logf("%s: %+v", file, tally)
		if tally.Same != tally.All() || tally.BothRight+tally.BothWrong != labels || labels < least.labels {
			t.Errorf("%s: %+v of %d labels", file, tally, labels)
		}
		if 100*tally.BothRight < least.right*labels || tally.BothWrong == 0 && file != "gptoss" {
			t.Errorf("%s: %d of %d are right", file, tally.BothRight, labels)
		}
	}
}
