package sidecar

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Calls, repairs, refusals and faults are counted by model and arm, in every arm that a request
// is in; what callers make up is no label.
func TestMetricsByArm(t *testing.T) {
	set := trying(t, `experiments:
  - {id: prompt, about: x, status: running, measure: tool_ok, sample: [{session: one, arm: short}, {session: two, arm: short}],
     arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}}
  - {id: warm, about: x, status: running, measure: tool_ok, sample: [{session: one, arm: control}, {session: two, arm: high}], when: session == "one" or session == "two",
     arms: {control: {share: 50}, high: {share: 50, set: {effort: high}}}}
`)
	damaged, unknown := script.Native("read", `{"path":"a",}`), script.Native("launch_missile", `{}`)
	for _, row := range []struct{ session, arm string }{
		{"", ""}, {"one", "prompt/short warm/control"}, {"two", "prompt/short warm/high"},
	} {
		r := start(t, setup{set: set, lab: openLab(t, "", io.Discard)}, script.New(script.Scenario{Steps: []script.Reply{damaged, unknown, unknown, unknown, unknown}}))
		headers := []string{}
		if row.session != "" {
			headers = []string{"session_id", row.session}
		}
		r.chat(asking(bothTool), headers...)
		r.chat(asking(bothTool), headers...)
		for i := range 20 {
			r.chat(fmt.Sprintf(`{"model":"made-up-%d","user":"%d","messages":[{"role":"user","content":"x"}]}`, i, i), headers...)
		}
		m := r.metrics()
		of := fmt.Sprintf(`model="gpt-oss",arm=%q,`, row.arm)
		for _, want := range []string{
			`calls_total{` + of + `strategy="native"} 1`, `repairs_total{` + of + `kind="json.`,
			`refusals_total{` + of + `code="not_offered"} `, `faults_total{` + of + `fault="not_offered",action="`,
		} {
			if !strings.Contains(m, want) {
				t.Errorf("%q: no %s", row.session, want)
			}
		}
		for line := range strings.Lines(m) {
			if strings.Contains(line, "made-up") || strings.Contains(line, "arm=") && !strings.Contains(line, "experiment=") && !strings.Contains(line, of) {
				t.Errorf("%q: %s", row.session, line)
			}
		}
	}
}
