package walls

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// op is one system call of the child. The parent prepares all of them, since the child can neither
// allocate nor wait for a goroutine.
type op struct {
	what   string // description for errors
	nr     uintptr
	args   [6]uintptr
	min    uintptr // least successful result
	report bool    // report the result to the parent
	part   Part    // what cannot be enforced if it fails
}

// lastResult stands for the result of the call before.
const lastResult = ^uintptr(0x5eed)

// Messages of the child and its keeper.
const (
	msgKeeper  = iota + 1 // a: pid of the command
	msgResult             // a: index of the op, b: its result
	msgFailure            // a: index of the op, b: errno
	msgEnd                // a: wait status, b: 1 if nothing is left
)

// message is written in one call.
type message struct{ kind, a, b int32 }

// childState is what the keeper and the child need. They share the memory of the supervisor, since
// copying it would take half a millisecond, so all of this stays until both have ended.
type childState struct {
	ops      []op
	flags    uintptr    // of clone, for the child
	report   uintptr    // file descriptor for messages
	signals  uintptr    // a signalfd for SIGCHLD and keeperSignal
	parent   int        // pid of the supervisor
	text     [4096]byte // scratch for the keeper
	children *byte      // "/proc/thread-self/children"
	status   int32
	stacks   [2][8192]byte // of the keeper and of the child
}

// Processes, as indexes of childState.stacks.
const (
	keeperProcess = iota
	childProcess
)

// keeperSignal tells the keeper that the supervisor has ended.
const keeperSignal = unix.SIGUSR1

// spawn starts a keeper, which starts the child. The keeper outlives the supervisor by the time it
// takes to end what the command left: a gateway that gives up on a command kills the supervisor with
// SIGKILL, and nothing may be left then either. The thread must stay locked, since its death signals
// the keeper.
func spawn(p *plan, report int) (keeper int, b *childState, err error) {
	var all, before, wanted unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	wanted.Val[0] = 1<<(unix.SIGCHLD-1) | 1<<(keeperSignal-1)
	signals, err := unix.Signalfd(-1, &wanted, unix.SFD_CLOEXEC)
	if err != nil {
		return 0, nil, fmt.Errorf("signalfd: %w", err)
	}
	defer unix.Close(signals)
	children := append([]byte("/proc/thread-self/children"), 0)
	b = &childState{ops: p.ops, flags: p.flags, report: uintptr(report), signals: uintptr(signals),
		parent: os.Getpid(), children: &children[0]}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return 0, nil, fmt.Errorf("block signals: %w", err)
	}
	pid := b.startProcess(keeperProcess, 0)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if pid < 0 {
		return 0, nil, fmt.Errorf("fork: %w", unix.Errno(-pid))
	}
	return pid, b, nil
}

// clone starts a process that goes on in a function, on its own stack.
func clone(flags, stack, function uintptr, b *childState, who uintptr) (pidOrErrno int)

// syscall6 returns a negative number for an error. The race detector instruments that of the library
// and would mix up the processes.
func syscall6(nr, a1, a2, a3, a4, a5, a6 uintptr) int

// startProcess starts a process that shares our memory until it runs another program.
//
//go:norace
//go:nosplit
func (b *childState) startProcess(who, flags uintptr) int {
	const room = 64 // for what is handed over
	stack := &b.stacks[who]
	top := uintptr(unsafe.Pointer(stack)) + unsafe.Sizeof(*stack) - room
	// a direct call from assembly would bypass the race detector, and look like endless recursion
	begin := childMain
	return clone(flags|unix.CLONE_VM|uintptr(unix.SIGCHLD), top&^15, **(**uintptr)(unsafe.Pointer(&begin)), b,
		who)
}

// childMain is the entry of a new process. It can neither allocate nor wait for a goroutine.
//
//go:norace
//go:nosplit
func childMain(b *childState, who uintptr) {
	if who == childProcess {
		runChild(b)
	}
	syscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(keeperSignal), 0, 0, 0, 0)
	syscall6(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0)
	child := b.startProcess(childProcess, b.flags)
	if child < 0 {
		sendMessage(b.report, msgFailure, -1, int32(-child))
		exit(125)
	}
	runKeeper(b, child)
}

