package walls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tests run this binary again, in other roles. What is dangerous runs behind a second
// wall: with processes, a network, mounts and a /tmp of its own, and all else read-only.

// roleOf is the variable that says which role a process has.
const roleOf = "CONFINE_TEST_ROLE"

func TestMain(m *testing.M) {
	role, arg, _ := strings.Cut(os.Getenv(roleOf), " ")
	if play := roles()[role]; play != nil {
		if err := play(arg); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func roles() map[string]func(string) error {
	return map[string]func(string) error{
		"wall": wall, "attempts": runAttempts, "attempt": attempt, "victim": victim, "box": runBox,
		"serve": serve, "dial": dial, "bare": withoutNamespaces, "sleep": sleepOn, "whoami": whoami,
		"redteam": redTeam,
	}
}

// again is this binary in another role.
func again(role string, more ...string) *exec.Cmd {
	c := exec.Command(self())
	c.Env = append(append(os.Environ(), roleOf+"="+role), more...)
	c.Stderr = os.Stderr
	return c
}

// self is where this binary stands; behind the wall it has another place.
func self() string {
	if _, err := os.Stat(helper); err == nil {
		return helper
	}
	return "/proc/self/exe"
}

const helper = "/tmp/confine-test/helper"

const noNamespaces = "this machine allows no namespaces, and attacks are not run without"

// behindWall runs a role as a user, and returns what it prints.
func behindWall(t testing.TB, uid int, role string) string {
	t.Helper()
	out, err := walled(uid, role)
	if errors.Is(err, unix.EPERM) {
		t.Skip(noNamespaces)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// walled is behindWall for several at once.
func walled(uid int, role string, more ...string) (string, error) {
	c := again(fmt.Sprintf("wall %d %s", uid, role), more...)
	var out bytes.Buffer
	c.Stdout = &out
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getegid(), Size: 1}}
		c.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_DAC_OVERRIDE}
	}
	runtime.LockOSThread() // the wall ends with the thread that started it, which another test may end
	defer runtime.UnlockOSThread()
	err := c.Run()
	return out.String(), err
}

// wall builds the second wall, and runs a role as a user behind it.
func wall(arg string) error {
	var uid int
	var role string
	if _, err := fmt.Sscanf(arg, "%d %s", &uid, &role); err != nil {
		return err
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY, Propagation: unix.MS_PRIVATE}
	for _, step := range []func() error{
		func() error { return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly) },
		func() error { return unix.Mount("proc", "/proc", "proc", 0, "") },
		func() error { return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") },
		func() error { return unix.Mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") },
		func() error { return unix.Mount("tmpfs", "/srv", "tmpfs", 0, "mode=1777") },
		func() error { return unix.Mount("tmpfs", "/home", "tmpfs", 0, "mode=1777") },
		func() error { return os.MkdirAll(filepath.Dir(helper), 0o755) },
		func() error { return os.WriteFile(helper, program, 0o755) },
		func() error { return os.WriteFile(helper+"-setuid", program, 0o755) },
		func() error { return os.Chmod(helper+"-setuid", 0o755|os.ModeSetuid) },
		loopbackUp,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("build the second wall: %w", err)
		}
	}
	c := again(role)
	c.Env = append(c.Env, "HOME=/tmp", "RUNNER_SECRET="+secret,
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	c.Dir, c.Stdout = "/tmp", os.Stdout
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid),
			Gid: uint32(uid)}}
	}
	return c.Run()
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(request)))
	if errno != 0 {
		return errno
	}
	return nil
}

// runBox runs the box that it is given as JSON, and exits as it does.
func runBox(text string) error {
	var b Box
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return err
	}
	code, err := Run(b, Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
	return nil
}

// users are those that a test runs as: nobody, and root if it can be.
func users() map[string]int {
	if os.Geteuid() == 0 {
		return map[string]int{"nobody": 65534, "root": 0}
	}
	return map[string]int{"nobody": 65534}
}
