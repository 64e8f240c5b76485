package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// confinedScenarios are turns in which the model sends commands that only the kernel can hold,
// and a server at a port.
func confinedScenarios(home, port string) (out []script.Scenario) {
	for id, line := range map[string]string{
		"work":    `printf 'made\n' > made.txt && python3 -c 'print(open("made.txt").read() * 2)'`,
		"outside": `python3 -c 'open("` + home + `/outside.txt", "w")'`,
		"secret":  `python3 -c 'print(open("` + home + `/.netrc").read())'`,
		"inside":  `python3 -c 'print(open(".env").read())'`,
		"project": `python3 app.py`,
		"environ": `python3 -c 'import os; print(sorted(os.environ))'`,
		"asked":   "git push origin main",
		"network": `python3 -c 'import socket; socket.create_connection(("203.0.113.9", 80), 3)'`,
		"code":    "python3 -c 'import sys; sys.exit(7)'",
	} {
		out = append(out, script.Scenario{Name: id, User: user(id),
			Steps: []script.Reply{script.Native("exec", command(line)), script.Text("Done.")}, Loop: true})
	}
	out = append(out, script.Scenario{Name: "server", User: user("server"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"exec python3 -m http.server `+port+`","background":true}`),
		script.Native("exec", command("for i in $(seq 50); do curl -sf http://localhost:"+port+
			"/made.txt && break; sleep 0.2; done")),
		script.Native("exec", command("pkill -f '[h]ttp.server "+port+
			"'; sleep 0.5; curl -s http://localhost:"+port+"/ || echo gone")),
		script.Text("Done."),
	}}, script.Scenario{Name: "slow", User: user("slow"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"setsid sleep 987 & sleep 654","timeoutSeconds":2}`),
		script.Text("Done."),
	}}, script.Scenario{Name: "pty", User: user("pty"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"python3 -c 'import sys; print(sys.stdout.isatty())'","pty":true}`),
		script.Text("Done."),
	}})
	steps := []script.Reply{
		script.Native("exec", `{"command":"echo begun; setsid sleep 876 & sleep 543","background":true}`),
		script.Native("process", `{"action":"list"}`),
		script.Native("process", `{"action":"poll","sessionId":"SESSION","timeout":2000}`),
		script.Native("process", `{"action":"kill","sessionId":"SESSION"}`),
		script.Native("process", `{"action":"poll","sessionId":"SESSION","timeout":30000}`),
		script.Text("Done."),
	}
	choose := func(q script.Request) *script.Reply { return inSession(steps, q) }
	out = append(out, script.Scenario{Name: "process", User: user("process"), Choose: choose})
	return append(out, endScenario()...)
}

// TestConfined: a real gateway runs commands in the wrapper, and everybody reads them as they
// were sent.
func TestConfined(t *testing.T) {
	needEnabled(t)
	if moves(t) {
		return
	}
	t.Setenv("TMPDIR", "/var/tmp") // the folder for temporary files may be written by agents
	b := &bench{run: gatewayRun(t)}
	home, ws := gatewayFolders(b.run)
	authority := filepath.Join(ws, "ca.pem") // to pip a variable of the machine counts more than --cert
	fetch, files := clients(t)
	b.servers = map[string]*script.Server{
		guarded: script.New(slices.Concat(fetch, confinedScenarios(home, freePort(t)))...),
		lost:    script.New(lostScenarios()...),
	}
	if os.Getenv(ownNetwork) != "" {
		files["ca.pem"] = string(serveInternet(t))
	}
	more := filepath.Join(t.TempDir(), "more.json")
	if err := os.WriteFile(more, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := "XDG_STATE_HOME=" + t.TempDir()
	settings := exec.Command(binary, "openclaw") // says that the gateway is here
	settings.Env = append(os.Environ(), state)
	if said, err := settings.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	_, address := runSidecar(t, "/readyz", startModel(t, b.servers[guarded]), append(b.sidecar(t, guarded),
		state)...)
	away, elsewhere := b.startLost(t)
	b.gateway = startGateway(t, b.run, []string{"OC_MORE=" + more, "MY_SECRET_TOKEN=x",
		"CURL_CA_BUNDLE=" + authority, "REQUESTS_CA_BUNDLE=" + authority},
		provider{id: guarded, url: address}, provider{id: lost, url: elsewhere})
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine x login y password hunter2"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".env": "KEY=hunter3",
		"app.py": `print(open(".env").read()[:3])`} {
		if err := os.WriteFile(filepath.Join(b.gateway.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		id, result, not string
	}{
		{"work", "made\nmade\n", ""},
		{"outside", "PermissionError", ""},
		{"secret", "PermissionError", "hunter2"},
		{"inside", "PermissionError", "hunter3"},
		{"project", "KEY", "Error"},
		{"environ", "GOCACHE", "MY_SECRET_TOKEN"},
		{"asked", "approval", "confine"},
		{"network", "Error", "timed out"},
		{"code", "(Command exited with code 7)", ""},
		{"server", "gone", "made"}, // pkill also finds the shell of the gateway, which it may not end
		{"slow", "timed out", ""},
		{"pty", "True", ""},
	} {
		t.Run(c.id, func(t *testing.T) {
			call, result := b.asks(t, guarded, c.id)
			t.Logf("the model reads %s: %s", call.Arguments, result.Text)
			if !strings.Contains(result.Text, c.result) || c.not != "" && strings.Contains(result.Text,
				c.not) {
				t.Errorf("the model reads %q", result.Text)
			}
			if strings.Contains(call.Arguments, "confine") {
				t.Errorf("the wrapper is in the history: %s", call.Arguments)
			}
			if strings.Contains(result.Text, "PermissionError") != strings.Contains(result.Text,
				"This command ran confined") {
				t.Error("the model is not told that the kernel held it, or is told so for nothing")
			}
		})
	}
	t.Run("a server of one command is reached by the next", func(t *testing.T) {
		var read []string
		asked := b.servers[guarded].Requests("server")
		for _, m := range asked[len(asked)-1].Messages {
			if m.Role == "tool" {
				read = append(read, m.Text)
			}
		}
		if len(read) < 3 || !strings.Contains(read[1], "made") {
			t.Errorf("the model reads %q", read)
		}
	})
	t.Run("process", b.backgroundRun)
	t.Run("elsewhere", func(t *testing.T) { b.elsewhere(t, away) })
	if os.Getenv(ownNetwork) != "" {
		t.Run("clients", func(t *testing.T) { b.fetched(t, files) })
	}
	if left, err := exec.Command("pgrep", "-f", "^sleep (987|654|876|543)").Output(); err == nil {
		t.Errorf("processes have outlived their command: %s", left)
	}
	if exists(home, "outside.txt") || !exists(b.gateway.dir, "made.txt") {
		t.Error("what was made is not where it belongs")
	}
}

// backgroundRun lists, polls and kills a confined command with the gateway's own tool.
func (b *bench) backgroundRun(t *testing.T) {
	b.asks(t, guarded, "process")
	asked := b.servers[guarded].Requests("process")
	read := results(asked[len(asked)-1].Messages)
	t.Logf("the model reads %q", read)
	if len(read) != 5 {
		t.Fatalf("%d results", len(read))
	}
	for i, want := range []string{"Command still running", "running", "begun", "Termination requested",
		"Process stopped by request"} {
		if !strings.Contains(read[i], want) || strings.Contains(read[i], "--ticket") {
			t.Errorf("result %d is %q", i, read[i])
		}
	}
}

// results are what tools answered.
func results(messages []script.Message) (texts []string) {
	for _, m := range messages {
		if m.Role == "tool" {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// lost is the provider whose program is not where the gateway runs commands, as it is with a
// gateway that has a sandbox of its own.
const lost = "lost"

func lostScenarios() []script.Scenario {
	call := script.Native("exec", command("python3 -c 'print(6 * 7)'"))
	return append([]script.Scenario{{Name: "elsewhere", User: user("elsewhere"), Steps: []script.Reply{
		call, call, script.Native("exec", command("echo plain")), script.Text("Done."),
	}, Loop: true}}, endScenario()...)
}

func (b *bench) startLost(t *testing.T) (p *process, address string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gpt-oss-executor")
	text, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(program, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, address = runProgram(t, program, "/readyz", startModel(t, b.servers[lost]),
		append(b.sidecar(t, guarded), "GPTOSS_EXECUTOR_CONFINE=here",
			"GPTOSS_EXECUTOR_STATE="+filepath.Join(t.TempDir(), "state"))...)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	return p, address
}

// elsewhere: the first result shows that nothing can be confined. It is said once, and from
// then on a person is asked as without confinement.
func (b *bench) elsewhere(t *testing.T, p *process) {
	a := b.say(t, lost, "elsewhere", "elsewhere")
	asked := b.servers[lost].Requests("elsewhere")
	read := results(asked[len(asked)-1].Messages)
	t.Logf("the model reads %q, the user %q", read, a.text)
	if len(read) != 3 {
		t.Fatalf("%d results", len(read))
	}
	for i, want := range []string{"send the same call again", "approval", "plain"} {
		if !strings.Contains(read[i], want) || i > 0 && strings.Contains(read[i], "send the same call") {
			t.Errorf("result %d is %q", i, read[i])
		}
	}
	if n := strings.Count(p.log.tail(1<<20), "event=gateway_elsewhere"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}
