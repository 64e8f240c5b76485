package experiment_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What happens to replies is counted by model and arm, in every arm that a request is in, and logs name
// the arms; what callers make up is no label.
func TestMetricsByArm(t *testing.T) {
	set := trying(t, `experiments:
  - {id: prompt, about: x, status: running, measure: tool_ok, sample: [{session: one, arm: short}, {session: two, arm: short}],
     arms: {control: {share: 50}, short: {share: 50, set: {prompt: short}}}}
  - {id: warm, about: x, status: running, measure: tool_ok, sample: [{session: one, arm: control}, {session: two, arm: high}], when: session == "one" or session == "two",
     arms: {control: {share: 50}, high: {share: 50, set: {effort: high}}}}
`)
	damaged, deleting, unknown, nothing := script.Native("read", `{"path":"a",}`), script.Native("exec",
		`{"command":"rm -rf /"}`), script.Native("launch_missile", `{}`), script.Empty()
	for _, row := range []struct{ session, arm string }{
		{"", ""}, {"one", "prompt/short warm/control"}, {"two", "prompt/short warm/high"},
	} {
		decided := &provider.Decisions{}
		r := provider.Start(t, provider.Setup{Set: set, Extend: tracked(openTracker(t, "", io.Discard)), Decisions: decided},
			script.New(script.Scenario{Steps: []script.Reply{damaged, deleting, unknown, unknown, unknown,
				nothing, nothing, nothing}}))
		headers := []string{}
		if row.session != "" {
			headers = []string{"session_id", row.session}
		}
		for range 3 {
			r.Chat(provider.Body(provider.BothTools), headers...)
		}
		for i := range 20 {
			r.Chat(fmt.Sprintf(`{"model":"made-up-%d","user":"%d","messages":[{"role":"user","content":"x"}]}`, i, i), headers...)
		}
		for _, d := range decided.List {
			if strings.Join(d.Arms, " ") != row.arm {
				t.Errorf("%q: a decision in %v", row.session, d.Arms)
			}
		}
		if log := r.Log.String(); len(decided.List) == 0 ||
			!strings.Contains(log, fmt.Sprintf(" experiment=%q ", row.arm)) {
			t.Errorf("%q: %d decisions, %s", row.session, len(decided.List), log)
		}
		m := r.Scrape()
		of, model := fmt.Sprintf(`arm=%q,`, row.arm), `model="gpt-oss"`
		for _, want := range []string{
			`calls_total{` + of + model + `,strategy="native"} 1`, `repairs_total{` + of + `kind="json.`,
			`refusals_total{` + of + `code="not_offered",` + model + `} `,
			of + `fault="not_offered",` + model + `} `,
			`said_total{` + of + `fault="empty",` + model + `} `,
			`rule_hits_total{` + of + `file="strategies.yaml",` + model + `,rule="native"} `,
			`policy_decisions_total{` + of + `effect="deny",file="exec.yaml",` + model +
				`,rule="whole-tree"} 1`,
		} {
			if !strings.Contains(m, want) {
				t.Errorf("%q: no %s", row.session, want)
			}
		}
		for line := range strings.Lines(m) {
			if strings.Contains(line, "made-up") || strings.Contains(line, "arm=") &&
				!strings.Contains(line, "experiment=") && !strings.Contains(line, of) {
				t.Errorf("%q: %s", row.session, line)
			}
		}
	}
}

// Runs of executor mode are in arms, too: their calls are counted by arm, and so are the results of
// the tools, which come within the run.
func TestRunsInArms(t *testing.T) {
	set := trying(t, promptOrNot)
	l := openTracker(t, "", io.Discard)
	b := &provider.Source{Result: func(_ string, times int) tools.Result {
		if times == 1 {
			return tools.Result{Text: "Error: nothing found"}
		}
		return tools.Result{Text: "found"}
	}}
	search := script.Native("web_search", `{"query":"x"}`)
	again := script.Native("web_search", `{"query":"y"}`)
	r := provider.Start(t, provider.Setup{Set: set, Extend: func(r *provider.Server, c *sidecar.Config) {
		tracked(l)(r, c)
		executor.With(b)(r, c)
	}},
		script.New(script.Scenario{Steps: []script.Reply{search, again, script.Text("Done.")}}))
	a := r.Chat(`{"model":"executor","messages":[{"role":"user","content":"Find x."}]}`, "session_id", "s")
	arm := a.Header.Get("X-Experiment")
	if a.Text != "Done." || arm == "" {
		t.Fatalf("%q in %q: %s", a.Text, arm, a.Body)
	}
	for _, want := range []string{`run_calls_total{arm=%q,model="executor",outcome="ok",tool="web_search"} 2`,
		`_calls_total{arm=%q,model="executor",strategy="native"} 2`} {
		if want = fmt.Sprintf(want, arm); !strings.Contains(r.Scrape(), want) {
			t.Errorf("no %s in\n%s", want, r.Scrape())
		}
	}
	counted := map[string]float64{}
	for _, arm := range l.Reports(set)[0].Arms {
		for _, m := range arm.Measures {
			counted[m.ID+" of"], counted[m.ID] = m.N, m.X
		}
	}
	for measure, want := range map[string]float64{"tool_ok of": 2, "tool_ok": 1, "call_found": 1,
		"call_found of": 1, "turns": 3, "corrected": 0} {
		if counted[measure] != want {
			t.Errorf("%s: %v, not %v", measure, counted[measure], want)
		}
	}
}
