package walls

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// kill leaves a signal to the kernel, which confines it, unless it is for another command of this
// session: an agent may stop a server that it started before.
func (c *caller) kill() callResult {
	pid, sig := int(int32(c.args[0])), unix.Signal(c.args[1])
	if pid > 0 && pid != os.Getpid() && c.records.isSupervisor(pid) {
		return c.signalSupervisor(pid, sig)
	}
	if c.isOwn(pid) || pid <= 0 && c.scoped && (pid >= -1 || slices.ContainsFunc(c.targets(pid), c.isOwn)) {
		return callResult{proceed: true}
	}
	reached := c.targets(pid)
	if pid > 0 || !slices.ContainsFunc(reached, c.isOwn) {
		if len(reached) == 0 || !slices.ContainsFunc(reached, func(p int) bool { return !c.isSibling(p) }) {
			return errResult(unix.Kill(pid, sig))
		}
		return callResult{errno: unix.EPERM}
	}
	for _, p := range reached { // this kernel would let it out
		if c.isOwn(p) {
			_ = unix.Kill(p, sig)
		}
	}
	return callResult{}
}

// signalSupervisor signals the supervisor of another command of this session, which pkill finds by the
// command in its arguments. It must live to end its tree, so a signal that it cannot catch becomes one
// that it can.
func (c *caller) signalSupervisor(pid int, sig unix.Signal) callResult {
	switch sig {
	case unix.SIGKILL:
		sig = unix.SIGTERM
	case 0, unix.SIGTERM, unix.SIGINT, unix.SIGHUP:
	default:
		return callResult{errno: unix.EPERM}
	}
	return errResult(unix.Kill(pid, sig))
}

// leaveOwn leaves a call about a process to the kernel, if that process is the command's.
func (c *caller) leaveOwn() callResult {
	if pid := int(int32(c.args[0])); pid > 0 && c.isOwn(pid) {
		return callResult{proceed: true}
	}
	return callResult{errno: unix.EPERM}
}

// isOwn reports whether a process or thread belongs to the command.
func (d *supervisor) isOwn(pid int) bool {
	return pid != d.keeper && hasAncestor(pid, func(p int) bool { return p == d.keeper })
}

// isSibling reports whether a process belongs to another command of this session. Its supervisor does
// not.
func (d *supervisor) isSibling(pid int) bool {
	if d.records.isSupervisor(pid) {
		return false
	}
	parent, _, err := stat(pid)
	if err != nil || d.records.isSupervisor(parent) { // the keeper
		return false
	}
	return hasAncestor(parent, d.records.isSupervisor)
}

// targets returns the processes that a signal for pid reaches: one, those of a group, or all.
func (c *caller) targets(pid int) (out []int) {
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

// openPeer opens the other end of a new terminal. Names of terminals are not granted: those of others
// could be read.
func (c *caller) openPeer() callResult {
	master, err := c.copyFD(c.args[0])
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(master)
	// Without O_NOCTTY it could become the terminal of the supervisor.
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER,
		uintptr(c.args[2])|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return errResult(errno)
	}
	defer unix.Close(int(slave))
	return c.addFD(int(slave), -1, c.args[2]&unix.O_CLOEXEC)
}
