package servers

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// Valkey is one that runs until its test ends. It keeps what it holds over a restart.
type Valkey struct {
	t       testing.TB
	Address string // HOST:PORT
	dir     string
	args    []string
	process *exec.Cmd
	output  bytes.Buffer
}

// StartValkey starts a server with these options beside the usual ones, such as --requirepass. A test is
// skipped where no server is installed.
func StartValkey(t testing.TB, args ...string) *Valkey {
	t.Helper()
	s := &Valkey{t: t, Address: testkit.Address(t), dir: t.TempDir(), args: args}
	t.Cleanup(s.Kill)
	s.Again()
	return s
}

// program is the server that is installed.
func program(t testing.TB) string {
	for _, name := range []string{"valkey-server", "redis-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("neither valkey-server nor redis-server is installed")
	return ""
}

// Again starts it at the same address, with what it held.
func (s *Valkey) Again() {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	ruletest.Must(s.t, err)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--appendonly", "yes",
		"--appendfsync", "no", "--save", ""}, s.args...)
	s.process = exec.Command(program(s.t), args...)
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	ruletest.Must(s.t, s.process.Start())
	ruletest.Soon(s.t, "the server listens", func() bool {
		ctx, done := context.WithTimeout(s.t.Context(), time.Second)
		defer done()
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Address)
		if err != nil {
			return false
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		if _, err = c.Write([]byte("PING\r\n")); err != nil {
			return false
		}
		answer := make([]byte, 7)
		n, _ := c.Read(answer)
		return bytes.HasPrefix(answer[:n], []byte("+PONG")) || bytes.HasPrefix(answer[:n], []byte("-NOAUTH"))
	})
}

// Kill ends it at once, as the kernel does that needs its memory.
func (s *Valkey) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have ended
	_ = s.process.Wait()
	if s.process = nil; s.t.Failed() {
		s.t.Logf("the server said:\n%s", s.output.Bytes())
	}
}

// Stop holds it where it is, from when this returns: it accepts connections, and answers nothing. Go lets it
// go on.
func (s *Valkey) Stop() {
	ruletest.Must(s.t, s.process.Process.Signal(syscall.SIGSTOP))
	for {
		if _, err := syscall.Wait4(s.process.Process.Pid, nil, syscall.WUNTRACED, nil); err != syscall.EINTR {
			ruletest.Must(s.t, err)
			return
		}
	}
}

// Go lets it go on.
func (s *Valkey) Go() { ruletest.Must(s.t, s.process.Process.Signal(syscall.SIGCONT)) }

// Holds is all that the server has written to its disk: a word that stands there was not sealed.
func (s *Valkey) Holds() []byte {
	s.t.Helper()
	var all bytes.Buffer
	names, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*"))
	ruletest.Must(s.t, err)
	for _, name := range names {
		doc, err := os.ReadFile(name)
		ruletest.Must(s.t, err)
		all.Write(doc)
	}
	return all.Bytes()
}
