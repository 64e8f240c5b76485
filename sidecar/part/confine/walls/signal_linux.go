package walls

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// kill is left to the kernel, which keeps it inside, unless it is for another command of
// this session: an agent may stop the server that it started before.
func (c *caller) kill() verdict {
	pid, sig := int(int32(c.args[0])), unix.Signal(c.args[1])
	if pid > 0 && pid != os.Getpid() && c.records.supervises(pid) {
		return c.supervisor(pid, sig)
	}
	if c.mine(pid) || pid <= 0 && c.scoped && (pid >= -1 || slices.ContainsFunc(c.members(pid), c.mine)) {
		return verdict{leave: true}
	}
	reached := c.members(pid)
	if pid > 0 || !slices.ContainsFunc(reached, c.mine) {
		if len(reached) == 0 || !slices.ContainsFunc(reached, func(p int) bool { return !c.siblings(p) }) {
			return no(unix.Kill(pid, sig))
		}
		return verdict{errno: unix.EPERM}
	}
	for _, p := range reached { // this kernel would let it out
		if c.mine(p) {
			_ = unix.Kill(p, sig)
		}
	}
	return verdict{}
}

// supervisor signals that of another command of this session: pkill finds it by the command in
// its arguments. It must live to end its tree, so the signal that it cannot catch becomes one
// that it can.
func (c *caller) supervisor(pid int, sig unix.Signal) verdict {
	switch sig {
	case unix.SIGKILL:
		sig = unix.SIGTERM
	case 0, unix.SIGTERM, unix.SIGINT, unix.SIGHUP:
	default:
		return verdict{errno: unix.EPERM}
	}
	return no(unix.Kill(pid, sig))
}

// ofTree leaves a call about a process to the kernel, if that is one of the command.
func (c *caller) ofTree() verdict {
	if pid := int(int32(c.args[0])); pid > 0 && c.mine(pid) {
		return verdict{leave: true}
	}
	return verdict{errno: unix.EPERM}
}

// mine says whether a process, or a thread, is one of the command.
func (d *deputy) mine(pid int) bool {
	return pid != d.keeper && ancestor(pid, func(p int) bool { return p == d.keeper })
}

// siblings says whether a process belongs to another command of this session. Its supervisor does not.
func (d *deputy) siblings(pid int) bool {
	if d.records.supervises(pid) {
		return false
	}
	parent, _, err := stat(pid)
	if err != nil || d.records.supervises(parent) { // the keeper
		return false
	}
	return ancestor(parent, d.records.supervises)
}

// members are the processes that a signal for pid means: it, those of a group, or all.
func (c *caller) members(pid int) (out []int) {
	switch pid {
	case 0:
		_, own, _ := stat(int(c.pid))
		pid = -own
	case -1:
		return descendants(c.keeper)
	}
	if pid > 0 {
		return []int{pid}
	}
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		n, _ := strconv.Atoi(filepath.Base(e))
		if _, group, err := stat(n); err == nil && group == -pid {
			out = append(out, n)
		}
	}
	return out
}

// terminal opens the other end of a new terminal. Names of terminals are not granted: those
// of others could be read.
func (c *caller) terminal() verdict {
	master, err := c.fd(c.args[0])
	if err != nil {
		return no(err)
	}
	defer unix.Close(master)
	// Without O_NOCTTY it could become the terminal of the supervisor.
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER,
		uintptr(c.args[2])|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return no(errno)
	}
	defer unix.Close(int(slave))
	return c.give(int(slave), -1, c.args[2]&unix.O_CLOEXEC)
}
