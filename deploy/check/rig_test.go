package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// program builds the sidecar, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gpt-oss-executor-check-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "gpt-oss-executor")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, ".")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

func built(t *testing.T) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// process is a program that runs until the test ends.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	out *said
}

// said is what it has printed.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, out: &said{}}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		if t.Failed() {
			t.Logf("%s said\n%s", filepath.Base(cmd.Path), p.out)
		}
	})
	return p
}

// stop ends it as a supervisor does, and gives its exit code.
func (p *process) stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// eventually looks until something holds, as long as a busy machine may take.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	// between two looks
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never came: %s", what)
}

// model is a scripted model server. It answers everything, and damages what a message names: one of
// script.Kinds.
func model(t *testing.T) string {
	t.Helper()
	scenarios := []script.Scenario{{Steps: []script.Reply{script.Text("Hello.")}, Loop: true}}
	for _, k := range script.Kinds() {
		scenarios = append(scenarios, k.Endless("read", `{"path":"notes.md"}`, "Done."))
	}
	s := httptest.NewServer(script.New(scenarios...))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// httpClient is one that keeps no connection when the test has ended.
func httpClient(t *testing.T) *http.Client {
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get is a page, or nothing.
func get(t *testing.T, url string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}

// chat asks for an answer, and gives its status and text.
func chat(t *testing.T, at, token, say string) (int, string) {
	t.Helper()
	body := fmt.Sprintf(`{"model": "gpt-oss", "messages": [{"role": "user", "content": %q}], "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}]}`, say)
	return post(t, at, token, body)
}

// post asks with a body of one's own.
func post(t *testing.T, at, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}
