package walls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// fit skips a test where the kernel cannot confine, and gives a box with a folder to write.
func fit(t testing.TB, command ...string) Box {
	t.Helper()
	if _, err := quickProbe(); err != nil {
		t.Skip(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := System()
	b.Command, b.Dir = command, t.TempDir()
	b.Write, b.Read = append(b.Write, b.Dir), append(b.Read, filepath.Dir(program))
	b.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + b.Dir, "TMPDIR=" + b.Dir,
		"SELF=" + program}
	return b
}

func TestExitCodes(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		command []string
		code    int
		said    string
	}{
		{[]string{"true"}, 0, ""},
		{[]string{"sh", "-c", "exit 7"}, 7, ""},
		{[]string{"sh", "-c", "kill -TERM $$"}, 143, ""},
		{[]string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		{[]string{"no-such-program"}, 127, "no-such-program: command not found"},
		{[]string{"./no-such-file"}, 127, "./no-such-file: no such file or directory"},
		{[]string{"/dev/null"}, 126, "/dev/null: permission denied: it cannot be run, or it may not be read here"},
		{nil, 125, "no command to run"},
	} {
		code, err := Run(fit(t, c.command...), Streams{})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if code != c.code || said != c.said {
			t.Errorf("%q: %d %q, want %d %q", c.command, code, said, c.code, c.said)
		}
	}
}

// A folder that may only be listed gives away names, and no text.
func TestList(t *testing.T) {
	listed := t.TempDir()
	for _, name := range []string{"a", "below/secret"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(listed, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(listed, name), []byte(secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{"ls " + listed: "a\nbelow\n", "cat " + listed + "/a": "",
		"cat " + listed + "/below/secret": "", "echo x > " + listed + "/b": ""} {
		b := fit(t, "sh", "-c", command)
		b.List = []string{listed, filepath.Join(listed, "a")}
		var out bytes.Buffer
		code, err := Run(b, Streams{Out: &out})
		if err != nil || out.String() != want || (code == 0) != (want != "") {
			t.Errorf("%s: %d %v %q", command, code, err, out.String())
		}
	}
}

// A command in a confined command would need a second supervisor, and the kernel allows one.
func TestConfinedTwice(t *testing.T) {
	inner := fit(t, "true")
	text, err := json.Marshal(inner)
	if err != nil {
		t.Fatal(err)
	}
	outer := fit(t, "bash", "-c", `exec "$SELF"`)
	outer.Read, outer.Env = append(outer.Read, inner.Dir), append(outer.Env, roleOf+"=box "+string(text))
	var out bytes.Buffer
	code, err := Run(outer, Streams{Out: &out, Err: &out})
	if code != ExitUnfit || err != nil || !strings.Contains(out.String(), errUnfit.Error()) {
		t.Errorf("%d %v %s", code, err, out.String())
	}
}

// withoutNamespaces runs a box where no namespace can be made.
func withoutNamespaces(text string) error {
	code, err := filter([]callRule{{nr: unix.SYS_CLONE, choices: []choice{{[]test{hasBits(0, namespaces)}, eperm}},
		result: allow}})
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}))); errno != 0 {
		return errno
	}
	return runBox(text)
}

func TestWithoutNamespaces(t *testing.T) {
	b := fit(t, "sh", "-c", "echo x > fixed")
	b.Fixed = []string{b.Dir + "/fixed"}
	if err := os.WriteFile(b.Fixed[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lenient []Part
		said    string
	}{
		{nil, "this machine cannot confine: make a namespace: operation not permitted"},
		{[]Part{PartFiles}, "this machine cannot confine: make a namespace: operation not permitted"},
		{[]Part{PartBelow}, ""},
	} {
		b.Lenient = c.lenient
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		command := again("bare " + string(text))
		command.Stderr = nil
		out, err := command.CombinedOutput()
		if said := strings.TrimSpace(string(out)); said != c.said ||
			command.ProcessState.ExitCode() == ExitUnfit != (c.said != "") {
			t.Errorf("%v: %v %q", c.lenient, err, said)
		}
	}
}

// serve is a server at a port and a socket file; dial reaches one.
func serve(at string) error {
	port, file, _ := strings.Cut(at, " ")
	for network, address := range map[string]string{"tcp": port, "unix": file} {
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "served")
				c.Close()
			}
		}()
	}
	fmt.Println("ready")
	select {}
}

func dial(at string) error {
	network, address, _ := strings.Cut(at, " ")
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(c)
	if err == nil && string(text) != "served" {
		err = fmt.Errorf("%q", text)
	}
	return err
}

func TestSession(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and what runs are other programs")
	}
	for name, end := range map[string]func(work string, supervisor int) string{
		"by its pid": func(work string,
			_ int) string {
			return "kill $(cat " + work + "/pid)"
		},
		"by its supervisor": func(_ string, pid int) string { return fmt.Sprintf("kill %d", pid) },
		"by its supervisor, at once": func(_ string,
			pid int) string {
			return fmt.Sprintf("kill -KILL %d", pid)
		},
	} {
		t.Run(name, func(t *testing.T) { inSession(t, end) })
	}
}

