package e2e

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// patience is how long a test waits for what must come, on the slowest machine.
const patience = 15 * time.Minute

// process is a program that runs until the test ends.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *log
	gone chan struct{} // closed when the program has ended
}

// start runs a program. When the test ends it is told to stop, by its pid, and
// what it said is shown if the test failed.
func start(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{name: name, cmd: cmd, log: &log{}, gone: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is seen where it matters: ready, stop
		close(p.gone)
	}()
	t.Cleanup(func() {
		p.stop(t)
		if s := p.cmd.ProcessState; s != nil {
			t.Logf("%s used %v of the processor", name,
				(s.UserTime() + s.SystemTime()).Round(100*time.Millisecond))
		}
		if t.Failed() {
			t.Logf("the last words of %s:\n%s", name, p.log.tail(4000))
		}
	})
	return p
}

func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.gone:
	case <-time.After(time.Minute):
		t.Errorf("%s does not stop on SIGTERM", p.name)
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}

// ready waits until the program answers 200 at url.
func (p *process) ready(t *testing.T, url string) {
	t.Helper()
	if !p.answers(t, url) {
		t.Fatalf("%s ended before it was ready:\n%s", p.name, p.log.tail(4000))
	}
}

// answers waits until the program answers 200 at url; false: it has ended before.
func (p *process) answers(t *testing.T, url string) bool {
	t.Helper()
	deadline := time.After(patience)
	for {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-p.gone:
			return false
		case <-deadline:
			t.Fatalf("%s is not ready after %v", p.name, patience)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// log keeps what a program says.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	return text[max(0, len(text)-n):]
}

// freePort is a port of this machine at which no process listens.
func freePort(t *testing.T) string {
	t.Helper()
	return strings.TrimPrefix(testkit.Address(t), "127.0.0.1:")
}

// startModel serves a script until the test ends, and says where: without /v1.
func startModel(t *testing.T, s *script.Server) string {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// startSidecar runs the sidecar in front of a model, with more in its environment, and
// says where: without /v1.
func startSidecar(t *testing.T, model string, env ...string) string {
	t.Helper()
	_, address := runSidecar(t, "/readyz", model, env...)
	return address
}

// runSidecar is startSidecar where another endpoint may say that it serves.
func runSidecar(t *testing.T, ready, model string, env ...string) (p *process, address string) {
	t.Helper()
	return runProgram(t, binary, ready, model, env...)
}

// runProgram is runSidecar with a program that lies elsewhere.
func runProgram(t *testing.T, program, ready, model string, env ...string) (p *process, address string) {
	t.Helper()
	address = testkit.Address(t)
	cmd := exec.Command(program, "serve", "--listen", address, "--upstream", model+"/v1")
	cmd.Dir = t.TempDir()
	// another one may say that commands are confined
	cmd.Env = append(append(os.Environ(), "XDG_STATE_HOME="+t.TempDir()), env...)
	p = start(t, "sidecar", cmd)
	p.ready(t, "http://"+address+ready)
	return p, "http://" + address
}

// within waits for something that comes about by itself.
func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	// between two looks
	for end := time.Now().Add(patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after %v: %s", patience, what)
		}
	}
}

// processes are those whose file of this name below /proc holds a text.
func processes(t *testing.T, name, text string) (pids []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		content, _ := os.ReadFile(file) // a process may have gone
		if strings.Contains(string(content), text) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}
