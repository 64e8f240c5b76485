package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// marking is a command that a person is asked about, and that leaves a file.
func marking(file string) string { return `python3 -c 'open("` + file + `","w")'` }

// asksScenarios are turns in which the model of a provider wants what a person must allow.
func asksScenarios(by string) (out []script.Scenario) {
	marking := func(id string) string { return marking(by + "-" + id) }
	for id, steps := range map[string][]script.Reply{
		"nobody":  {script.Native("exec", command(marking("nobody")))},
		"allowed": {script.Native("exec", command(marking("allowed")))},
		"denied":  {script.Native("exec", command(marking("denied")))},
		"shape": {script.Native("exec", command("cd marks && "+marking("shape"))),
			script.Native("exec", `{"command":`+quoted(marking("shape"))+`,"workdir":"marks"}`)},
		"again":   {script.Native("exec", command("git config --file setting --add a.b c"))},
		"look":    {script.Native("tool_call", `{"id":"nodes","args":{"action":"status"}}`)},
		"fine":    {script.Native("exec", command("touch marks/"+by+"-fine"))},
		"doubted": {script.Native("exec", command("touch marks/"+by+"-doubted"))},
	} {
		out = append(out, script.Scenario{Name: id, User: user(id),
			Steps: append(steps, script.Text("Done.")), Loop: true})
	}
	reviewer := script.Scenario{Name: "reviewer", User: "Review this pending exec request.", Loop: true,
		Choose: review}
	return append(out, append(endScenario(), reviewer)...)
}

// review is what a model says that OpenClaw has review a command, with mode: auto.
func review(q script.Request) *script.Reply {
	said := script.Text(`{"decision":"allow","risk":"low","rationale":"It makes a file."}`)
	if strings.Contains(string(q.Body), "-doubted") {
		said = script.Text(`{"decision":"deny","risk":"high","rationale":"Nobody wants that file."}`)
	}
	return &said
}

// Why a person is asked about a marking, as the shipped rules say it, and with texts that
// leave a mark if a shell runs them.
const (
	asksWhy = "This runs code inside the command, which no rule has checked."
	oddWhy  = "It's `touch marks/odd` $(touch marks/odd); touch marks/odd & \"odd\"."
)

// asksBench is a gateway with more of its openclaw.json, and with a provider and a sidecar for each
// API, which are named as it.
func asksBench(t *testing.T, more string, apis ...string) (*bench, map[string]*process) {
	t.Helper()
	b, sidecars := &bench{run: gatewayRun(t), servers: map[string]*script.Server{}}, map[string]*process{}
	rules := changedRules(t, asksWhy, oddWhy)
	for _, api := range apis {
		b.servers[api] = script.New(asksScenarios(api)...)
		p, address := runSidecar(t, "/readyz", startModel(t, b.servers[api]), append(b.sidecar(t, guarded),
			"GPTOSS_EXECUTOR_RULES="+rules)...)
		sidecars[api], b.providers = p, append(b.providers, provider{api, address, api})
	}
	settings := filepath.Join(t.TempDir(), "more.json")
	if err := os.WriteFile(settings, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	b.gateway = startGateway(t, b.run, []string{"OC_MORE=" + settings}, b.providers...)
	if err := os.Mkdir(filepath.Join(b.gateway.dir, "marks"), 0o755); err != nil {
		t.Fatal(err)
	}
	return b, sidecars
}

// asks runs a turn, and gives the last call and its result as the model of the provider reads them.
func (b *bench) asks(t *testing.T, by, id string) (call script.Call, result script.Message) {
	t.Helper()
	a := b.say(t, by, by+"-"+id, id)
	if a.text != "Done." {
		t.Errorf("the user reads %q", a.text)
	}
	asked := b.servers[by].Requests(id)
	return lastCall(asked[len(asked)-1].Messages)
}

func (b *bench) marked(file string) bool { return exists(b.gateway.dir, file) }

// shown is what a person was shown.
type shown struct {
	Ready            bool
	Command, Warning string
}

// approver is a person who answers every question of a gateway like this.
func (g *gateway) approver(t *testing.T, run, decision string) <-chan shown {
	t.Helper()
	code, err := os.Open("../testdata/openclaw/approver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "bash", "-c",
		`. "$1/env" && cd "$(dirname "$OC_MAIN")" && exec "$OC_NODE" --input-type=module - "$2" "$3" "$4"`,
		"approver", run, g.url, g.token, decision)
	cmd.Stdin = code
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := make(chan shown, 8)
	go func() {
		defer close(seen)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var s shown
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				seen <- s
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was told to end
		if t.Failed() {
			t.Logf("the approver said %s", failed.String())
		}
	})
	select {
	case s := <-seen:
		if !s.Ready {
			t.Fatalf("the approver is not ready: %s", failed.String())
		}
	case <-time.After(patience):
		t.Fatal("the approver does not reach the gateway")
	}
	return seen
}

// TestAsks: a real gateway that is set up to ask.
func TestAsks(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	b, sidecars := asksBench(t, "{}", apis...)
	for _, api := range apis {
		t.Run(api, func(t *testing.T) { b.asksOver(t, api, sidecars[api]) })
	}
}

