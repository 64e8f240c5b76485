package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// gateway is a running OpenClaw gateway.
type gateway struct {
	url   string
	token string
	dir   string // the agent's workspace
}

// provider is a base URL with the name under which the gateway knows it, and the API that the
// gateway speaks there; "": chat completions.
type provider struct{ id, url, api string }

// gatewayRun makes the folder of a gateway.
func gatewayRun(t *testing.T) string {
	t.Helper()
	run, err := os.MkdirTemp("", "openclaw-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, run) })
	return run
}

// gatewayFolders are the agent's home and workspace, as gateway.sh has them.
func gatewayFolders(run string) (home, workspace string) {
	return filepath.Join(run, "home"), filepath.Join(run, "ws")
}

// startGateway installs OpenClaw if need be and starts a gateway with these providers, and with more in
// its environment: gateway.sh says what it knows. It takes 11 s of the processor, and 45 s more the first
// time. So tests that change no settings of the machine run beside each other.
func startGateway(t *testing.T, run string, env []string, providers ...provider) *gateway {
	t.Helper()
	install(t, "../testdata/openclaw")
	port := freePort(t)
	g := &gateway{url: "http://127.0.0.1:" + port, token: "e2e"}
	_, g.dir = gatewayFolders(run)
	args := []string{run}
	for _, p := range providers {
		name := p.id
		if p.api != "" {
			name += "@" + p.api
		}
		args = append(args, name+"="+p.url+"/v1")
	}
	begin := time.Now()
	startReady(t, run, g.url, func() *exec.Cmd {
		cmd := exec.Command("../testdata/openclaw/gateway.sh", args...)
		cmd.Env = append(append(os.Environ(), "OC_PORT="+port, "OC_TOKEN="+g.token), env...)
		return cmd
	})
	t.Logf("the gateway is ready after %v", time.Since(begin).Round(100*time.Millisecond))
	return g
}

// startReady starts a gateway until it is ready at url. On a busy machine it gives up on itself, since its
// worker is not there within five seconds. What is left of one that has ended, such as that worker, still owns
// its state, and the next could not have it.
func startReady(t *testing.T, run, url string, command func() *exec.Cmd) *process {
	t.Helper()
	const times = 4
	for range times {
		within(t, "the gateway before has let go of its state", func() bool {
			return len(processes(t, "environ", "OPENCLAW_STATE_DIR="+run+"/state\x00")) == 0
		})
		p := start(t, "gateway", command())
		if p.answers(t, url+"/readyz") {
			return p
		}
		t.Logf("the gateway ended before it was ready:\n%s", p.log.tail(1000))
	}
	t.Fatalf("the gateway ended %d times before it was ready", times)
	return nil
}

// installing lets no two tests fetch the same at once.
var installing sync.Mutex

// install fetches what a folder's package.json names, and says where it is.
func install(t *testing.T, folder string) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	cmd := exec.Command("../testdata/openclaw/install.sh", folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("install %s: %v", folder, err)
	}
	return string(bytes.TrimSpace(out))
}

// removeAll removes a folder that a program which is ending may still write to.
func removeAll(t *testing.T, dir string) {
	t.Helper()
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond) // a program that is ending still writes there
	}
	t.Errorf("remove %s: %v", dir, err)
}

// answer is what the gateway replied to a turn.
type answer struct {
	status int
	text   string // content of the message
	raw    string // the whole body
}

// turn runs one turn of the agent main: the user's message, all the tools it leads to,
// and the model's last word.
func (g *gateway) turn(ctx context.Context, provider, session, message string) (answer, error) {
	return g.turnOf(ctx, mainAgent, provider, session, message)
}

// turnOf runs one turn of an agent.
func (g *gateway) turnOf(ctx context.Context, agent, provider, session, message string) (answer, error) {
	body, err := json.Marshal(map[string]any{
		"model":    "openclaw/" + agent,
		"messages": []map[string]string{{"role": "user", "content": message}},
	})
	if err != nil {
		return answer{}, err
	}
	status, raw, err := g.post(ctx, "/v1/chat/completions", body, map[string]string{
		"x-openclaw-session-key": sessionKey(agent, session),
		"x-openclaw-model":       provider + "/gpt-oss",
	})
	if err != nil {
		return answer{}, fmt.Errorf("run a turn: %w", err)
	}
	var wire struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return answer{}, fmt.Errorf("read the gateway's answer: %w in %q", err, raw)
	}
	a := answer{status: status, raw: string(raw)}
	if len(wire.Choices) > 0 {
		a.text = wire.Choices[0].Message.Content
	}
	return a, nil
}

// history is the transcript of a session as the gateway has stored it.
func (g *gateway) history(ctx context.Context, session string) (string, error) {
	body, err := json.Marshal(map[string]any{
		"tool": "sessions_history",
		"args": map[string]any{"sessionKey": sessionKey(mainAgent, session), "includeTools": true},
	})
	if err != nil {
		return "", err
	}
	status, raw, err := g.post(ctx, "/tools/invoke", body, nil)
	for range 3 { // the tool asks the gateway itself, which gives up after ten seconds on a busy machine
		if err == nil && status == http.StatusInternalServerError {
			status, raw, err = g.post(ctx, "/tools/invoke", body, nil)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the history: %w", err)
	}
	var wire struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(raw, &wire); err != nil || status != http.StatusOK ||
		len(wire.Result.Content) != 1 {
		return "", fmt.Errorf("read the history: %d %q %v", status, raw, err)
	}
	return wire.Result.Content[0].Text, nil
}

// mainAgent is the agent of a gateway that names none.
const mainAgent = "main"

func sessionKey(agent, session string) string { return "agent:" + agent + ":e2e-" + session }

func (g *gateway) post(ctx context.Context, path string, body []byte,
	header map[string]string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Close = true // the gateway closes a connection that was idle for 5 s, maybe just as it is used again
	req.Header.Set("Authorization", "Bearer "+g.token)
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err
}
