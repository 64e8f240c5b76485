package testkit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// harmless are the programs that texts may find.
var harmless = []string{
	"awk", "base64", "bash", "cat", "dash", "echo", "env", "false", "find", "flock", "git", "head", "ls",
	"nice", "nohup", "perl", "printf", "python3", "rev", "sed",
	"setsid", "sh", "sleep", "sort", "split", "stdbuf", "tail", "tar", "tee", "test", "timeout", "tr", "true",
	"wc", "which", "xargs", "xxd",
}

// patience is how long a text may run.
const patience = 2 * time.Second

// nobody is the user that runs the texts if the test is root.
const nobody = 65534

// Bash is a folder in which texts run, one after the other.
type Bash struct {
	dir  string // the home and working folder of every text
	bash string
}

// NewBash makes a sandbox whose marker is a program of this name. Without bash the test
// is skipped, or fails where CI=true.
func NewBash(t testing.TB, marker string) *Bash {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("bash is missing")
		}
		t.Skip("SKIPPED: there is no bash to compare with")
	}
	s := &Bash{dir: t.TempDir(), bash: path}
	s.must(t, os.Chmod(filepath.Dir(s.dir), 0o755), os.Chmod(s.dir, 0o755), os.Mkdir(s.home(), 0o777),
		os.Chmod(s.home(), 0o777), os.Mkdir(s.bin(), 0o755))
	for _, name := range harmless {
		if program, err := exec.LookPath(name); err == nil {
			s.must(t, os.Symlink(program, filepath.Join(s.bin(), name)))
		}
	}
	s.must(t, os.WriteFile(filepath.Join(s.bin(), marker), []byte("#!/bin/sh\n: > "+s.ran()+"\n"), 0o755))
	return s
}

func (s *Bash) home() string { return filepath.Join(s.dir, "home") }
func (s *Bash) bin() string  { return filepath.Join(s.dir, "bin") }
func (s *Bash) ran() string  { return filepath.Join(s.home(), ".ran") }

func (s *Bash) must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Ran runs a text and says whether it ran the marker.
func (s *Bash) Ran(t testing.TB, text string) bool {
	t.Helper()
	s.tidy(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", text)
	c.Dir = s.home()
	c.Env = []string{"PATH=" + s.bin(), "HOME=" + s.home(), "USER=agent", "LC_ALL=C.UTF-8"}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	if err := c.Start(); err != nil {
		return false // a NUL in the text
	}
	_ = c.Wait()   // however it ends
	for range 10 { // what it left in the background may still come to the marker
		if syscall.Kill(-c.Process.Pid, 0) != nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	_, err := os.Stat(s.ran())
	return err == nil
}

// tidy empties the folder but for what texts read.
func (s *Bash) tidy(t testing.TB) {
	entries, err := os.ReadDir(s.home())
	s.must(t, err)
	for _, e := range entries {
		if e.Name() == "name" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.home(), e.Name())); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	s.must(t, os.WriteFile(filepath.Join(s.home(), "name"), []byte("zz\n"), 0o644))
}

// Shown lets bash run texts, each in a subshell of its own that finds no program, and gives
// the words of every call of show: those of the second call of the first text are [0][1].
func (s *Bash) Shown(t testing.TB, texts []string) [][][]string {
	t.Helper()
	empty := filepath.Join(s.dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-r", "-c", `show() { printf '%s\0' "[$#" "$@"; }
while IFS= read -r -d '' text; do printf 'next\0'; (eval "$text") < /dev/null; done; true`)
	c.Dir = empty
	c.Env = []string{"PATH=/nowhere", "HOME=/home/dev", "LC_ALL=C.UTF-8"}
	c.Stdin = strings.NewReader(strings.Join(texts, "\x00") + "\x00")
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	doc, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var shown [][][]string
	tokens := strings.Split(string(doc), "\x00")
	for i := 0; i < len(tokens)-1; i++ {
		if tokens[i] == "next" {
			shown = append(shown, nil)
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(tokens[i], "["))
		if err != nil || i+n >= len(tokens) {
			t.Fatalf("bash shows %q", tokens[i])
		}
		last := len(shown) - 1
		shown[last] = append(shown[last], tokens[i+1:i+1+n])
		i += n
	}
	return shown
}
