package guard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// Whatever was decided is logged: what left and what did not.
func TestDecisionsAreLogged(t *testing.T) {
	for _, mode := range []string{provider.BothTools, provider.Streaming + "," + provider.BothTools} {
		r := provider.Play(t, script.Native("exec", bad), script.Native("exec", `{"command":"ls"}`))
		log := &provider.Decisions{}
		r.Guard.Decisions = log
		r.Chat(provider.Body(mode))
		if len(log.List) != 2 {
			t.Fatalf("%d decisions", len(log.List))
		}
		first, second := log.List[0], log.List[1]
		if first.Effect != policy.Deny || first.Outcome != decisions.Refused || first.Rule == "" ||
			!first.Enforced || string(first.Arguments) != bad {
			t.Errorf("%+v", first)
		}
		if second.Outcome != decisions.Passed || second.Effect != policy.Allow || second.Tool != "exec" ||
			second.Class != "exec" || second.Rules == "" {
			t.Errorf("%+v", second)
		}
		if first.Request == "" || first.Request != second.Request {
			t.Errorf("of one request: %q %q", first.Request, second.Request)
		}
	}
}

// A call that waits for a person is logged with the approval that it waits for.
func TestQuestionsAreLogged(t *testing.T) {
	r := provider.Play(t, script.Native("exec", `{"command":"frobnicate x"}`),
		script.Native("exec", `{"command":"ls"}`))
	log := &provider.Decisions{}
	r.Guard.Decisions = log
	r.Chat(provider.Body(provider.BothTools))
	if len(log.List) != 2 || log.List[0].Effect != policy.Ask || log.List[0].Outcome != decisions.Refused ||
		log.List[0].Approval == "" {
		t.Errorf("%+v", log.List)
	}
}

// A call that cannot be logged does not leave where the log says so.
func TestNoLogNoCall(t *testing.T) {
	for _, mode := range []string{provider.BothTools, provider.Streaming + "," + provider.BothTools} {
		r := provider.Play(t, script.Native("exec", `{"command":"ls"}`), script.Native("exec", `{"command":"ls"}`))
		r.Guard.Decisions = &provider.Decisions{Err: errors.New("disk full")}
		a := r.Chat(provider.Body(mode))
		if len(a.Calls) != 0 || !strings.Contains(a.Text, "cannot be logged") {
			t.Errorf("%v %q", a.Calls, a.Text)
		}
		if log := r.Log.String(); !strings.Contains(log, "event=decisions_required") ||
			!strings.Contains(log, "disk full") {
			t.Errorf("not in the log: %s", log)
		}
	}
}
