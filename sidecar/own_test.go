package sidecar

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// The folder of the rules is the guard's own, wherever it is: no agent writes there.
func TestRulesAreOutOfReach(t *testing.T) {
	for _, c := range []struct {
		own   []string
		calls int
	}{{nil, 1}, {[]string{"/tmp/rules-of-a-test", ""}, 0}} {
		r := play(t, script.Native("exec", `{"command":"echo x > /tmp/rules-of-a-test/exec.yaml"}`), script.Text("No."))
		r.s.live.Guard(c.own...)
		if a := r.answer("whole"); len(a.calls) != c.calls {
			t.Errorf("%v: %v", c.own, a.calls)
		}
		line := "rm /tmp/rules-of-a-test/exec.yaml"
		q := Question{Command: &line}
		if ruling, err := q.Judge(r.s.live.Set(), nil, r.s.live.own); err != nil || (ruling.Effect == policy.Deny) != (c.calls == 0) {
			t.Errorf("asked about, %v: %+v %v", c.own, ruling, err)
		}
	}
}
