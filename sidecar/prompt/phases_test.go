package prompt_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// edited are the shipped rules with this edits.yaml.
func edited(t *testing.T, doc string) provider.Setup {
	t.Helper()
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["edits.yaml"] = "version: 1\n" + doc
	set, problems := provider.Loader().LoadShipped(files)
	if set == nil {
		t.Fatal(problems)
	}
	return provider.Setup{Set: set}
}

const phases = `
requests:
  - {id: no-exec, when: '"exec" in tools', drop_tools: [exec]}
  - {id: brief, messages: [{of: system, note: Be brief.}], most: {temperature: 0.5}}
results:
  - {id: keys, when: tool == "read", replace: [{find: 'key-\d+', with: '[key]'}]}
`

// The rules of edits.yaml change what the model reads, of the request and of the results that
// the gateway sends; the log and the metrics say which.
func TestEditsOfAProvider(t *testing.T) {
	r := provider.Start(t, edited(t, phases),
		script.New(script.Scenario{Steps: []script.Reply{script.Native("exec", `{"command":"ls"}`),
			script.Text("ok")}}))
	a := r.Chat(`{"model":"gpt-oss",` + provider.BothTools +
		`,"temperature":1,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"key-1"}]}`)
	asked := string(r.Model.Requests("")[0].Body)
	for _, part := range []string{`"content":"Be brief."`, `"[key]"`, `"temperature":0.5`} {
		if !strings.Contains(asked, part) {
			t.Errorf("%s lacks %s", asked, part)
		}
	}
	if strings.Contains(asked, `"name":"exec"`) || strings.Contains(string(a.Body), `"name":"exec"`) {
		t.Errorf("a dropped tool is offered, or called: %s\n%s", asked, a.Body)
	}
	if log := r.Log.String(); !strings.Contains(log, `edits="brief keys no-exec"`) {
		t.Errorf("the log does not say what was edited: %s", log)
	}
}

// Results of a run are edited before they are shortened, and what the guard says is not.
func TestEditsOfARun(t *testing.T) {
	b := &provider.Source{Result: func(string,
		int) tools.Result {
		return tools.Result{Text: "key-12 " + strings.Repeat("x", 20000)}
	}}
	s := edited(t, `results: [{id: keys, when: run, replace: [{find: 'x{1000}', with: ''}, {find: 'key-\d+', with: '[key]'}], note: Seen.}]`)
	s.Sources = []run.Source{b}
	r := provider.Start(t, s, script.New(script.Scenario{Steps: []script.Reply{script.Native("web_search",
		`{"query":"news"}`), script.Text("ok")}}))
	if a := r.Run(false, ""); a.Text != "ok" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	asked := r.Model.Requests("")[1].Messages
	if got := asked[len(asked)-1].Text; got != "[key] \n\nSeen." {
		t.Errorf("%.200q", got)
	}
	if log := r.Log.String(); !strings.Contains(log, `edits=keys`) {
		t.Errorf("the log does not say what was edited: %s", log)
	}
}
