//go:build unix

package service_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A program is replaced under load, twice in a row. No request fails, and each has its record in one log,
// although two processes write it for a while.
func TestSwap(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestNextDoesNotServe goes through the same goroutines")
	}
	p := newPlace(t, model())
	s := p.serve(t)
	l := begin(t, p.address)
	for n := range 2 {
		p.install(t, binary)
		ruletest.Must(t, syscall.Kill(s.pids()[n], syscall.SIGUSR2))
		s.said(n+1, "event=handover_done")
		ended(t, s.pids()[n])
		s.said(n+1, "event=takeover_done")
	}
	time.Sleep(300 * time.Millisecond) // of the last one alone
	asked := l.end()
	if pids := s.pids(); len(pids) != 3 {
		t.Errorf("%v have served", pids)
	}
	last := s.pids()[2]
	ruletest.Must(t, syscall.Kill(last, syscall.SIGTERM))
	ended(t, last)
	p.fits(t, s, asked)
}

// A stream that is open when another process takes over ends where it began. Until then the next one hands
// over to nobody; SIGTERM to the first does not cut the stream either.
func TestOpenStream(t *testing.T) {
	long := script.Native("exec", `{"command":"ls"}`)
	long.Reasoning, long.Pause = strings.Repeat("I look at the files. ", 4), 150*time.Millisecond
	p := newPlace(t, script.New(script.Scenario{Steps: []script.Reply{long}, Loop: true}))
	s := p.serve(t)
	res, err := http.Post("http://"+p.address+"/v1/chat/completions", "application/json",
		strings.NewReader(body(true)))
	ruletest.Must(t, err)
	defer res.Body.Close()
	s.signal(syscall.SIGUSR2)
	s.said(1, "event=handover_done")
	ruletest.Must(t, syscall.Kill(s.pids()[1], syscall.SIGUSR2))
	s.said(1, "the process before still has open requests")
	s.signal(syscall.SIGTERM)
	text, err := io.ReadAll(res.Body)
	ruletest.Must(t, err)
	if why := wrong(res.StatusCode, string(text), true); why != "" {
		t.Error(why)
	}
	ended(t, s.pids()[0])
	s.said(1, "event=takeover_done")
	ruletest.Must(t, syscall.Kill(s.pids()[1], syscall.SIGUSR2))
	s.said(2, "event=handover_done")
	if n := p.logged(t); n != 1 {
		t.Errorf("%d calls have left by the log", n)
	}
}

// A socket that is handed on stays where it is, and one that nobody wants any more is closed.
func TestNextListensElsewhere(t *testing.T) {
	p := newPlace(t, model())
	s := p.serve(t)
	elsewhere := filepath.Join(p.dir, "elsewhere") // the next one has other settings
	ruletest.Must(t, os.WriteFile(elsewhere,
		[]byte("#!/bin/sh\nexec "+binary+" serve --listen "+testkit.Address(t)+
			" --upstream http://127.0.0.1:1 --confine off --state "+filepath.Join(p.dir, "state")+"\n"),
		0o755))
	p.install(t, elsewhere)
	s.signal(syscall.SIGUSR2)
	s.said(1, "event=handover_done")
	for _, says := range []string{"event=socket_elsewhere socket=http address=" + p.address,
		"event=socket_unused socket=admin"} {
		s.said(1, says)
	}
	ended(t, s.pids()[0])
	if c, err := net.Dial("tcp", p.admin); err == nil {
		c.Close()
		t.Error("the admin socket that nobody serves takes connections")
	}
	res, err := http.Get("http://" + p.address + "/healthz")
	ruletest.Must(t, err)
	res.Body.Close()
}

