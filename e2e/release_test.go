package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNPM: the packages of a release, installed by npm without a network and without scripts. The program
// is the same as without npm, for the Node of the system and for the one of the gateway.
func TestNPM(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	scratch := t.TempDir()
	packed, err := filepath.Glob(filepath.Join(releasedTo(t), "npm", "gpt-oss-executor-*.tgz"))
	if err != nil || len(packed) != 2 {
		t.Fatalf("packages: %v, %v", packed, err)
	}
	do(t, scratch, "npm", append([]string{"install", "--offline", "--ignore-scripts", "--no-audit",
		"--no-fund", "--prefix", scratch}, packed...)...)
	said := do(t, scratch, "npx", "--offline", "gpt-oss-executor", "--version")
	if !strings.HasPrefix(said, "gpt-oss-executor ") || !strings.Contains(said, "\ncommit ") {
		t.Errorf("npx says %q", said)
	}
	system, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	wrapper := filepath.Join(scratch, "node_modules", "gpt-oss-executor", "gpt-oss-executor.js")
	for name, nodes := range map[string][]string{"system": {system}, "gateway": {node(t)},
		"old": {system, "--require", noExecve(t)}} {
		t.Run(name, func(t *testing.T) {
			run := append(nodes, wrapper)
			passes(t, run)
			for _, s := range []struct {
				signal syscall.Signal
				status string
			}{{syscall.SIGTERM, "exit status 0"}, {syscall.SIGINT, "exit status 0"},
				{syscall.SIGKILL, "signal: killed"}} {
				stopped(t, run, s.signal, s.status)
			}
		})
	}
	t.Run("npx", func(t *testing.T) {
		run := []string{"npx", "--offline", "--prefix", scratch, "gpt-oss-executor"}
		passes(t, run)
		stopped(t, run, syscall.SIGTERM, "")
		// npm and a shell stand between
		run = append([]string{"/bin/sh", "-c", `GPTOSS_EXECUTOR_WITH_PARENT=on "$@" & wait`, "sh"}, run...)
		stopped(t, run, syscall.SIGKILL, "signal: killed")
	})
	if err := os.RemoveAll(filepath.Join(scratch, "node_modules", "@gpt-oss-executor")); err != nil {
		t.Fatal(err)
	}
	var missing bytes.Buffer
	cmd := exec.Command(system, wrapper, "--version")
	cmd.Stderr = &missing
	if err := cmd.Run(); err == nil ||
		!strings.Contains(missing.String(), "is missing, which holds the program for this machine") ||
		!strings.Contains(missing.String(), "npm install gpt-oss-executor@") {
		t.Errorf("without the package of the platform: %v, %s", err, missing.String())
	}
}

// noExecve is a module that makes a Node one that cannot become another program.
func noExecve(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "old.js")
	if err := os.WriteFile(file, []byte("delete process.execve\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// passes checks that arguments, streams and exit code are those of the program.
func passes(t *testing.T, run []string) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := exec.Command(run[0], append(run[1:], "explain", "-")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(`{"choices":[{"message":{"content":"<|channel|>commentary to=functions.exec <|message|>{\"command\":\"ls\"}<|call|>"}}]}`), &out, &said
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), `= exec {"command":"ls"}`) {
		t.Errorf("explain of standard input: %v, %s%s", err, out.String(), said.String())
	}
	said.Reset()
	cmd = exec.Command(run[0], append(run[1:], "srve", "a b")...)
	cmd.Stderr = &said
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 ||
		!strings.HasPrefix(said.String(), `gpt-oss-executor: unknown command "srve"`) {
		t.Errorf("misuse: %v, %s", err, said.String())
	}
}

// stopped starts a server, sends the signal to what was started, and sees that no server is left. The
// status is that of what was started; empty: npm's own, which differs between its versions.
func stopped(t *testing.T, run []string, signal syscall.Signal, status string) {
	t.Helper()
	address := testkit.Address(t)
	cmd := exec.Command(run[0], append(run[1:], "serve", "--listen", address, "--upstream",
		"http://127.0.0.1:9/v1")...)
	cmd.WaitDelay = 10 * time.Second // a server that is left would hold the output open
	p := start(t, "npm package", cmd)
	p.ready(t, "http://"+address+"/healthz")
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	<-p.gone
	if got := p.cmd.ProcessState.String(); status != "" && got != status {
		t.Errorf("%v: %s, not %s", signal, got, status)
	}
	within(t, fmt.Sprintf("%v: the server is gone", signal), func() bool {
		resp, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err != nil
	})
}

// TestInstall: what make install lays down, and what make uninstall leaves.
func TestInstall(t *testing.T) {
	needEnabled(t)
	dir := filepath.Join(t.TempDir(), "a b") // as folders of people are called
	do(t, "..", "make", "install", "DESTDIR="+dir, "PREFIX=/usr")
	said := do(t, dir, filepath.Join(dir, "usr/bin/gpt-oss-executor"), "--version")
	if !strings.HasPrefix(said, "gpt-oss-executor ") {
		t.Errorf("it says %q", said)
	}
	for _, name := range []string{"bash-completion/completions/gpt-oss-executor",
		"zsh/site-functions/_gpt-oss-executor", "fish/vendor_completions.d/gpt-oss-executor.fish",
		"man/man1/gpt-oss-executor.1", "man/man1/gpt-oss-executor-serve.1"} {
		if info, err := os.Stat(filepath.Join(dir, "usr/share", name)); err != nil || info.Size() < 200 ||
			info.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	do(t, "..", "make", "uninstall", "DESTDIR="+dir, "PREFIX=/usr")
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// do runs a program to its end, and gives what it prints.
func do(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s%s", program, args, err, out, said.String())
	}
	return string(out)
}
