package e2e

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	days "github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// TestSessions spends days of ordinary work with a real gateway. Only the gateway is told
// where the workspaces are; of the sidecar nothing is configured. No call may be denied,
// and hardly any asked about that its owner does not want to be asked about. The owners take turns in
// which API their gateway speaks: what a call may do does not depend on it.
func TestSessions(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	all := owners(t)
	for i, home := range slices.Sorted(maps.Keys(all)) {
		api := []string{"chat", "responses"}[i%2]
		t.Run(api+"/"+filepath.Base(home), func(t *testing.T) {
			t.Parallel()
			o := moveIn(t, api, all[home])
			for _, d := range all[home] {
				t.Run(d.session.Name, func(t *testing.T) {
					t.Parallel()
					o.spend(t, d)
				})
			}
		})
	}
}

// neutral is where the homes lie: every user may write there, and to the policy it is no
// place of its own. Below /tmp an agent may write anyhow, and another user's home is secret.
const neutral = "/var/tmp"

// owners are the sessions by the home folder of their owner, all of them below one folder.
func owners(t *testing.T) map[string][]*day {
	t.Helper()
	root, err := os.MkdirTemp(neutral, "gpt-oss-executor-sessions-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, root) })
	out := map[string][]*day{}
	for _, name := range days.SessionNames(t) {
		s := days.LoadSession(t, name, root)
		s.Lay(t)
		out[s.Home] = append(out[s.Home], newDay(t, s, len(out[s.Home]) == 0))
	}
	return out
}

// owner is who has a gateway, with a sidecar and a model behind it.
type owner struct {
	gateway  *gateway
	model    *script.Server
	decided  string // folder of the decision log
	provider string
}

// moveIn starts what an owner needs for these days.
func moveIn(t *testing.T, api string, days []*day) *owner {
	t.Helper()
	home := days[0].session.Home
	stayAtHome(t, home)
	o := &owner{decided: filepath.Join(t.TempDir(), "decisions"), provider: "gpt-oss-executor"}
	scenarios := endScenario()
	for _, d := range days {
		scenarios = append(scenarios, script.Scenario{Name: d.session.Name, User: d.mark(), Choose: d.choose})
	}
	o.model = script.New(scenarios...)
	run := gatewayRun(t)
	url := startSidecar(t, startModel(t, o.model), "HOME="+home, "OPENCLAW_WORKSPACE=",
		"GPTOSS_EXECUTOR_DECISIONS="+o.decided)
	env := []string{"OC_HOME=" + home, "OC_MORE=" + settings(t, api, url, days)}
	o.gateway = startGateway(t, run, env, provider{id: o.provider, url: url})
	return o
}

// spend plays a day to its end, and then looks at what was decided.
func (o *owner) spend(t *testing.T, d *day) {
	for turn, message := range d.messages {
		for range 1 + len(d.session.Calls) {
			if a := o.say(t, d, message+" "+d.turnMark(turn)); a.status != http.StatusOK {
				t.Fatalf("turn %d: the user got %d %s", turn, a.status, a.raw)
			}
			if d.begin(turn + 1) {
				break
			}
			message = "Please go on."
		}
	}
	checkTaken(t, o.model.Requests(d.session.Name))
	d.session.Score(o.decisions(t, d.agent())).Check(t)
}

func (o *owner) say(t *testing.T, d *day, message string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := o.gateway.turnOf(ctx, d.agent(), o.provider, d.session.Name, message)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decisions are those about the calls of an agent so far, in order.
func (o *owner) decisions(t *testing.T, agent string) (out []decisions.Decision) {
	t.Helper()
	err := decisions.Read(o.decided, func(r *decisions.Record, err error) bool {
		if err != nil {
			t.Error(err)
		}
		if r.Decision != nil && r.Decision.Agent == agent {
			out = append(out, *r.Decision)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkTaken looks for calls that have left, and that the gateway did not take.
func checkTaken(t *testing.T, asked []script.Request) {
	t.Helper()
	var told []string
	for _, q := range asked {
		for _, m := range q.Messages {
			refused := strings.HasPrefix(m.Text, "Tool ") && strings.Contains(m.Text, " not found") ||
				strings.HasPrefix(m.Text, "Validation failed")
			if m.Role == "tool" && refused && !slices.Contains(told, m.CallID) {
				told = append(told, m.CallID)
				t.Errorf("the gateway did not take a call: %.300s", m.Text)
			}
		}
	}
}
