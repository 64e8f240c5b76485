package sidecar

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// The folder of the rules is the guard's own, wherever it is: no agent writes there.
func TestRulesAreOutOfReach(t *testing.T) {
	for _, c := range []struct {
		own   []string
		calls int
	}{{nil, 1}, {folders("/tmp/rules-of-a-test", ""), 0}} {
		r := play(t, script.Native("exec", `{"command":"echo x > /tmp/rules-of-a-test/exec.yaml"}`), script.Text("No."))
		r.s.live.own = c.own
		if a := r.answer("whole"); len(a.calls) != c.calls {
			t.Errorf("%v: %v", c.own, a.calls)
		}
	}
}