// A program that cannot take over, does not: the one before goes on, and says why.
func TestNextDoesNotServe(t *testing.T) {
	p := newPlace(t, model())
	rules := filepath.Join(p.dir, "rules")
	ruletest.Copy(t, rules)
	config := filepath.Join(p.dir, "config.yaml")
	ruletest.Must(t, os.WriteFile(config, []byte("log_level: info\n"), 0o644))
	s := p.serve(t, "--rules", rules, "--config", config)
	l := begin(t, p.address)
	broken := filepath.Join(p.dir, "broken")
	ruletest.Must(t, os.WriteFile(broken, []byte("#!/bin/sh\necho 'I am broken' >&2\nexit 3\n"), 0o755))
	try := func(what, why string) {
		t.Helper()
		before := strings.Count(s.log.String(), "event=handover_refused")
		s.signal(syscall.SIGUSR2)
		s.said(before+1, "event=handover_refused")
		lines := s.log.Lines("handover_refused")
		if last := lines[len(lines)-1]; !strings.Contains(last, "this one goes on") ||
			!strings.Contains(last, why) {
			t.Errorf("%s: %s", what, last)
		}
	}
	p.install(t, broken)
	try("a program that ends", "it has ended before it served: exit status 3")
	ruletest.Must(t, os.WriteFile(p.program+".new", []byte("no program"), 0o755))
	ruletest.Must(t, os.Rename(p.program+".new", p.program))
	try("no program", "exec format error")
	p.install(t, binary)
	ruletest.Must(t, os.WriteFile(config, []byte("log_levle: info\n"), 0o644))
	try("a setting that is none", "does not serve")
	ruletest.Must(t, os.WriteFile(config, []byte("drain: soon\n"), 0o644))
	try("a setting that means nothing", "drain is a time such as 5s")
	ruletest.Must(t, os.WriteFile(config, []byte("log_level: info\n"), 0o644))
	ruletest.Edit(t, rules, "models.yaml", "mode: provider", "mode: provder")
	s.said(1, "event=rules_refused")
	try("rules that do not load", "the rules did not load at start")
	ruletest.Edit(t, rules, "models.yaml", "mode: provder", "mode: provider")
	s.signal(syscall.SIGUSR2)
	s.said(1, "event=handover_done")
	s.said(1, "event=takeover_done")
	asked := l.end()
	last := s.pids()[len(s.pids())-1]
	ruletest.Must(t, syscall.Kill(last, syscall.SIGTERM))
	ended(t, last)
	p.fits(t, s, asked)
}

// Where systemd holds the socket, a restart loses no request: what comes meanwhile waits in the socket.
func TestSocketOfParent(t *testing.T) {
	if testing.Short() {
		t.Skip("long; TestNextDoesNotServe goes through the same goroutines")
	}
	p := newPlace(t, model())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	ruletest.Must(t, err)
	defer socket.Close()
	address := l.Addr().String()
	p.address = "127.0.0.1:1" // the setting; the socket is another
	next := func() *process {
		serve := p.command()
		// As systemd does it: the number of the process is known only in the process.
		cmd := exec.Command("/bin/sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, serve.Path},
			serve.Args[1:]...)...)
		cmd.Env = append(serve.Env, "LISTEN_FDS=1", "LISTEN_FDNAMES=http")
		cmd.ExtraFiles = []*os.File{socket}
		s := start(t, cmd)
		s.said(1, "event=http_server_start")
		return s
	}
	s := next()
	callers := begin(t, address)
	for range 3 {
		s.signal(syscall.SIGTERM)
		<-s.gone
		s = next()
	}
	time.Sleep(300 * time.Millisecond) // of the last one alone
	asked := callers.end()
	s.signal(syscall.SIGTERM)
	<-s.gone
	p.fits(t, s, asked)
}

// The same with the tool of systemd, which starts the program with the first connection.
func TestSocketActivate(t *testing.T) {
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not here")
	}
	p := newPlace(t, model())
	admin := testkit.Address(t)
	serve := p.command("--admin", "127.0.0.1:1")
	cmd := exec.Command(activate, append([]string{"--listen=" + p.address, "--listen=" + admin,
		"--fdname=http:admin", "--setenv=GPTOSS_EXECUTOR_ADMIN_TOKEN", serve.Path}, serve.Args[1:]...)...)
	cmd.Env = serve.Env
	s := start(t, cmd)
	get := func(url string) (int, string) {
		res, err := http.Get(url)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		ruletest.Must(t, err)
		return res.StatusCode, string(text)
	}
	ruletest.Soon(t, "it serves",
		func() bool { status, _ := get("http://" + p.address + "/healthz"); return status == http.StatusOK })
	if status, text := get("http://" + admin + "/rules"); status != http.StatusUnauthorized {
		t.Errorf("the admin API: %d %s", status, text)
	}
	for _, socket := range []string{"http", "admin"} {
		s.said(1, "event=socket_given socket="+socket)
	}
	s.said(1, "event=http_server_start")
	environ, err := os.ReadFile("/proc/" + lastPID(s) + "/environ")
	if err == nil && !strings.Contains(string(environ), "LISTEN_FDS=2") {
		t.Errorf("systemd has set no variables: %q", environ)
	}
}

func lastPID(s *process) string {
	m := serving.FindStringSubmatch(s.log.String())
	return m[1]
}
