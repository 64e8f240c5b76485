package replay

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// withRule are the shipped rules with one edit.
func withRule(t testing.TB, file, from, to string) *ruleset.Set {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS(testkit.Root()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(files[file], from) != 1 {
		t.Fatalf("%q stands not once in %s", from, file)
	}
	files[file] = testkit.Replace(t, files[file], from, to, 1)
	set, problems := ruletest.Loader().Load(files)
	if problems.Fatal() {
		t.Fatal(problems)
	}
	return set
}

func TestVerdicts(t *testing.T) {
	set := withRule(t, "strategies.yaml", "    priority: 60\n",
		"    priority: 60\n    when: not (text contains \"path=a]\") or int(text) > 3\n")
	const offered = `,"tools":["read","exec",{"name":"web_search","parameters":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}]}`
	for _, row := range []struct {
		record, profile, strategy string
		verdict                   Verdict
		says                      string
	}{
		{`{"message":{"content":"Yes."}`, "", "native", VerdictNothing, "no tool_calls"},
		{`{"message":{"content":"Yes."}`, "", "harmony", VerdictNothing, "nothing that opens it"},
		{`{"message":{"content":"Yes."}`, "native", "react", VerdictDisabled, "off: disabled in the profile"},
		{`{"message":{"content":"Yes."}`, "", "fuzzy", VerdictDisabled, "off: disabled in the profile"},
		{`{"message":{"content":"I will search for tides."}`, "prose", "fuzzy", VerdictFound, "found 1 call"},
		{`{"message":{"content":"[TOOL:read|path=3]"}`, "prose", "fuzzy", VerdictNothing, "not asked: the reply holds calls already"},
		{`{"message":{"content":"[TOOL:read|path=5][TOOL:read|path=7]"}`, "", "markers", VerdictFound, "found 2 calls"},
		{`{"message":{"content":"[TOOL:read|path=a]"}`, "", "markers", VerdictCondition, "off: its condition fails: strategies.yaml:"},
		{`{"message":{"content":"[TOOL:google_search|q=5]"}`, "", "markers", VerdictFound, "found 1 call"},
		{`{"message":{"content":"[TOOL:rm|path=5]"}`, "", "markers", VerdictRefused, "refused: not_offered: rm: no tool"},
		{`{"message":{"content":"[TOOL: nothing at all"}`, "", "markers", VerdictRefused, "refused: the reply ends inside the call"},
		{`{"message":{"content":"Action: fly"}`, "", "react", VerdictHandled, "released: no "},
		{`{"message":{"content":"<|channel|>final<|message|>Hi.<|return|>"}`, "", "harmony", VerdictHandled, "messages, and no call in them"},
		{`{"message":{"content":"analysisHm.assistantfinalHi."}`, "", "harmony", VerdictHandled, ""},
		{`{"message":{"content":"Hi.<|call|>"}`, "", "harmony", VerdictHandled, "dropped: a lone "},
		{`{"message":{"content":"{\"tool_calls\":[],\"done\":true}"}`, "", "guided_json", VerdictHandled, "the end of the turn: done"},
		{`{"message":{"content":"{\"tool_calls\":[],\"answer\":\"Hi.\"}"}`, "", "guided_json", VerdictHandled, "shown as text: the answer"},
	} {
		var rec Record
		if err := json.Unmarshal([]byte(row.record+offered), &rec); err != nil {
			t.Fatal(err)
		}
		tree, err := ExplainTree(set, guard.World{}, row.profile, &rec)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, s := range tree.Strategies {
			if s.ID == row.strategy {
				found = s.Verdict == row.verdict && strings.HasPrefix(s.Says, row.says)
				if !found {
					t.Errorf("%s: %s is %s: %s, want %s: %s", row.record, s.ID, s.Verdict, s.Says,
						row.verdict, row.says)
				}
			}
			if (s.Verdict == VerdictCondition) != (len(s.Steps) > 0 && s.Steps[0].Condition != nil) {
				t.Errorf("%s: %+v", row.record, s)
			}
		}
		if !found || len(tree.Strategies)+tree.Frames != len(set.Strategies(row.profile).All()) {
			t.Errorf("%s: %d strategies, %d frames", row.record, len(tree.Strategies), tree.Frames)
		}
	}
	rec := Record{Message: json.RawMessage(`{"content":"I will search for tides."}`)}
	tree, err := ExplainTree(set, guard.World{}, "prose", &rec)
	if err != nil || tree.Tools != nil || !slices.ContainsFunc(tree.Strategies, func(s TreeStrategy) bool {
		return s.ID == "fuzzy" && strings.Contains(s.Says, "tools are known")
	}) {
		t.Errorf("%+v, %v", tree, err)
	}
}

// What conditions see comes from the record.
func TestRecordFacts(t *testing.T) {
	set := withRule(t, "strategies.yaml", "    priority: 60\n",
		"    priority: 60\n    when: model != \"m\" or server != \"vllm\" or user != \"hi\"\n")
	for doc, calls := range map[string]int{
		`{"input":{"text":"[TOOL:read|path=a]","tools":["read"]}}`:                                          1,
		`{"input":{"chunks":["[TOOL:re","ad|path=a]"]},"model":"m","server":"vllm","user":"hi"}`:            0,
		`{"input":{"chunks_b64":["W1RPT0w6cmVhZHxwYXRoPcM=","qV0="]},"model":"m"}`:                          1,
		`{"input":{"text":"[TOOL:read|path=a]"},"message":null,"model":"m","server":"vllm","user":"hello"}`: 1,
	} {
		var rec Record
		if err := json.Unmarshal([]byte(doc), &rec); err != nil {
			t.Fatal(err)
		}
		tree, err := ExplainTree(set, guard.World{}, "", &rec)
		if err != nil {
			t.Fatal(err)
		}
		n, denied := 0, 0
		for _, s := range tree.Strategies {
			n += len(s.Calls)
			if s.Verdict == VerdictCondition {
				denied++
			}
		}
		if n != calls || denied != 1-calls || strings.Contains(doc, "b64") &&
			!strings.Contains(string(tree.Strategies[4].Calls[0].Arguments), "é") {
			t.Errorf("%s: %d calls, %d denied: %+v", doc, n, denied, tree.Strategies)
		}
	}
}
