package prompt_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
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
