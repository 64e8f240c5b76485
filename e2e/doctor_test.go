package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// doctor: what it says of a real gateway: with its token, with a wrong one, and without; and of its
// config, a copy of which it mends.
func (b *bench) doctor(t *testing.T) (play func(t *testing.T)) {
	b.providers = append(b.providers, provider{id: openclaw.Provider, url: "http://127.0.0.1:8001/v1"})
	return b.examined
}

func (b *bench) examined(t *testing.T) {
	d := script.VLLM()
	models := startModel(t, servers.New(d,
		servers.StartOf(d, "--tool-call-parser openai --enable-auto-tool-choice")))
	g := b.gateway
	look := func(token string, args ...string) (checks map[string][2]string) {
		cmd := exec.Command(binary, append([]string{"doctor", "--json", "--upstream", models, "--gateway",
			g.url}, args...)...)
		cmd.Env = append(os.Environ(), "OPENCLAW_GATEWAY_TOKEN="+token, "XDG_STATE_HOME="+t.TempDir())
		var said log
		cmd.Stderr = &said
		out, _ := cmd.Output() // the exit code says that something fails; the checks say what
		var doc struct {
			Checks []struct{ Name, Status, Found, Fix string }
		}
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatalf("%v: %s%s", err, out, said.tail(20))
		}
		checks = map[string][2]string{}
		for _, c := range doc.Checks {
			checks[c.Name] = [2]string{c.Status, c.Found + " / " + c.Fix}
		}
		return checks
	}
	right := look(g.token)
	if right["gateway"][0] != "ok" || right["gateway_token"][0] != "ok" || right["gateway_tools"][0] == "" ||
		right["tool_calls"][0] != "ok" {
		t.Errorf("%v", right)
	}
	for _, token := range []string{"not-the-token-at-all", ""} {
		if wrong := look(token); wrong["gateway_token"][0] != "fail" ||
			!strings.Contains(wrong["gateway_token"][1], "OPENCLAW_GATEWAY_TOKEN") {
			t.Errorf("%v", wrong)
		}
	}
	config := filepath.Join(t.TempDir(), "openclaw.json")
	write(t, config, readFile(t, filepath.Join(b.run, "openclaw.json")))
	before := look(g.token, "--config", config)
	if before["config_tool_search"][0] == "ok" {
		t.Errorf("%v", before)
	}
	if after := look(g.token, "--config", config, "--fix"); after["config_tool_search"][0] != "ok" ||
		after["config_models"][0] == "fail" {
		t.Errorf("before %v\nafter %v", before, after)
	}
	show(t, "doctor before: "+before["config_tool_search"][1])
}
