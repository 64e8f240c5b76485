package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// fault is a way in which a model server fails.
type fault struct {
	id    string
	reply script.Reply
	says  string // what the user reads if it goes on; "": the gateway's own words
	asks  int    // requests to the model server then
}

// passing are faults after which the server is soon well again.
func passing() []fault {
	return []fault{
		{id: "fault-500", reply: script.Fail(http.StatusInternalServerError, "EngineCore encountered an issue")},
		{id: "fault-503", reply: script.Fail(http.StatusServiceUnavailable, "Loading model")},
		{id: "fault-reset", reply: script.Empty().Ending(script.Reset)},
		{id: "fault-reset-in-text", reply: script.Text("Half a sent").Ending(script.Reset)},
		{id: "fault-in-stream", reply: script.HarmonyErrorInStream()},
	}
}

// lasting are faults that no new try mends.
func lasting() []fault {
	cut, filtered := script.Text("It is half a"), script.Text("It is half a")
	cut.Finish, filtered.Finish = "repetition", "content_filter"
	return []fault{
		{"lasting-401", script.Fail(http.StatusUnauthorized, "Unauthorized"), "turned gpt-oss-executor away. It says: Unauthorized.", 1},
		{"lasting-402", script.Fail(http.StatusPaymentRequired, "Insufficient credits"), "It says: Insufficient credits.", 1},
		{"lasting-403", script.Fail(http.StatusForbidden, "Forbidden"), "It says: Forbidden.", 1},
		{"lasting-empty", script.Empty(), "The model gave an empty reply", 3},
		{"lasting-thought", servers.OnlyThought("Hm."), "gave no answer", 2},
		{"lasting-harmony-error", script.HarmonyError(), "could not read what the model wrote", 3},
		{"lasting-repetition", cut, "It is half a\n\nThe model server broke off this reply (repetition).", 1},
		{"lasting-filter", filtered, "It is half a\n\nThe content filter of the model server cut this reply off.", 1},
	}
}

func brokenScenarios() []script.Scenario {
	healthy := script.Scenario{Name: "healthy", User: user("healthy"),
		Steps: []script.Reply{script.Text("Well.")}, Loop: true}
	out := []script.Scenario{healthy}
	for _, f := range passing() {
		out = append(out, script.Scenario{Name: f.id, User: user(f.id),
			Steps: []script.Reply{f.reply, f.reply, script.Text("Well again.")}})
	}
	for _, f := range lasting() {
		out = append(out, script.Scenario{Name: f.id, User: user(f.id), Steps: []script.Reply{f.reply},
			Loop: true})
	}
	return out
}

// brokenUpstream checks that a model server which fails for a while costs the
// gateway time, never the provider: by itself OpenClaw disables a provider for a
// minute after a 401.
func (b *bench) brokenUpstream(t *testing.T) {
	for _, f := range passing() {
		t.Run(f.id, func(t *testing.T) {
			t.Parallel() // the gateway waits between its tries
			if a := b.say(t, "broken", f.id, f.id); a.status != http.StatusOK || a.text != "Well again." {
				t.Errorf("the user got %d %s", a.status, a.raw)
			}
			if a := b.say(t, "broken", f.id+"-next", "healthy"); a.text != "Well." {
				t.Errorf("the next turn got %d %s", a.status, a.raw)
			}
		})
	}
}

// hopelessUpstream checks that the user reads one true sentence where no new try helps, that
// the gateway does not try again, and that it keeps the provider.
func (b *bench) hopelessUpstream(t *testing.T) {
	for _, f := range lasting() {
		t.Run(f.id, func(t *testing.T) {
			a := b.say(t, "broken", f.id, f.id)
			if a.status != http.StatusOK || !strings.Contains(a.text, f.says) {
				t.Errorf("the user got %d %s", a.status, a.raw)
			}
			if n := len(b.servers["broken"].Requests(f.id)); n != f.asks {
				t.Errorf("%d requests to the model server, want %d", n, f.asks)
			}
			if a := b.say(t, "broken", f.id, "healthy"); a.text != "Well." {
				t.Errorf("the next turn of the session got %d %s", a.status, a.raw)
			}
		})
	}
	t.Run("away", func(t *testing.T) {
		a := b.say(t, away, "away", "healthy")
		if a.status != http.StatusOK || !strings.Contains(a.text, "the model server cannot be reached") {
			t.Errorf("the user got %d %s", a.status, a.raw)
		}
	})
}
