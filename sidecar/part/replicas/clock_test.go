package replicas

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// skewed is a replica whose clock is wrong, when it has asked for the time.
func skewed(t *testing.T, address string, by time.Duration) replica {
	t.Helper()
	r := run(t, address, func(c *Config) { c.Now = func() time.Time { return time.Now().Add(by) } })
	ruletest.Soon(t, "it has the time", func() bool { return time.Until(r.Clock()).Abs() < time.Second })
	return r
}

// A clock that is wrong at one replica changes nothing for the others, and somebody is told of it.
func TestWrongClock(t *testing.T) {
	server := servers.StartValkey(t)
	right, ahead, behind := skewed(t, server.Address, 0), skewed(t, server.Address, 11*time.Minute), skewed(t,
		server.Address, -11*time.Minute)

	limits := approvals.Limits{Pending: 10 * time.Minute, Granted: 10 * time.Minute, Denied: 10 * time.Minute,
		PerSession: 10, Total: 100}
	call := func(session string) approvals.Call { return approvals.Call{Tool: "exec", Session: session} }
	here := approvals.New(limits, right.Clock, telemetry.New(), right.Board(), "")
	there := approvals.New(limits, ahead.Clock, telemetry.New(), ahead.Board(), "")
	asked := here.Request(call("s"), approvals.Reason{})
	there.Request(call("t"), approvals.Reason{})
	if e, err := here.Allow(asked.ID, "sam"); err != nil || e.State != approvals.Allowed ||
		there.Remaining(&e) < 9*time.Minute {
		t.Errorf("a question at one replica, and what another does: %v %v", e.State, err)
	}

	did, sees := state.NewRates(10, behind.Rates()), state.NewRates(10, right.Rates())
	did.Add("s", behind.Clock(), map[string]int{"deletes": 50})
	over, end := context.WithCancel(t.Context())
	end()
	did.Share(over)
	ruletest.Soon(t, "all is counted", func() bool {
		return sees.Session("s", right.Clock()).Count("deletes", 10*time.Minute) == 50
	})

	for _, r := range []replica{right, ahead, behind, right} {
		r.exchange(t.Context(), "v1")
	}
	wrong := map[string]float64{ahead.Replica: 660, behind.Replica: -660}
	for _, p := range right.Peers() {
		if math.Abs(p.Ahead-wrong[p.ID]) > 1 || time.Until(p.Seen).Abs() > time.Minute {
			t.Errorf("%+v", p)
		}
	}
	if len(right.Peers()) != 3 || right.log.Count("clock_differs") != 0 ||
		ahead.log.Count("clock_differs") != 1 || behind.log.Count("clock_differs") != 1 {
		t.Errorf("%+v; %s; %s; %s", right.Peers(), right.log, ahead.log, behind.log)
	}
}

// Where the server's user may not ask for the time, replicas know each other all the same.
func TestNoTime(t *testing.T) {
	server := servers.StartValkey(t, "--user", "bob", "on", ">sesame", "~gptoss:*", "+@all", "-time")
	bob := func(c *Config) { c.User, c.Password = "bob", "sesame" }
	r, other := run(t, server.Address, bob), run(t, server.Address, bob)
	for _, each := range []replica{r, other, r} {
		each.exchange(t.Context(), "v1")
	}
	if len(r.Peers()) != 2 || r.log.Count("clock_unknown") != 1 || r.log.Count("shared_refuses") != 0 ||
		time.Until(r.Clock()).Abs() > time.Second {
		t.Errorf("%+v: %s", r.Peers(), r.log)
	}
}