func (b *bench) asksOver(t *testing.T, api string, sidecar *process) {
	mark := func(id string) string { return api + "-" + id }
	const why = "  # gpt-oss-executor asks: " + oddWhy + " Instead: Write it to a file"

	t.Run("nobody is there", func(t *testing.T) {
		call, result := b.asks(t, api, "nobody")
		t.Logf("the model reads %s: %s", call.Arguments, result.Text)
		if b.marked(mark("nobody")) ||
			!strings.Contains(result.Text, "cannot wait for interactive exec approval") {
			t.Error("it ran, or something else has happened")
		}
		if !sameJSON(call.Arguments, command(marking(mark("nobody")))) {
			t.Error("what was added is in the history")
		}
		if !strings.Contains(result.Text, "A person had to allow this call first: "+oddWhy) ||
			!strings.Contains(result.Text, "Instead: Write it to a file") {
			t.Error("the model is not told why, and what it may do")
		}
	})
	t.Run("a gateway tool that looks", func(t *testing.T) {
		if _, result := b.asks(t, api, "look"); !strings.Contains(result.Text, "nodes") ||
			strings.Contains(result.Text, "not found") {
			t.Errorf("the model reads %q", result.Text)
		}
	})
	for _, c := range []struct {
		id, decision, result string
		runs                 bool
	}{
		{"allowed", "allow-once", "(no output)", true},
		{"denied", "deny", "user-denied", false},
		{"shape", "allow-once", "(no output)", true},
	} {
		t.Run(c.id, func(t *testing.T) {
			seen := b.gateway.approver(t, b.run, c.decision)
			_, result := b.asks(t, api, c.id)
			t.Logf("the model reads %s", result.Text)
			if !strings.Contains(result.Text, c.result) || b.marked(mark(c.id)) != c.runs &&
				b.marked("marks/"+mark(c.id)) != c.runs {
				t.Errorf("ran: %v", b.marked(mark(c.id)))
			}
			select {
			case s := <-seen:
				t.Logf("the person reads %s", s.Command)
				if !strings.HasPrefix(s.Command, marking(mark(c.id))+why) {
					t.Error("not the command, or not why")
				}
			default:
				t.Error("nobody was asked")
			}
		})
	}
	if b.marked("marks/odd") {
		t.Error("a shell has run the reason")
	}
	if said := sidecar.log.tail(1 << 20); strings.Contains(said, "gateway_does_not_ask") {
		t.Errorf("the gateway asks, and the log says it does not: %s", said)
	}
}

// TestAsksOfAGatewayThatDoesNot: as OpenClaw is by default, it runs what it shall ask
// about. This is seen as soon as one has run at once, and the next call does not leave.
func TestAsksOfAGatewayThatDoesNot(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	by := apis[0]
	b, sidecars := asksBench(t, `{"tools":{"exec":{"ask":"off"}}}`, by)
	seen := func() int { return strings.Count(sidecars[by].log.tail(1<<20), "gateway_does_not_ask") }
	ran := func() int {
		text, err := os.ReadFile(filepath.Join(b.gateway.dir, "setting"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "b = c")
	}
	for turn := 1; seen() == 0; turn++ { // where the machine is busy, it has not run at once
		b.say(t, by, fmt.Sprint("again-", turn), "again")
		if n := ran(); n != turn {
			t.Fatalf("after %d turns it ran %d times", turn, n)
		}
		if turn == 20 {
			t.Fatal("it is not seen that nobody is asked")
		}
	}
	before := ran()
	b.say(t, by, "again-last", "again")
	if n := ran(); n != before || seen() != 1 || b.marked("marks/odd") {
		t.Errorf("it ran %d times before, and %d after; seen %d times", before, n, seen())
	}
	asked := b.servers[by].Requests("again")
	if told := string(asked[len(asked)-1].Body); !strings.Contains(told, "no person can be asked here") {
		t.Errorf("the model reads %s", told)
	}
}

// TestAsksBesideAReviewer: with mode: auto, OpenClaw has its default model review what its own list
// does not have. It is asked through the sidecar. What the sidecar marks is for a person, and no model
// is asked.
func TestAsksBesideAReviewer(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	api := apis[len(apis)-1]
	b, _ := asksBench(t, `{"tools":{"exec":{"mode":"auto","security":null,"ask":null}}}`, api)
	reviews := func() int { return len(b.servers[api].Requests("reviewer")) }
	for _, c := range []struct {
		id, decision, result string // decision: of a person; "": nobody is there
		reviews              int
		runs                 bool
	}{
		{"fine", "", "(no output)", 1, true},
		{"doubted", "", "Nobody wants that file.", 1, false},
		{"nobody", "", "cannot wait for interactive exec approval", 0, false},
		{"allowed", "allow-once", "(no output)", 0, true},
	} {
		t.Run(c.id, func(t *testing.T) {
			var seen <-chan shown
			if c.decision != "" {
				seen = b.gateway.approver(t, b.run, c.decision)
			}
			before := reviews()
			_, result := b.asks(t, api, c.id)
			t.Logf("the model reads %s", result.Text)
			mark := api + "-" + c.id
			if ran := b.marked(mark) || b.marked("marks/"+mark); ran != c.runs ||
				!strings.Contains(result.Text, c.result) {
				t.Errorf("ran: %v", ran)
			}
			if n := reviews() - before; n != c.reviews {
				t.Errorf("a model reviewed %d times, want %d", n, c.reviews)
			}
			if c.decision != "" && len(seen) != 1 {
				t.Errorf("a person was asked %d times", len(seen))
			}
		})
	}
}
