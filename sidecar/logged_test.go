package sidecar

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// notes is a decision log in memory.
type notes struct {
	mu   sync.Mutex
	list []decisions.Decision
	err  error
}

func (n *notes) Add(d decisions.Decision) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, d)
	return n.err
}

// Whatever was decided is logged: what left and what did not.
func TestDecisionsAreLogged(t *testing.T) {
	for _, mode := range []string{bothTool, streaming + "," + bothTool} {
		r := play(t, script.Native("exec", bad), script.Native("exec", `{"command":"ls"}`))
		log := &notes{}
		r.guard.Decisions = log
		r.chat(asking(mode))
		if len(log.list) != 2 {
			t.Fatalf("%d decisions", len(log.list))
		}
		first, second := log.list[0], log.list[1]
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
	r := play(t, script.Native("exec", `{"command":"frobnicate x"}`),
		script.Native("exec", `{"command":"ls"}`))
	log := &notes{}
	r.guard.Decisions = log
	r.chat(asking(bothTool))
	if len(log.list) != 2 || log.list[0].Effect != policy.Ask || log.list[0].Outcome != decisions.Refused ||
		log.list[0].Approval == "" {
		t.Errorf("%+v", log.list)
	}
}

// A call that cannot be logged does not leave where the log says so.
func TestNoLogNoCall(t *testing.T) {
	for _, mode := range []string{bothTool, streaming + "," + bothTool} {
		r := play(t, script.Native("exec", `{"command":"ls"}`), script.Native("exec", `{"command":"ls"}`))
		r.guard.Decisions = &notes{err: errors.New("disk full")}
		a := r.chat(asking(mode))
		if len(a.calls) != 0 || !strings.Contains(a.text, "cannot be logged") {
			t.Errorf("%v %q", a.calls, a.text)
		}
		if log := r.log.String(); !strings.Contains(log, "event=decisions_required") ||
			!strings.Contains(log, "disk full") {
			t.Errorf("not in the log: %s", log)
		}
	}
}
