package walls

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	inside   = "/tmp/inside"   // may be written
	readable = "/tmp/readable" // may be read
	outside  = "/tmp/outside"
	secret   = "what nobody inside may see"
)

// result is how one attempt went: by the way in which it was run, what stopped it, and "" if it got out.
type result struct {
	Name string
	Kept map[way]string
	Left string // processes that outlived their box
}

// way is how an attempt is run.
type way string

const (
	bare  way = "bare"
	plain way = "confined"
	apart way = "confined, with mounts of its own"
)

// TestEscape runs every attempt as it is, where it must succeed or it would prove nothing,
// and confined, where it must not.
func TestEscape(t *testing.T) {
	if testing.Short() {
		t.Skip("two minutes")
	}
	t.Parallel()
	for user, uid := range users() {
		t.Run(user, func(t *testing.T) {
			t.Parallel() // each behind a wall of its own
			seen := 0
			for line := range strings.Lines(behindWall(t, uid, "attempts")) {
				var r result
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(line, err)
				}
				seen++
				t.Run(r.Name, func(t *testing.T) {
					for _, w := range []way{plain, apart} {
						if why, tried := r.Kept[w]; tried && why == "" {
							t.Errorf("got out, %s", w)
						}
						t.Logf("%s: %s", w, r.Kept[w])
					}
					if r.Left != "" {
						t.Error(r.Left)
					}
					if why := r.Kept[bare]; why != "" {
						t.Skip("not possible here at all: " + why)
					}
				})
			}
			if seen != len(attempts()) {
				t.Errorf("%d of %d attempts", seen, len(attempts()))
			}
		})
	}
}

// box is what attempts are confined to.
func box(w way, command ...string) Box {
	b := System()
	b.Command, b.Dir = command, inside
	b.Write = append(b.Write, inside)
	b.Read = append(b.Read, readable, filepath.Dir(helper))
	b.Deny = append(b.Deny, readable+"/denied", readable+"/sub/denied")
	if w == apart {
		b.Deny = append(b.Deny, inside+"/denied", inside+"/sub/denied")
		b.Fixed = []string{inside + "/fixed", inside + "/sub/fixed"}
	}
	return b
}

// lay puts everything where attempts look for it. Folders and sockets that a victim has
// open stay.
func lay() error {
	for _, dir := range []string{inside, readable, outside} {
		_ = os.MkdirAll(dir, 0o755)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type() != fs.ModeSocket && e.Name() != "tty" && e.Name() != "shm" {
				_ = os.RemoveAll(filepath.Join(dir, e.Name()))
			}
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
		for _, sub := range []string{"", "/denied", "/sub/denied", "/fixed", "/sub/fixed"} {
			if err := os.MkdirAll(dir+sub, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(dir+sub+"/secret", []byte(secret), 0o600); err != nil {
				return err
			}
		}
		if err := os.WriteFile(dir+"/file", []byte("harmless"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// runAttempts does all of them, and prints what became of each.
func runAttempts(string) error {
	if err := lay(); err != nil {
		return err
	}
	v, err := startVictim()
	if err != nil {
		return err
	}
	defer func() { endVictim(v) }()
	for _, a := range attempts() {
		r := result{Name: a.name, Kept: map[way]string{}}
		ways := []way{plain, apart}
		switch {
		case os.Geteuid() == 0: // root's are not tried bare
		case a.below:
			ways = []way{bare, apart}
		default:
			ways = []way{bare, plain, apart}
		}
		if a.below {
			ways = slices.DeleteFunc(ways, func(w way) bool { return w == plain })
		}
		for _, w := range ways {
			if a.on != nil { // a new one, which was not reached yet
				endVictim(v)
				if v, err = startVictim(); err != nil {
					return err
				}
			}
			if r.Kept[w], err = try(a, w, v.Process.Pid); err != nil {
				return fmt.Errorf("%s, %s: %w", a.name, w, err)
			}
			if left := survivors(); left != "" {
				r.Left += fmt.Sprintf("%s: %s ", w, left)
			}
		}
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func startVictim() (*exec.Cmd, error) {
	v := again("victim", "VICTIM_SECRET="+secret)
	v.Dir, v.SysProcAttr = outside, &syscall.SysProcAttr{Setpgid: true}
	ready, err := v.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := v.Start(); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(ready, make([]byte, 6)); err != nil {
		return nil, fmt.Errorf("the victim did not start: %w", err)
	}
	return v, nil
}

// endVictim ends it, and removes what it leaves.
func endVictim(v *exec.Cmd) {
	_ = v.Process.Kill()
	_ = v.Wait()
	for _, name := range []string{"/stream", "/dgram"} {
		_ = os.Remove(inside + name)
	}
	name, _ := unix.BytePtrFromString("confine-victim")
	_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
}

// try runs an attempt, and returns what stopped it.
func try(a escape, w way, victim int) (kept string, err error) {
	if err := lay(); err != nil {
		return "", err
	}
	var out strings.Builder
	env := append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, roleOf) || strings.HasPrefix(v, "RUNNER_SECRET")
	}), roleOf+"=attempt "+a.name, fmt.Sprintf("VICTIM=%d", victim), fmt.Sprintf("RUNNER=%d", os.Getpid()))
	extra, err := os.Open(outside + "/secret") // an open file that nobody meant to hand down
	if err != nil {
		return "", err
	}
	defer extra.Close()
	code := 0
	if w == bare {
		c := again("")
		c.Env, c.Dir, c.Stdout, c.Stderr = append(env, "EXTRA=3", "BOXED="), inside, &out, &out
		c.ExtraFiles = []*os.File{extra}
		c.WaitDelay = 100 * time.Millisecond
		_ = c.Run()
		code = c.ProcessState.ExitCode()
	} else {
		_, _ = unix.FcntlInt(extra.Fd(), unix.F_SETFD, 0)
		b := box(w, helper)
		b.Env = append(env, fmt.Sprintf("EXTRA=%d", extra.Fd()), "BOXED=confined")
		if code, err = Run(b, Streams{Out: &out, Err: &out}); err != nil {
			return "", err
		}
	}
	if code == 0 || a.on != nil && a.on(victim) == nil {
		return "", nil
	}
	return fmt.Sprintf("%s (exit code %d)", strings.TrimSpace(out.String()), code), nil
}

// survivors are sleepers that were left by a confined attempt; those of a bare one are ended first.
func survivors() string {
	var left []string
	for _, pid := range descendants(1) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(text), roleOf+"=sleep confined") {
			left = append(left, fmt.Sprint(pid))
		}
		if strings.Contains(string(text), roleOf+"=sleep") {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "outlived the box: " + strings.Join(left, " ")
}

// attempt does one, in whatever box it finds itself.
func attempt(name string) error {
	a := attemptNamed(name)
	if a.do == nil {
		return errors.New("no such attempt")
	}
	return a.do()
}

func attemptNamed(name string) escape {
	all := attempts()
	i := slices.IndexFunc(all, func(a escape) bool { return a.name == name })
	return all[i]
}

// escape is a way out that is tried. Without an error it got out.
type escape struct {
	name  string
	do    func() error
	on    func(victim int) error // seen on the victim, instead
	below bool                   // what it is after lies in a folder that may be written
}

func attempts() []escape {
	return slices.Concat(fileAttempts(), metadataAttempts(), processAttempts(), networkAttempts(),
		kernelAttempts())
}
