package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
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
		out = append(out, script.Scenario{Name: id, User: user(id), Steps: []script.Reply{script.Native("exec", command(line)), script.Text("Done.")}, Loop: true})
	}
	out = append(out, script.Scenario{Name: "server", User: user("server"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"exec python3 -m http.server `+port+`","background":true}`),
		script.Native("exec", command("for i in $(seq 50); do curl -sf http://localhost:"+port+"/made.txt && break; sleep 0.2; done")),
		script.Native("exec", command("pkill -f '[h]ttp.server "+port+"'; sleep 0.5; curl -s http://localhost:"+port+"/ || echo gone")),
		script.Text("Done."),
	}}, script.Scenario{Name: "slow", User: user("slow"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"setsid sleep 987 & sleep 654","timeoutSeconds":2}`), script.Text("Done."),
	}}, script.Scenario{Name: "pty", User: user("pty"), Loop: true, Steps: []script.Reply{
		script.Native("exec", `{"command":"python3 -c 'import sys; print(sys.stdout.isatty())'","pty":true}`), script.Text("Done."),
	}})
	return append(out, endScenario()...)
}

// TestConfined: a real gateway runs commands in the wrapper, and everybody reads them as they
// were sent.
func TestConfined(t *testing.T) {
	needEnabled(t)
	t.Setenv("TMPDIR", "/var/tmp") // the folder for temporary files may be written by agents
	b := &bench{run: gatewayRun(t)}
	home, _ := gatewayFolders(b.run)
	b.servers = map[string]*script.Server{guarded: script.New(confinedScenarios(home, freePort(t))...)}
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
	_, address := runSidecar(t, "/readyz", startModel(t, b.servers[guarded]), append(b.sidecar(t, guarded), state)...)
	b.gateway = startGatewayWith(t, b.run, []string{"OC_MORE=" + more, "MY_SECRET_TOKEN=x"}, provider{guarded, address})
	if err := os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine x login y password hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".env": "KEY=hunter3", "app.py": `print(open(".env").read()[:3])`} {
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
			call, result := b.asks(t, c.id)
			t.Logf("the model reads %s: %s", call.Arguments, result.Text)
			if !strings.Contains(result.Text, c.result) || c.not != "" && strings.Contains(result.Text, c.not) {
				t.Errorf("the model reads %q", result.Text)
			}
			if strings.Contains(call.Arguments, "confine") {
				t.Errorf("the wrapper is in the history: %s", call.Arguments)
			}
			if strings.Contains(result.Text, "PermissionError") != strings.Contains(result.Text, "This command ran confined") {
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
	if left, err := exec.Command("pgrep", "-f", "^sleep (987|654)").Output(); err == nil {
		t.Errorf("processes have outlived their command: %s", left)
	}
	if exists(home, "outside.txt") || !exists(b.gateway.dir, "made.txt") {
		t.Error("what was made is not where it belongs")
	}
}
