package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// host is a machine with OpenClaw, and with a gateway that does not know the sidecar yet.
type host struct {
	run, config, listen string
	env                 []string
	gateway             *gateway
}

// aComment stands in the config of a host.
const aComment = "// the settings of this gateway"

func newHost(t *testing.T) *host {
	t.Helper()
	prefix := install(t, "../testdata/openclaw")
	port := freePort(t)
	h := &host{run: gatewayRun(t), listen: testkit.Address(t)}
	h.config = filepath.Join(h.run, "openclaw.json")
	_, ws := gatewayFolders(h.run)
	h.gateway = &gateway{url: "http://127.0.0.1:" + port, token: "e2e", dir: ws}
	prepare := exec.Command("../testdata/openclaw/gateway.sh", h.run, "other=http://127.0.0.1:9/v1")
	prepare.Env = append(os.Environ(), "OC_STEP=config", "OC_PORT="+port, "OC_TOKEN="+h.gateway.token)
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("prepare the gateway: %v: %s", err, out)
	}
	text, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.config, aComment+"\n"+string(text))
	bin := t.TempDir()
	program := filepath.Join(bin, "openclaw")
	// The environment of the gateway names its config; whoever asks about another one is heard.
	write(t, program, fmt.Sprintf("#!/bin/sh\nasked=$OPENCLAW_CONFIG_PATH\n. '%s/env'\nexport OPENCLAW_CONFIG_PATH=\"${asked:-$OPENCLAW_CONFIG_PATH}\"\n"+
		"exec \"$OC_NODE\" '%s/node_modules/openclaw/openclaw.mjs' \"$@\"\n", h.run, prefix))
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	home, _ := gatewayFolders(h.run)
	h.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+home,
		"XDG_STATE_HOME="+filepath.Join(h.run, "xdg"))
	return h
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// openclaw runs the command openclaw of a sidecar, and returns what it prints.
func (h *host) openclaw(ctx context.Context, t *testing.T, program string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(ctx, program, append([]string{"openclaw"}, args...)...)
	c.Env = h.env
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("openclaw %s: %v: %s%s", args, err, out, &said)
	}
	if strings.Contains(said.String(), "was not asked") {
		t.Errorf("OpenClaw itself was not asked: %s", &said)
	}
	return string(out)
}

// url is where the gateway asks the sidecar.
func (h *host) url() string { return "http://" + h.listen + "/v1" }

// start starts the gateway with the config that is there.
func (h *host) start(t *testing.T) *process {
	t.Helper()
	return startReady(t, h.run, h.gateway.url, func() *exec.Cmd {
		c := exec.Command("../testdata/openclaw/gateway.sh", h.run)
		c.Env = append(slices.Clone(h.env), "OC_STEP=run")
		return c
	})
}

// sidecars are the processes that serve at the host's address.
func (h *host) sidecars(t *testing.T) (pids []int) {
	t.Helper()
	return processes(t, "cmdline", "serve\x00--listen\x00"+h.listen+"\x00")
}

// only is the one sidecar that there must be.
func (h *host) only(t *testing.T) int {
	t.Helper()
	pids := h.sidecars(t)
	if len(pids) != 1 {
		t.Fatalf("there are %d sidecars: %v", len(pids), pids)
	}
	return pids[0]
}

// gone waits until there is no sidecar.
func (h *host) gone(t *testing.T) {
	t.Helper()
	within(t, "there is no sidecar", func() bool { return len(h.sidecars(t)) == 0 })
}

// say runs a turn with the model that is the gateway's default.
func (h *host) say(ctx context.Context, t *testing.T, session, scenario string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := h.gateway.turn(ctx, openclaw.Provider, session, "Please do: "+scenario)
	if err != nil {
		t.Error(err)
	}
	return a
}

