package admin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// asksFor is a call that the shipped rules ask a person about.
const asksFor = `{"id":"c9","tool":"exec","arguments":{"command":"python3 -c 'open(\"x\",\"w\")'"},"session":"s1","agent":"main"}`

func TestJudgeCall(t *testing.T) {
	r := adminOver(t)
	for _, c := range []struct {
		name, body string
		status     int
		effect     string
	}{
		{"a look", `{"id":"c1","tool":"exec","arguments":{"command":"ls"}}`, 200, "allow"},
		{"harm", `{"id":"c2","tool":"exec","arguments":{"command":"touch /etc/nothing-here"}}`, 200, "deny"},
		{"a file", `{"id":"c3","tool":"write","arguments":{"path":"/etc/nothing-here","content":""}}`, 200, "deny"},
		{"no tool", `{"arguments":{}}`, 400, ""},
		{"no object", `{"tool":"exec","arguments":"ls"}`, 400, ""},
		{"no arguments", `{"tool":"exec"}`, 400, ""},
		{"null", `{"tool":"exec","arguments":null}`, 400, ""},
		{"a member too many", `{"tool":"exec","arguments":{},"cmd":"ls"}`, 400, ""},
		{"nothing", ``, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.ask("POST", "/calls/judge", c.body)
			if got.status != c.status || got.get("effect").Str != c.effect ||
				(c.effect == "deny") != (got.get("message").Str != "" && got.get("rule").Exists()) {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// A person allows a call where it runs: it may run once, and the next time they are asked again.
func TestJudgeCallAsks(t *testing.T) {
	r := adminOver(t)
	asked := r.ask("POST", "/calls/judge", asksFor)
	id := asked.get("approval.id").Str
	if asked.get("effect").Str != "ask" || id == "" ||
		asked.get("shown").Str != `python3 -c 'open("x","w")'` || asked.get("why").Str == "" {
		t.Fatalf("%d %s", asked.status, asked.body)
	}
	if again := r.ask("POST", "/calls/judge", asksFor); again.get("approval.id").Str != id {
		t.Errorf("the same call is another question: %s", again.body)
	}
	if got := r.ask("POST", "/approvals/"+id+"/use",
		`{"by":"ada, in the chat"}`); got.get("state").Str != "used" ||
		got.get("by").Str != "ada, in the chat" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask("POST", "/approvals/"+id+"/use", `{}`); got.status != 409 {
		t.Errorf("it is used twice: %d %s", got.status, got.body)
	}
	second := r.ask("POST", "/calls/judge", asksFor)
	other := second.get("approval.id").Str
	if second.get("effect").Str != "ask" || other == id {
		t.Errorf("the approval holds for a second call: %s", second.body)
	}
	if got := r.ask("POST", "/approvals/"+other+"/allow", `{}`); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	for i, want := range []string{"allow", "ask"} { // allowed here: once, and nobody is asked in the chat
		if got := r.ask("POST", "/calls/judge", asksFor); got.get("effect").Str != want {
			t.Errorf("%d: %s", i, got.body)
		}
	}
	third := r.ask("POST", "/calls/judge", asksFor).get("approval.id").Str
	if got := r.ask("POST", "/approvals/"+third+"/deny", `{"why":"not today"}`); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask("POST", "/calls/judge", asksFor); got.get("effect").Str != "deny" ||
		got.get("approval").Exists() {
		t.Errorf("after a no: %s", got.body)
	}
}

// What a person reads in a chat is all of the call.
func TestJudgeCallShowsAll(t *testing.T) {
	r := adminOver(t)
	for args, want := range map[string]string{
		`{"command":"python3 -c '1'"}`:                             "python3 -c '1'",
		`{"command":"python3 -c '1'","workdir":"a<b","title":"T"}`: "python3 -c '1'\n{\"title\":\"T\",\"workdir\":\"a<b\"}",
		`{"command":"python3 -c '\u202e1'"}`:                       "python3 -c '⟨U+202E⟩1'",
	} {
		if got := r.ask("POST", "/calls/judge", `{"tool":"exec","arguments":`+args+
			`}`); got.get("effect").Str != "ask" || got.get("shown").Str != want {
			t.Errorf("%s: %s", args, got.body)
		}
	}
}

// A call that cannot be logged is not even asked about.
func TestJudgeCallThatCannotBeLogged(t *testing.T) {
	r := adminOver(t)
	r.api.Guard = guard.New(guard.Config{World: r.api.World, Approvals: r.api.Approvals,
		Decisions: fullDisk{}, Now: time.Now, Metrics: r.m, Log: r.api.Log})
	if got := r.ask("POST", "/calls/judge", asksFor); got.get("effect").Str != "deny" ||
		!strings.Contains(got.get("message").Str, "cannot be logged") {
		t.Errorf("%s", got.body)
	}
}

type fullDisk struct{}

func (fullDisk) Add(decisions.Decision) error { return errors.New("the disk is full") }

// A call that has left here is not judged a second time, once.
func TestJudgeCallThatLeft(t *testing.T) {
	r := adminOver(t)
	r.api.Guard.NoteDeparture("call_c9", policy.Subject{},
		&tools.Call{Name: "exec", Arguments: []byte(`{"command":"python3 -c 'open(\"x\",\"w\")'"}`)})
	left := `{"id":"callc9",` + asksFor[len(`{"id":"c9",`):]
	if got := r.ask("POST", "/calls/judge", left); got.get("effect").Str != "allow" ||
		!got.get("left").Bool() {
		t.Errorf("%s", got.body)
	}
	if got := r.ask("POST", "/calls/judge", left); got.get("effect").Str != "ask" {
		t.Errorf("a second time: %s", got.body)
	}
}

func TestJudgeCallNeedsAToken(t *testing.T) {
	r := adminOver(t)
	r.api.Token = ""
	if got := r.ask("POST", "/calls/judge", asksFor); got.status != 403 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