// runChild makes the calls of the child, of which the last is execve.
//
//go:norace
//go:nosplit
func runChild(b *childState) {
	var result uintptr
	for i := range b.ops {
		o := &b.ops[i]
		a := o.args
		for k := range a {
			if a[k] == lastResult {
				a[k] = result
			}
		}
		r := syscall6(o.nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if r >= 0 && r < int(o.min) {
			r = -int(unix.EPIPE)
		}
		if r < 0 {
			sendMessage(b.report, msgFailure, int32(i), int32(-r))
			exit(125)
		}
		if result = uintptr(r); o.report {
			sendMessage(b.report, msgResult, int32(i), int32(r))
		}
	}
	exit(125)
}

// runKeeper reaps processes, reports how the command ended, and kills what is left when the supervisor
// has ended. It is in its own group, so that a signal to the command's group does not end it.
//
//go:norace
//go:nosplit
func runKeeper(b *childState, command int) {
	syscall6(unix.SYS_SETPGID, 0, 0, 0, 0, 0, 0)
	sendMessage(b.report, msgKeeper, int32(command), 0)
	syscall6(unix.SYS_DUP3, b.report, 0, 0, 0, 0, 0)
	syscall6(unix.SYS_DUP3, b.signals, 1, 0, 0, 0, 0)
	syscall6(unix.SYS_CLOSE_RANGE, 2, 1<<31, 0, 0, 0, 0)
	const report, signals = 0, 1
	var how int32
	for ended, reported := false, false; ; {
		for {
			pid := syscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&b.status)),
				unix.WNOHANG|unix.WALL, 0, 0, 0)
			if pid == -int(unix.ECHILD) && ended {
				if !reported {
					sendMessage(report, msgEnd, how, 1)
				}
				exit(0)
			}
			if pid <= 0 {
				break
			}
			if pid == command {
				ended, how = true, b.status
			}
		}
		if ended && !reported {
			reported = true
			sendMessage(report, msgEnd, how, 0)
		}
		if syscall6(unix.SYS_GETPPID, 0, 0, 0, 0, 0, 0) != b.parent {
			killChildren(b)
			exit(0)
		}
		syscall6(unix.SYS_READ, signals, uintptr(unsafe.Pointer(&b.text)), 4096, 0, 0, 0)
	}
}

// killChildren kills the children of the keeper until there are none. It adopts the children of what it
// kills.
//
//go:norace
//go:nosplit
func killChildren(b *childState) {
	for {
		fd := syscall6(unix.SYS_OPENAT, uintptr(atFDCWD), uintptr(unsafe.Pointer(b.children)),
			unix.O_RDONLY, 0, 0, 0)
		if fd < 0 {
			return
		}
		n := syscall6(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b.text)), 4096, 0, 0, 0)
		syscall6(unix.SYS_CLOSE, uintptr(fd), 0, 0, 0, 0, 0)
		pid := uintptr(0)
		for i := 0; i < n && i < len(b.text); i++ {
			if c := b.text[i]; c >= '0' && c <= '9' {
				pid = pid*10 + uintptr(c-'0')
				continue
			}
			if pid > 1 {
				syscall6(unix.SYS_KILL, pid, uintptr(unix.SIGKILL), 0, 0, 0, 0)
			}
			pid = 0
		}
		if syscall6(unix.SYS_WAIT4, ^uintptr(0), 0, unix.WALL, 0, 0, 0) <= 0 {
			return
		}
	}
}

//go:norace
//go:nosplit
func sendMessage(report uintptr, kind, a, c int32) {
	m := message{kind, a, c}
	syscall6(unix.SYS_WRITE, report, uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m), 0, 0, 0)
}

//go:norace
//go:nosplit
func exit(code uintptr) {
	for {
		syscall6(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}
