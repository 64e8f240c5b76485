package guard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// counter is where the questions of runs in a workspace are answered.
type counter struct {
	*Guard
	j   *judge
	dir string
}

func asking(t *testing.T, test func(t *testing.T, d counter)) {
	j, _, _ := newJudge(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	ruletest.Must(t, err)
	synctest.Test(t, func(t *testing.T) {
		j.World = NewWorld(Machine{Workspace: dir})
		j.Approvals = NewApprovals(j.set.Limits, time.Now, telemetry.New(), nil, "")
		test(t, counter{j.Guard, j, dir})
	})
}

// weigh asks about a call of a new run. Why is empty where it passes.
func (d counter) weigh(ctx context.Context, tool, args string, asked func(approvals.Entry)) (why string) {
	r := d.Run(d.j.set, policy.Subject{Run: true, Interactive: true}, "run")
	if _, refusal := r.Check(ctx, tools.Call{Name: tool, Arguments: json.RawMessage(args), Strategy: "native",
		Confidence: 1}, Observer{}, asked); refusal != nil {
		return refusal.Why
	}
	return ""
}

const outside = `{"path":"/srv/x","content":"x"}`

// The model reads what has become of its question.
func TestRunAsks(t *testing.T) {
	for name, c := range map[string]struct {
		args   string
		answer func(s *approvals.Store, id string) error // nil: there is none
		want   string
	}{
		"allowed": {outside,
			func(s *approvals.Store, id string) error { _, err := s.Allow(id, "Sam"); return err }, ""},
		"denied": {outside,
			func(s *approvals.Store, id string) error { _, err := s.Deny(id, "Sam", ""); return err },
			"A person has said no. Do not send it again."},
		"denied, and why": {outside, func(s *approvals.Store, id string) error { _, err := s.Deny(id, "Sam", "use /tmp/x"); return err }, "do not send it again. They say: use /tmp/x"},
		"not answered": {outside, nil,
			"there is no answer: no person answered within 10m0s. Do it another way"},
		"too long": {`{"path":"/srv/x","content":"` + strings.Repeat("x", 70000) + `"}`, nil,
			"cannot be asked: it is longer than 65536 bytes"},
	} {
		asking(t, func(t *testing.T, d counter) {
			why := d.weigh(t.Context(), "write", c.args, func(e approvals.Entry) {
				if c.answer != nil {
					ruletest.Must(t, c.answer(d.Approvals, e.ID))
				}
			})
			if !strings.Contains(why, c.want) || (why == "") != (c.want == "") {
				t.Errorf("%s: %q", name, why)
			}
		})
	}
}

// Two runs ask the same. What was allowed once runs once, and the other one is asked about anew.
func TestRunsAskTheSame(t *testing.T) {
	asking(t, func(t *testing.T, d counter) {
		said := make(chan string, 2)
		for range 2 {
			go func() { said <- d.weigh(t.Context(), "write", outside, func(approvals.Entry) {}) }()
		}
		for _, no := range []bool{false, true} {
			synctest.Wait()
			list, _, _ := d.Approvals.List()
			var err error
			if e := list[len(list)-1]; no {
				_, err = d.Approvals.Deny(e.ID, "Sam", "once is enough")
			} else {
				_, err = d.Approvals.Allow(e.ID, "Sam")
			}
			ruletest.Must(t, err)
		}
		if both := <-said + <-said; strings.Count(both, "once is enough") != 1 ||
			strings.Count(both, "A person") != 1 {
			t.Errorf("%q", both)
		}
	})
}

// A question ends with the last run that asks it, so that an answer to it serves nobody else.
func TestRunLeavesItsQuestion(t *testing.T) {
	asking(t, func(t *testing.T, d counter) {
		var leave [2]context.CancelFunc
		said := make(chan string, 2)
		for i := range leave {
			ctx, cancel := context.WithCancel(t.Context())
			leave[i] = cancel
			go func() { said <- d.weigh(ctx, "write", outside, func(approvals.Entry) {}) }()
		}
		for i, want := range []approvals.State{approvals.Pending, approvals.Expired} {
			synctest.Wait()
			leave[i]()
			if why := <-said; !strings.Contains(why, "the run was over before") {
				t.Errorf("%q", why)
			}
			if list, _, _ := d.Approvals.List(); len(list) != 1 || list[0].State != want {
				t.Errorf("%d have left: %+v", i+1, list)
			}
		}
	})
}

// What runs is what a person was asked about: when its file has changed meanwhile, they are asked anew.
func TestRunAsksAboutFiles(t *testing.T) {
	asking(t, func(t *testing.T, d counter) {
		file := filepath.Join(d.dir, "x.sh")
		ruletest.Must(t, os.WriteFile(file, []byte("echo one"), 0o600))
		var sums []string
		why := d.weigh(t.Context(), "exec", `{"command":"bash x.sh"}`, func(e approvals.Entry) {
			if len(sums) == 0 {
				ruletest.Must(t, os.WriteFile(file, []byte("echo two"), 0o600))
			}
			for _, f := range e.Call.Files {
				sums = append(sums, f.Path+" "+f.SHA256[:8])
			}
			_, err := d.Approvals.Allow(e.ID, "Sam")
			ruletest.Must(t, err)
		})
		if why != "" || len(sums) != 2 || sums[0] == sums[1] || !strings.HasPrefix(sums[0], file+" ") {
			t.Errorf("%q after %q", why, sums)
		}
		if list, _, _ := d.Approvals.List(); list[0].State != approvals.Expired ||
			list[1].State != approvals.Used {
			t.Errorf("%+v", list)
		}
	})
}
