package walls

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func kernelAttempts() []escape {
	call := func(nr uintptr, args ...uintptr) func() error {
		return func() error {
			var a [6]uintptr
			copy(a[:], args)
			if _, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	params := new([32]uint64)
	params[0] = 0
	perf := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER0,
		Bits: unix.PerfBitDisabled | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	word := func(s string) uintptr {
		p, _ := unix.BytePtrFromString(s)
		return uintptr(unsafe.Pointer(p))
	}
	return []escape{
		{name: "a user namespace by clone", do: func() error {
			c := exec.Command("/bin/true")
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
			return c.Run()
		}},
		{name: "a user namespace by unshare", do: func() error { return exec.Command("unshare", "-U", "true").Run() }},
		{name: "a user namespace by clone3", do: func() error {
			args := &[11]uint64{unix.CLONE_NEWUSER, 0, 0, 0, uint64(unix.SIGCHLD)}
			pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), 88, 0)
			if errno == 0 && pid == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			if errno != 0 {
				return errno
			}
			return nil
		}},
		{name: "the namespace of another", do: func() error {
			f, err := os.Open(victimFile("ns/user"))
			if err != nil {
				return err
			}
			return unix.Setns(int(f.Fd()), 0)
		}},
		{name: "mount", do: func() error { return unix.Mount("none", inside, "tmpfs", 0, "") }},
		{name: "unmount", do: func() error { return unix.Unmount(inside+"/denied", unix.MNT_DETACH) }},
		{name: "open_tree", do: func() error { _, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE); return err }},
		{name: "chroot", do: func() error { return unix.Chroot(inside) }},
		{name: "io_uring", do: call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(params)))},
		{name: "bpf", do: call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&[]uint32{2, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}[0])), 72)},
		{name: "perf events", do: func() error { _, err := unix.PerfEventOpen(perf, 0, -1, -1, 0); return err }},
		{name: "userfaultfd", do: call(unix.SYS_USERFAULTFD, 1)},
		{name: "keys", do: call(unix.SYS_ADD_KEY, word("user"), word("confine"), word("x"), 1, ^uintptr(3))},
		{name: "kernel log", do: call(unix.SYS_SYSLOG, 10, 0, 0)},
		{name: "a call of 32 bits", do: call32},
		{name: "a call of x32", do: func() error {
			if pid, _, errno := unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0); errno != 0 ||
				int(pid) != os.Getpid() {
				return errno
			}
			return nil
		}},
		{name: "a call that does not exist yet", do: func() error {
			if _, _, errno := unix.RawSyscall(600, 0, 0, 0); errno != unix.ENOSYS {
				return nil
			}
			return unix.ENOSYS
		}},
		{name: "a filter that answers by itself", do: func() error {
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			all := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
			_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
				unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
				uintptr(unsafe.Pointer(&unix.SockFprog{Len: 1, Filter: &all[0]})))
			if errno != 0 {
				return errno
			}
			return nil
		}},
		{name: "a filter that allows", do: func() error {
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			all := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
			_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
				uintptr(unsafe.Pointer(&unix.SockFprog{Len: 1, Filter: &all[0]})))
			if errno != 0 {
				return errno
			}
			return os.Chmod(readable+"/file", 0o777)
		}},
		{name: "typing into a terminal", do: func() error {
			fd, err := unix.Open("/dev/ptmx", unix.O_RDWR, 0)
			if err != nil {
				return err
			}
			return call(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, word("x"))()
		}},
		{name: "writing on the terminal of another", do: func() error {
			name, err := os.ReadFile(readable + "/tty")
			if err != nil {
				return err
			}
			fd, err := unix.Open(string(name), unix.O_RDWR|unix.O_NOCTTY, 0)
			if err != nil {
				return err
			}
			_, err = unix.Write(fd, []byte("x"))
			return err
		}},
		{name: "capabilities", do: func() error {
			text, err := os.ReadFile("/proc/thread-self/status")
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); (f[0] == "CapEff:" || f[0] == "CapPrm:") &&
					strings.Trim(f[1], "0") != "" {
					return nil
				}
			}
			return errors.New("there are none")
		}},
		{name: "new privileges", do: func() error {
			if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set == 1 {
				return fmt.Errorf("programs get none: %w", errors.Join(err))
			}
			return nil
		}},
		{name: "shared memory of another", do: func() error {
			text, err := os.ReadFile(readable + "/shm")
			if err != nil {
				return err
			}
			id, err := strconv.Atoi(string(text))
			if err != nil {
				return err
			}
			memory, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
			if err == nil && !strings.HasPrefix(string(memory), secret) {
				err = errors.New("something else is in it")
			}
			return err
		}},
		{name: "a message queue", do: call(unix.SYS_MQ_OPEN, word("confine-victim"), unix.O_RDONLY, 0, 0)},
		{name: "kernel settings", do: func() error { return os.WriteFile("/proc/sys/kernel/domainname", []byte("x"), 0) }},
		{name: "core dumps", do: func() error {
			var l unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil || l.Max == 0 {
				return errors.Join(errors.New("there are none"), err)
			}
			return nil
		}},
	}
}
