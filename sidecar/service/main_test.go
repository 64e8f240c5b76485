//go:build unix

// The tests of this package start the built program, as processes that take over from each other.
package service_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	if words := os.Getenv(service.Role); words != "" {
		service.Play(words)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "handover-")
	if err == nil {
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "gpt-oss-executor")
		var said []byte
		if said, err = exec.Command("go", append(append([]string{"build"}, raced...), "-o", binary,
			testkit.Root())...).CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	return m.Run()
}

// process is a program that runs until its test ends.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *ruletest.Journal
	gone chan struct{}
}

// start starts a program. All that come after it say what they have to say in its log.
func start(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, log: &ruletest.Journal{}, gone: make(chan struct{})}
	read, write, err := os.Pipe() // a file, which the next process can have, too
	ruletest.Must(t, err)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.Env = append(cmd.Environ(), "XDG_STATE_HOME="+t.TempDir())
	ruletest.Must(t, cmd.Start())
	ruletest.Must(t, write.Close())
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = io.Copy(p.log, read)
		_ = read.Close()
	}()
	go func() { _ = cmd.Wait(); close(p.gone) }()
	t.Cleanup(func() {
		p.signal(syscall.SIGTERM)
		<-p.gone
		for _, pid := range p.pids()[1:] {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
		<-heard // all of them have ended
		if t.Failed() {
			t.Logf("the log:\n%s", told(p.log.String()))
		}
	})
	return p
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // it may have ended

// said waits until the log has a text so often.
func (p *process) said(times int, text string) {
	p.t.Helper()
	ruletest.Soon(p.t, text, func() bool { return strings.Count(p.log.String(), text) >= times })
}

var serving = regexp.MustCompile(`event=http_server_start .*pid=(\d+)`)

// pids are the processes that have served, in turn; the first is that of the command.
func (p *process) pids() (out []int) {
	out = []int{p.cmd.Process.Pid}
	for _, m := range serving.FindAllStringSubmatch(p.log.String(), -1) {
		var pid int
		if _, err := fmt.Sscan(m[1], &pid); err == nil && pid != out[0] {
			out = append(out, pid)
		}
	}
	return out
}

// ended waits until a process has ended.
func ended(t testing.TB, pid int) {
	t.Helper()
	ruletest.Soon(t, fmt.Sprintf("process %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
}

// place is where a server of a test has its things.
type place struct {
	dir, address, admin, model, program string
}

// newPlace has a copy of the program, and a model server.
func newPlace(t testing.TB, model http.Handler) *place {
	t.Helper()
	up := httptest.NewServer(model)
	t.Cleanup(up.Close)
	p := &place{dir: t.TempDir(), address: testkit.Address(t), admin: testkit.Address(t), model: up.URL}
	p.program = filepath.Join(p.dir, "gpt-oss-executor")
	p.install(t, binary)
	return p
}

// install puts another program in place, as packages do: whole, under the same name.
func (p *place) install(t testing.TB, program string) {
	t.Helper()
	text, err := os.ReadFile(program)
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(p.program+".new", text, 0o755))
	ruletest.Must(t, os.Rename(p.program+".new", p.program))
}

func (p *place) serve(t testing.TB, more ...string) *process {
	t.Helper()
	s := start(t, p.command(more...))
	s.said(1, "event=http_server_start")
	return s
}

func (p *place) command(more ...string) *exec.Cmd {
	cmd := exec.Command(p.program, append([]string{"serve", "--listen", p.address, "--admin", p.admin,
		"--upstream", p.model + "/v1", "--confine", "off",
		"--state", filepath.Join(p.dir, "state"), "--decisions-mode", "required"}, more...)...)
	cmd.Env = append(os.Environ(), "GPTOSS_EXECUTOR_ADMIN_TOKEN="+adminToken)
	return cmd
}

const adminToken = "admin-token-of-the-test"

// model calls a tool in a stream of many pieces, which takes a while.
func model() *script.Server {
	reply := script.Native("exec", `{"command":"ls"}`)
	reply.Reasoning, reply.Pause = strings.Repeat("I look at the files. ", 4), 15*time.Millisecond
	return script.New(script.Scenario{Steps: []script.Reply{reply}, Loop: true})
}

// logged are the calls that have left, by the log, which must be sound.
func (p *place) logged(t testing.TB) (n int) {
	t.Helper()
	dir := filepath.Join(p.dir, "state", "decisions")
	report, err := decisions.Verify(dir)
	ruletest.Must(t, err)
	if len(report.Problems) > 0 || report.Lost > 0 {
		t.Errorf("the decision log: %d lost, %v", report.Lost, report.Problems)
	}
	list, err := filepath.Glob(filepath.Join(dir, "0*.jsonl"))
	ruletest.Must(t, err)
	for _, name := range list {
		text, err := os.ReadFile(name)
		ruletest.Must(t, err)
		n += strings.Count(string(text), `"outcome":"left"`)
	}
	return n
}

// fits fails unless each request has one call that left, by the log. A call whose record was slow to be
// written stands there, too: it was refused, and asked again.
func (p *place) fits(t testing.TB, s *process, asked int64) {
	t.Helper()
	n, slow := int64(p.logged(t)), int64(strings.Count(s.log.String(), "event=decisions_required"))
	if n < asked || n > asked+slow {
		t.Errorf("%d calls have left by the log, of %d requests and %d whose record was slow", n, asked, slow)
	}
}

// told is a log without what it says of each request.
func told(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "event=request_served") {
			out.WriteString(line)
		}
	}
	return fmt.Sprintf("%.6000s", out.String())
}