// TestFirstTurn goes from a machine with OpenClaw and a model server to the first good turn with
// the three commands of README, within two minutes of the processor: other tests use it, too.
func TestFirstTurn(t *testing.T) {
	needEnabled(t)
	t.Setenv("TMPDIR", "/var/tmp") // the folder for temporary files may be written by agents
	h := newHost(t)
	s := script.New(script.Scenario{Name: "first", User: user("first"), Steps: []script.Reply{
		script.LeakedHarmony("exec", `{"command":"echo ran > first.txt"}`), script.Text("It ran."),
	}})
	model := startModel(t, s)
	ctx, began := t.Context(), time.Now()
	program := filepath.Join(t.TempDir(), "gpt-oss-executor")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	said := h.openclaw(ctx, t, program, "--write", h.config, "--url", h.url(), "--local-service",
		"--upstream", model+"/v1", "--context-window", "65536")
	gateway := h.start(t)
	a := h.say(ctx, t, "first", "first")
	if a.text != "It ran." || !exists(h.gateway.dir, "first.txt") {
		t.Fatalf("the user got %d %s; the model was asked %+v", a.status, a.raw, s.Requests("first"))
	}
	took := time.Since(began)
	gateway.stop(t)
	used := time.Duration(0)
	for _, c := range []*exec.Cmd{build, gateway.cmd} {
		used += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	t.Logf("to the first good turn: %v, %v of the processor", took.Round(time.Second),
		used.Round(time.Second))
	if text := readFile(t, h.config); !strings.HasPrefix(text, aComment) ||
		!strings.Contains(said, "wrote "+h.config) {
		t.Errorf("the config is\n%s\nand was said to be\n%s", text, said)
	}
	h.openclaw(ctx, t, program, "--check", h.config, "--url", h.url(), "--context-window", "65536")
}

// TestLocalService lets the gateway start the sidecar, and takes it away from it.
func TestLocalService(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	h := newHost(t)
	long := strings.Repeat("One word after the other. ", 12)
	slow := script.Text(long)
	slow.Pause = 150 * time.Millisecond
	s := script.New(
		script.Scenario{Name: "short", User: user("short"), Steps: []script.Reply{script.Text("Here I am.")},
			Loop: true},
		script.Scenario{Name: "slow", User: user("slow"), Steps: []script.Reply{slow}, Loop: true},
	)
	before := readFile(t, h.config)
	h.openclaw(t.Context(), t, binary, "--write", h.config, "--url", h.url(), "--local-service",
		"--idle-stop", "5s", "--upstream", startModel(t, s)+"/v1", "--context-window", "65536", "--models",
		"gpt-oss")
	after := readFile(t, h.config)
	p := h.start(t)
	if pids := h.sidecars(t); len(pids) > 0 {
		t.Errorf("it was started before it was asked: %v", pids)
	}
	if a := h.say(t.Context(), t, "one", "short"); a.text != "Here I am." {
		t.Fatalf("the first turn: %d %s", a.status, a.raw)
	}
	first := h.only(t)

	got := make(chan answer, 1)
	go func() { got <- h.say(t.Context(), t, "two", "slow") }()
	within(t, "the model is asked", func() bool { return len(s.Requests("slow")) > 0 })
	time.Sleep(10 * slow.Pause) // some words have left by now
	victim := h.only(t)
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if a := <-got; strings.TrimSpace(a.text) != strings.TrimSpace(long) {
		t.Errorf("the turn in which it was killed: %d %s", a.status, a.raw)
	}
	if second := h.only(t); second == victim || victim != first {
		t.Errorf("the sidecars were %d, %d and %d", first, victim, second)
	}
	if n := len(s.Requests("slow")); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}

	h.gone(t) // nobody asks
	if a := h.say(t.Context(), t, "three", "short"); a.text != "Here I am." {
		t.Errorf("after a rest: %d %s", a.status, a.raw)
	}
	h.only(t)
	p.stop(t)
	h.gone(t)

	if text := readFile(t, h.config); text != after {
		t.Errorf("the gateway has written its config:\n%s", text)
	}
	h.openclaw(t.Context(), t, binary, "--undo", h.config)
	if text := readFile(t, h.config); text != before {
		t.Errorf("put back, the config is\n%s\nand not\n%s", text, before)
	}
}

// TestGatewayDies: the sidecar of a gateway that is killed leaves, though its log goes to a file, and
// the stream that it was at ends at the model server. The next gateway starts another one.
func TestGatewayDies(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	h := newHost(t)
	t.Cleanup(func() {
		for _, pid := range h.sidecars(t) {
			_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
		}
	})
	slow := script.Text(strings.Repeat("One word after the other. ", 200))
	slow.Pause = 150 * time.Millisecond
	again := script.Text("So it goes on.") // OpenClaw takes up by itself what was broken off
	s := script.New(
		script.Scenario{Name: "short", User: user("short"), Steps: []script.Reply{script.Text("Here I am.")},
			Loop: true},
		script.Scenario{Name: "slow", User: user("slow"), Steps: []script.Reply{slow, again, again, again}},
	)
	log := filepath.Join(h.run, "sidecar.log")
	h.env = append(h.env, "GPTOSS_EXECUTOR_LOG_OUTPUT="+log)
	h.openclaw(t.Context(), t, binary, "--write", h.config, "--url", h.url(), "--local-service", "--upstream",
		startModel(t, s)+"/v1", "--context-window", "65536")
	p := h.start(t)
	h.say(t.Context(), t, "one", "short")
	left := h.only(t)
	ended := s.Unplayed()
	// nobody hears the answer
	go func() { _, _ = h.gateway.turn(t.Context(), openclaw.Provider, "two", "Please do: slow") }()
	within(t, "the model is asked", func() bool { return len(s.Requests("slow")) > 0 })
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.gone
	h.gone(t)
	within(t, "the request has ended at the model server",
		func() bool { return s.Unplayed() > ended })
	said := readFile(t, log)
	for _, event := range []string{"parent_gone", "http_server_shutting_down", "http_server_stopped"} {
		if !strings.Contains(said, event) {
			t.Errorf("the log has no %s:\n%s", event, said)
		}
	}
	p = h.start(t)
	for i := range 3 {
		if a := h.say(t.Context(), t, fmt.Sprint("next", i), "short"); a.text != "Here I am." {
			t.Errorf("turn %d after that: %d %s", i, a.status, a.raw)
		}
	}
	within(t, "what was broken off is taken up",
		func() bool { return len(s.Requests("slow")) > 1 })
	if next := h.only(t); next == left {
		t.Errorf("the sidecar of the gateway that was killed still serves: %d", next)
	}
	p.stop(t)
	h.gone(t)
}