// inSession starts a server, reaches it from other commands, and ends it from one.
func inSession(t *testing.T, end func(work string, supervisor int) string) {
	port := strings.TrimPrefix(testkit.Address(t), "127.0.0.1")
	work, records := t.TempDir(), t.TempDir()
	boxed := func(session, command string, env ...string) *exec.Cmd {
		b := fit(t, "bash", "-c", command)
		b.Session, b.Records, b.Write = session, records, append(b.Write, work)
		b.Env = append(b.Env, env...)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		c := again("box " + string(text))
		c.Stderr = nil
		return c
	}
	server := boxed("one", `echo $$ > `+work+`/pid; exec "$SELF"`, roleOf+"=serve 0.0.0.0"+port+" "+work+
		"/socket")
	ready, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	if _, err := io.ReadFull(ready, make([]byte, 6)); err != nil {
		t.Fatal("the server did not start: ", err)
	}
	for _, c := range []struct {
		name, session, command, dial string
		works                        bool
	}{
		{"TCP", "one", `"$SELF"`, "tcp 127.0.0.1" + port, true},
		{"TCP by name", "one", `"$SELF"`, "tcp localhost" + port, true},
		{"socket file", "one", `"$SELF"`, "unix " + work + "/socket", true},
		{"TCP from another session", "two", `"$SELF"`, "tcp 127.0.0.1" + port, false},
		{"socket file from another session", "two", `"$SELF"`, "unix " + work + "/socket", false},
		{"TCP from none", "", `"$SELF"`, "tcp 127.0.0.1" + port, false},
		{"look from another session", "two", "kill -0 $(cat " + work + "/pid)", "", false},
		{"signal from another session", "two", "kill $(cat " + work + "/pid)", "", false},
		{"signal to the supervisor from another session", "two", fmt.Sprintf("kill %d", server.Process.Pid), "", false},
		{"stop the supervisor", "one", fmt.Sprintf("kill -STOP %d", server.Process.Pid), "", false},
		{"signal", "one", end(work, server.Process.Pid), "", true},
	} {
		out, err := boxed(c.session, c.command, roleOf+"=dial "+c.dial).CombinedOutput()
		if (err == nil) != c.works {
			t.Errorf("%s: %v %s", c.name, err, out)
		}
	}
	if err := server.Wait(); server.ProcessState.ExitCode() != 143 {
		t.Errorf("the server ended with %v", err)
	}
	left, err := os.ReadDir(records)
	if err != nil || len(left) > 0 {
		t.Errorf("records are left: %v %v", left, err)
	}
}

// However the supervisor ends, what it ran ends with it.
func TestNothingIsLeft(t *testing.T) {
	heard := make(chan os.Signal, 1) // else the child ignores what a shell lets this process ignore in its background
	signal.Notify(heard, unix.SIGINT)
	defer signal.Stop(heard)
	for name, end := range map[string]func(*exec.Cmd) error{
		"killed":                 func(c *exec.Cmd) error { return c.Process.Kill() },
		"killed with its group":  func(c *exec.Cmd) error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) },
		"ended":                  func(c *exec.Cmd) error { return c.Process.Signal(unix.SIGTERM) },
		"interrupted":            func(c *exec.Cmd) error { return c.Process.Signal(unix.SIGINT) },
		"interrupted with group": func(c *exec.Cmd) error { return unix.Kill(-c.Process.Pid, unix.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			b := fit(t, "bash", "-c",
				`setsid nohup "$SELF" & (trap "" TERM INT; exec "$SELF") & echo $$ ready; sleep 60`)
			b.Env = append(b.Env, roleOf+"=sleep "+b.Dir)
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			c := again("box " + string(text))
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fscan(out, new(int), new(string)); err != nil {
				t.Fatal(err)
			}
			if err := end(c); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			ruletest.Soon(t, "no process is left", func() bool { return len(withEnv(roleOf+"=sleep "+b.Dir)) == 0 })
		})
	}
}

// withEnv are the processes with a variable in their environment.
func withEnv(v string) (out []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(v)) {
			out = append(out, path)
		}
	}
	return out
}

func TestLimits(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		command string
		limits  Limits
		code    int
		said    string
	}{
		{"sleep 60", Limits{Time: 50 * time.Millisecond}, 137, "longer than its limit"},
		{"for i in 1 2 3 4 5 6; do sleep 60 & done; wait", Limits{Processes: 4}, 137, "processes, and its limit is 4"},
		{"head -c 100M /dev/zero | tail -c 100M | sleep 60", Limits{Memory: 20 << 20}, 137, "MB of memory, and its limit is 20 MB"},
		{"yes", Limits{Output: 1000}, 137, "more than its limit for output"},
		{"trap '' XFSZ; head -c 1M /dev/zero > f", Limits{File: 1000}, 1, ""},
		{"ulimit -c; ulimit -n", Limits{Open: 99}, 0, ""},
	} {
		var out strings.Builder
		b := fit(t, "bash", "-c", c.command)
		b.Limits = c.limits
		code, err := Run(b, Streams{Out: &out, Err: io.Discard})
		if code != c.code || (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(),
			c.said) {
			t.Errorf("%s: %d %v", c.command, code, err)
		}
		if c.limits.Open > 0 && out.String() != "0\n99\n" {
			t.Errorf("%s: %q", c.command, out.String())
		}
		if c.limits.Output > 0 && int64(out.Len()) != c.limits.Output {
			t.Errorf("%s: %d bytes", c.command, out.Len())
		}
	}
}

// A connection that waits for the other side does not outlive its command.
func TestWaitingConnection(t *testing.T) {
	defer goleak.VerifyNone(t)
	b := fit(t, "/usr/bin/python3", "-c", `
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
while True: c = socket.socket(); c.connect(s.getsockname()); globals()[id(c)] = c
`)
	if _, err := os.Stat(b.Command[0]); err != nil {
		t.Skip(err)
	}
	b.Limits.Time = 300 * time.Millisecond
	if code, err := Run(b, Streams{}); code != 137 || err == nil {
		t.Errorf("%d %v", code, err)
	}
}

func TestProbe(t *testing.T) {
	fit(t)
	for _, g := range Probe().Parts {
		if g.Missing != "" {
			t.Logf("%s is missing: %s", g.Part, g.Missing)
		}
		if (g.Missing == "") == (g.By == "") || g.About == "" {
			t.Errorf("%+v", g)
		}
	}
}
