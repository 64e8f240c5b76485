package guard

import (
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// A hook says yes or no and wraps nothing. So where all commands must run confined, those that
// it is asked about do not run, and no person can allow them.
func TestHookedCallsAreNotConfined(t *testing.T) {
	const asks = `{"command":"python3 -c '1'"}`
	for _, c := range []struct {
		mode, tool, args string
		want             policy.Effect
	}{
		{"when_possible", "exec", `{"command":"ls"}`, policy.Allow},
		{"when_possible", "exec", asks, policy.Ask},
		{"always", "exec", `{"command":"ls"}`, policy.Deny},
		{"always", "exec", asks, policy.Deny},
		{"always", "write", `{"path":"a.txt","content":""}`, policy.Allow},
	} {
		j, issuer, _ := confining(t, "confine: when_possible", "confine: "+c.mode)
		g := j.Guard
		g.Approvals = NewApprovals(j.set.Limits, time.Now, telemetry.New(), nil, "")
		r, err := g.Hook(j.set, &HookRequest{Tool: c.tool, Arguments: []byte(c.args), Session: "s", Agent: "main"})
		ruletest.Must(t, err)
		if r.Effect != c.want || (r.Approval != nil) != (c.want == policy.Ask) || len(issuer.permits) != 0 {
			t.Errorf("%s, %s %s: %+v", c.mode, c.tool, c.args, r)
		}
		if list, _, _ := g.Approvals.List(); len(list) > 0 && c.want != policy.Ask {
			t.Errorf("%s, %s: a person is asked in vain", c.mode, c.args)
		}
	}
}

// Where no person can be asked, what asks does not run.
func TestHookWithoutApprovals(t *testing.T) {
	j, _, _ := confining(t, "confine: when_possible", "confine: never")
	r, err := j.Hook(j.set, &HookRequest{Tool: "exec", Arguments: []byte(`{"command":"python3 -c '1'"}`)})
	ruletest.Must(t, err)
	if r.Effect != policy.Deny || r.Approval != nil {
		t.Errorf("%+v", r)
	}
}

// Of a call inside of another one, a person is asked when it comes by itself. What is denied is denied at
// once.
func TestHookOfWrappedCalls(t *testing.T) {
	j, _, _ := confining(t, "confine: when_possible", "confine: never")
	g := j.Guard
	g.Approvals = NewApprovals(j.set.Limits, time.Now, telemetry.New(), nil, "")
	for args, want := range map[string]policy.Effect{
		`{"id":"exec","args":{"command":"python3 -c '1'"}}`: policy.Allow,
		`{"id":"exec","args":{"command":"rm -rf /"}}`:       policy.Deny,
		`{"id":"exec","args":{"command":"ls"}}`:             policy.Allow,
	} {
		r, err := g.Hook(j.set, &HookRequest{Tool: "tool_call", Arguments: []byte(args), Session: "s",
			Agent: "main", Again: true})
		ruletest.Must(t, err)
		if list, _, _ := g.Approvals.List(); r.Effect != want || r.Approval != nil || len(list) > 0 {
			t.Errorf("%s: %+v, %d questions", args, r, len(list))
		}
	}
	r, err := g.Hook(j.set, &HookRequest{Tool: "exec", Arguments: []byte(`{"command":"python3 -c '1'"}`),
		Session: "s", Agent: "main"})
	ruletest.Must(t, err)
	if r.Effect != policy.Ask {
		t.Errorf("by itself: %+v", r)
	}
	j, issuer, _ := confining(t, "confine: when_possible", "confine: always")
	r, err = j.Hook(j.set, &HookRequest{Tool: "tool_call",
		Arguments: []byte(`{"id":"exec","args":{"command":"python3 -c '1'"}}`), Session: "s", Agent: "main",
		Again: true})
	ruletest.Must(t, err)
	if r.Effect != policy.Deny || len(issuer.permits) != 0 {
		t.Errorf("where all must be confined: %+v", r)
	}
}
