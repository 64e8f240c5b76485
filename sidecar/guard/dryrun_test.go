package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const auditDisks = `
rules:
  - {id: whole-tree, deny: "This deletes the system. Name the files that are meant.", when: "any(cmd.deletes, .class == 'root')"}
  - {id: disk-tools, audit: This overwrites a disk., when: "cmd.binary == 'dd'"}
`

// A dry run lets the call pass, and says what it would have done.
func TestAudited(t *testing.T) {
	r := under(t, "profile: permissive\n"+auditDisks,
		script.Native("exec", `{"command":"dd if=x of=/dev/sdb"}`))
	a := r.Stream()
	if len(a.Calls) != 1 || !strings.Contains(a.Calls[0].Args, "of=/dev/sdb") {
		t.Errorf("%v", a.Calls)
	}
	if log := r.Log.String(); !strings.Contains(log, "event=policy_audit") ||
		!strings.Contains(log, "rule=disk-tools") {
		t.Errorf("not in the log: %s", log)
	}
	m := r.Scrape()
	for _, want := range []string{
		`gptoss_executor_policy_decisions_total{arm="",effect="audit",file="exec.yaml",model="gpt-oss",rule="disk-tools"} 1`,
		`gptoss_executor_rule_hits_total{arm="",file="exec.yaml",model="gpt-oss",rule="disk-tools"} 1`,
		`gptoss_executor_rule_hits_total{arm="",file="strategies.yaml",model="gpt-oss",rule="native"} 1`,
	} {
		if !strings.Contains(m, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
}

// Nothing is enforced also means what cannot be looked into.
func TestDryRunOfTheUnclear(t *testing.T) {
	nested := `{"id":"exec","args":{"command":"ls"}}`
	for range 4 {
		nested = `{"id":"tool_call","args":` + nested + `}`
	}
	for _, c := range []struct{ tool, args string }{{"exec", `{"command":"ls </arg_value>>"}`},
		{"tool_call", nested}} {
		r := under(t, "profile: audit-only\n", script.Native(c.tool, c.args))
		if a := r.Chat(provider.Body(gatewayTool)); len(a.Calls) != 1 ||
			!strings.Contains(r.Log.String(), "event=policy_audit would=deny") {
			t.Errorf("%s: %v %q\n%s", c.args, a.Calls, a.Text, r.Log)
		}
	}
}

// With audit-only, and with a rule that is a shadow, everything leaves and is counted; one
// line a minute is logged.
func TestDryRuns(t *testing.T) {
	const list = `
rules:
  - {id: no-rm, deny: Gone is gone., when: "cmd.binary == 'rm'"SHADOW}
  - {id: no-mv, ask: Is it so., when: "cmd.binary == 'mv'"SHADOW}
`
	for name, exec := range map[string]string{
		"audit-only": "profile: audit-only" + strings.ReplaceAll(list, "SHADOW", ""),
		"shadow":     "profile: permissive" + strings.ReplaceAll(list, "SHADOW", ", shadow: true"),
	} {
		var replies []script.Reply
		for range 3 {
			replies = append(replies, script.Reply{Calls: []script.Call{
				{ID: "a", Name: "exec", Arguments: `{"command":"rm x"}`}, {ID: "b", Name: "exec", Arguments: `{"command":"mv a b"}`},
			}})
		}
		r := under(t, exec, replies...)
		now := time.Now()
		r.Guard.Now = func() time.Time { return now }
		for i := range replies {
			if i == 2 {
				now = now.Add(61 * time.Second)
			}
			if a := r.Chat(provider.Body(gatewayTool)); len(a.Calls) != 2 ||
				a.Calls[1].Args != `{"command":"mv a b"}` {
				t.Errorf("%s: %v %q", name, a.Calls, a.Text)
			}
		}
		m := r.Scrape()
		for _, rule := range []string{"no-rm", "no-mv"} {
			if want := `policy_decisions_total{arm="",effect="audit",file="exec.yaml",model="gpt-oss",rule="` + rule + `"} 3`; !strings.Contains(m, want) {
				t.Errorf("%s: no %s", name, want)
			}
			if n := strings.Count(r.Log.String(), "event=policy_audit would="); n < 4 ||
				strings.Count(r.Log.String(), "rule="+rule+" ") != 2 {
				t.Errorf("%s: %d lines:\n%s", name, n, r.Log)
			}
		}
	}
}
