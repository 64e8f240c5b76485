package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// fault is a way in which a model server fails twice before it is well again.
type fault struct {
	id    string
	reply script.Reply
}

func faults() []fault {
	return []fault{
		{"fault-401", script.Fail(http.StatusUnauthorized, "Unauthorized")},
		{"fault-402", script.Fail(http.StatusPaymentRequired, "Insufficient credits")},
		{"fault-403", script.Fail(http.StatusForbidden, "Forbidden")},
		{"fault-500", script.Fail(http.StatusInternalServerError, "EngineCore encountered an issue")},
		{"fault-503", script.Fail(http.StatusServiceUnavailable, "Loading model")},
		{"fault-reset", script.Empty().Ending(script.Reset)},
		{"fault-reset-in-text", script.Text("Half a sent").Ending(script.Reset)},
		{"fault-in-stream", script.HarmonyErrorInStream()},
	}
}

func brokenScenarios() []script.Scenario {
	healthy := script.Scenario{Name: "healthy", User: user("healthy"), Steps: []script.Reply{script.Text("Well.")}, Loop: true}
	out := []script.Scenario{healthy}
	for _, f := range faults() {
		out = append(out, script.Scenario{Name: f.id, User: user(f.id),
			Steps: []script.Reply{f.reply, f.reply, script.Text("Well again.")}})
	}
	return out
}

// brokenUpstream checks that a model server which fails for a while costs the
// gateway time, never the provider: by itself OpenClaw disables a provider for a
// minute after a 401.
func (b *bench) brokenUpstream(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.id, func(t *testing.T) {
			t.Parallel() // the gateway waits between its tries
			if a := b.say(t, "broken", f.id, f.id); a.status != http.StatusOK || a.text != "Well again." {
				t.Errorf("the user got %d %s", a.status, a.raw)
			}
			begin := time.Now()
			if a := b.say(t, "broken", f.id+"-next", "healthy"); a.text != "Well." {
				t.Errorf("the next turn got %d %s", a.status, a.raw)
			}
			if d := time.Since(begin); d > 30*time.Second {
				t.Errorf("the next turn took %v", d)
			}
		})
	}
}
