package sidecar

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A call that exec.yaml denies never leaves, streamed or not, however it was written.
// The model is told, and may do something else; if it insists, the user reads why.
func TestDenied(t *testing.T) {
	const bad = `{"command":"rm -rf /"}`
	good := script.Native("exec", `{"command":"ls"}`)
	for name, first := range map[string]script.Reply{
		"native": script.Native("exec", bad), "leaked": script.LeakedHarmony("exec", bad), "marker": script.Marker("exec", bad),
		"alias": script.Native("exec", `{"cmd":"rm -rf /"}`),
	} {
		for _, mode := range []string{"stream", "whole"} {
			r := play(t, first, good)
			a := r.answer(mode)
			if len(a.calls) != 1 || !strings.Contains(a.calls[0].Args, `"ls"`) || strings.Contains(a.body, "rm -rf") {
				t.Errorf("%s: %v %s", name, a.calls, a.body)
			}
			if asked := r.model.Requests(""); len(asked) != 2 || !strings.Contains(string(asked[1].Body), "Name the files that are meant.") {
				t.Errorf("%s: the model was not told why", name)
			}
			r = play(t, first, first)
			a = r.answer(mode)
			if len(a.calls) != 0 || !strings.Contains(a.text, "not allowed here. This deletes the system") || strings.Contains(a.body, "rm -rf") {
				t.Errorf("%s, again: %v %q", name, a.calls, a.text)
			}
			if log := r.log.String(); !strings.Contains(log, "event=policy_deny") || !strings.Contains(log, "rule=whole-tree") {
				t.Errorf("%s: not in the log: %s", name, log)
			}
		}
	}
}

// A call inside of another call is judged, too: OpenClaw's tool_call runs what it names.
func TestDeniedInside(t *testing.T) {
	const via = `"tools":[{"type":"function","function":{"name":"tool_call","parameters":{"type":"object","properties":{"id":{"type":"string"},"args":{"type":"object"}}}}}]`
	nested := `{"id":"exec","args":{"command":"rm -rf /"}}`
	for range 5 {
		r := play(t, script.Native("tool_call", nested), script.Text("No."))
		if a := r.chat(asking(via)); len(a.calls) != 0 || strings.Contains(a.body, "rm -rf") {
			t.Errorf("%s left: %s", nested, a.body)
		}
		nested = `{"id":"tool_call","args":` + nested + `}`
	}
	r := play(t, script.Native("tool_call", `{"id":"exec","args":{"command":"ls"}}`))
	if a := r.chat(asking(via)); len(a.calls) != 1 {
		t.Errorf("a harmless one does not leave: %s", a.body)
	}
}

// A dry run lets the call pass, and says what it would have done.
func TestAudited(t *testing.T) {
	r := play(t, script.Native("exec", `{"command":"dd if=x of=/dev/sdb"}`))
	a := r.stream()
	if len(a.calls) != 1 || !strings.Contains(a.calls[0].Args, "of=/dev/sdb") {
		t.Errorf("%v", a.calls)
	}
	if log := r.log.String(); !strings.Contains(log, "event=policy_audit") || !strings.Contains(log, "rule=disk-tools") {
		t.Errorf("not in the log: %s", log)
	}
	m := r.metrics()
	for _, want := range []string{
		`gptoss_executor_policy_decisions_total{effect="audit",rule="disk-tools"} 1`,
		`gptoss_executor_rule_hits_total{file="exec.yaml",rule="disk-tools"} 1`,
		`gptoss_executor_rule_hits_total{file="strategies.yaml",rule="native"} 1`,
	} {
		if !strings.Contains(m, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}
