package replay

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/corpus"
	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
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
		{`{"tool_calls":[{"name":"read","arguments":{"limit":5,"path":"b"}}]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[{"name":"read"}]}`, Made{Calls: []MadeCall{read}, Content: "any"}, true},
		{`{"calls":[{"name":"exec"}]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[{"name":"read"}]}`, Made{Calls: []MadeCall{read, read}}, false},
		{`{"calls":[{"name":"read"},{"name":"exec"}]}`, Made{Calls: []MadeCall{call("exec", `{}`), read}}, false},
		{`{"calls":[{"name":"read"}],"optional_tool_calls":[{"name":"exec"}]}`, Made{Calls: []MadeCall{call("exec", `{}`), read}}, true},
		{`{"calls":[]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[]}`, Made{Content: "any"}, true},
		{`{"calls":[{"name":"read","arguments":{"n":12345678901234567890}}]}`, Made{Calls: []MadeCall{call("read", `{"n":12345678901234567891}`)}}, false},
		{`{"calls":[{"name":"read","arguments":{"n":[1e2,{"x":0.50}]}}]}`, Made{Calls: []MadeCall{call("read", `{"n":[1.0e2,{"x":0.5}]}`)}}, true},
		{`{"calls":[{"name":"read","arguments_subset":{"path":"a"}}]}`, Made{Calls: []MadeCall{read}}, true},
		{`{"calls":[{"name":"read","arguments_subset":{"gone":1}}]}`, Made{Calls: []MadeCall{read}}, false},
		{`{"calls":[{"name":"sh","input_text":"ls\n"}]}`, Made{Calls: []MadeCall{call("sh", `{"command":"ls"}`)}}, true},
		{`{"calls":[{"name":"sh","input_text":"ls"}]}`, Made{Calls: []MadeCall{call("sh", `{"command":"ls","x":1}`)}}, false},
		{`{"calls":[{"name":"sh","arguments_text":"ls"}]}`, Made{Calls: []MadeCall{call("sh", `{}`)}}, false},
		{`{"content":"a b"}`, Made{Content: " a\nb"}, true},
		{`{"content":["a","b"]}`, Made{Content: "ab"}, true},
		{`{"content":null}`, Made{Content: " \n"}, true},
		{`{"content":null}`, Made{Content: "x"}, false},
		{`{"content":null,"content_any":[null,"x"]}`, Made{Content: "x"}, true},
		{`{"content":"y","content_any":["x"]}`, Made{Content: "z"}, false},
		{`{"content":["y"],"content_alternatives":[["z","z"]]}`, Made{Content: "zz"}, true},
		{`{"content":"x","reasoning":["why"]}`, Made{Content: "x", Reasoning: "why"}, true},
		{`{"content":"x","reasoning":["why"]}`, Made{Content: "x", Reasoning: "because"}, false},
		{`{"calls":[],"content":null,"accept":[{"calls":[{"name":"read"}]}]}`, Made{Calls: []MadeCall{read}, Content: "x"}, true},
		{`{"calls":[],"content":null,"accept":[{"content":"x"}]}`, Made{Content: "x"}, true},
		{`{"calls":[],"content":null,"accept":[{"content":"x"}]}`, Made{Calls: []MadeCall{read}, Content: "x"}, false},
	} {
		rec := Record{Expect: json.RawMessage(row.expect)}
		e, err := rec.expectation()
		if err != nil || e == nil {
			t.Errorf("%s: %v, %v", row.expect, e, err)
			continue
		}
		if got := e.fits(&row.made); got != row.fits {
			t.Errorf("%s with %+v: %v", row.expect, row.made, got)
		}
	}
	for _, nothing := range []string{``, `null`, `{}`, `{"json":{"a":1}}`, `{"error":"x"}`} {
		if e, err := (&Record{Expect: json.RawMessage(nothing)}).expectation(); e != nil || err != nil {
			t.Errorf("%s: %+v, %v", nothing, e, err)
		}
	}
	for _, wrong := range []string{`"deny"`, `[]`, `{"calls":{}}`, `{"calls":[5]}`, `{"content":{}}`, `{"content":[[]]}`, `{"accept":true}`} {
		if e, err := (&Record{Expect: json.RawMessage(wrong)}).expectation(); err == nil {
			t.Errorf("%s: %+v", wrong, e)
		}
	}
}

func TestSignTest(t *testing.T) {
	for _, row := range []struct {
		better, worse int
		want          float64
	}{{0, 0, 1}, {1, 0, 1}, {5, 0, 0.0625}, {0, 5, 0.0625}, {9, 1, 22.0 / 1024}, {3, 3, 1}, {8, 2, 112.0 / 1024}, {40000, 10, 0}} {
		got := (&Tally{Better: row.better, Worse: row.worse}).SignTest()
		if math.Abs(got-row.want) > 1e-9 {
			t.Errorf("%d better, %d worse: %v, want %v", row.better, row.worse, got, row.want)
		}
	}
}

// The corpora can be compared, and the same rules make the same of them. Most of
// what is labelled is right: what fits is really looked at.
func TestCompareCorpora(t *testing.T) {
	set := ruletest.Shipped(t)
	for file, least := range map[string]int{"gptoss": 95, "harmony": 90, "react": 90, "markers": 55} {
		var tally Tally
		for _, rec := range corpus.Load[Record](t, file) {
			c, err := Compare(set, set, guard.World{}, "", &rec)
			if err != nil {
				t.Errorf("%s %s: %v", file, rec.ID, err)
				continue
			}
			tally.Add(c)
		}
		t.Logf("%s: %+v", file, tally)
		if tally.Same != tally.All() || tally.BothRight+tally.BothWrong != tally.All() {
			t.Errorf("%s: %+v", file, tally)
		}
		if 100*tally.BothRight < least*tally.All() || tally.BothWrong == 0 && file != "gptoss" {
			t.Errorf("%s: %d of %d are right", file, tally.BothRight, tally.All())
		}
	}
}
