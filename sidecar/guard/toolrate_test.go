package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A rule can bound how often one tool is called in a session, whatever else is called there.
func TestRateOfATool(t *testing.T) {
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["extra/exec.often.yaml"] = "version: 1\nrules: [{id: often, deny: That is too often., when: \"tool == 'read' and rate('tool:read', '1h') >= 2\"}]\n"
	set, problems := ruleset.LoadShipped(files)
	if set == nil {
		t.Fatal(problems)
	}
	var steps []script.Reply
	for i := range 5 {
		name, args := "read", fmt.Sprintf(`{"path":"%d.md"}`, i)
		if i%2 == 1 {
			name, args = "exec", `{"command":"ls"}`
		}
		steps = append(steps, script.Native(name, args))
	}
	r := provider.Start(t, provider.Setup{Set: set}, script.New(script.Scenario{Steps: append(steps, script.Text("ok"))}))
	for i := range 5 {
		a := r.Chat(provider.Body(provider.BothTools), "session_id", "s1")
		if denied := strings.Contains(r.Log.String(), "often"); denied != (i == 4) {
			t.Errorf("%d: denied %v: %s", i, denied, a.Body)
		}
	}
}
