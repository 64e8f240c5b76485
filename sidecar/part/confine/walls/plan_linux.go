package walls

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plan is what the child does: only system calls, with their arguments prepared.
type plan struct {
	ops    []op
	flags  uintptr // namespaces of the child
	pinned []any   // what the arguments point to
	files  []int   // open only for the child
	part   Part    // what is missing if the next steps fail
}

const atFDCWD = ^uintptr(99)

func (p *plan) add(what string, nr uintptr, args ...uintptr) *op {
	o := op{what: what, nr: nr, part: p.part}
	copy(o.args[:], args)
	p.ops = append(p.ops, o)
	return &p.ops[len(p.ops)-1]
}

// cString returns a string for the kernel.
func (p *plan) cString(s string) uintptr {
	b := append([]byte(s), 0)
	p.pinned = append(p.pinned, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// cStrings returns a list of strings for the kernel.
func (p *plan) cStrings(list []string) uintptr {
	out := make([]uintptr, len(list)+1)
	for i, s := range list {
		out[i] = p.cString(s)
	}
	p.pinned = append(p.pinned, out)
	return uintptr(unsafe.Pointer(&out[0]))
}

// pointer returns the address of a copy of v, for the kernel to read or fill.
func pointer[T any](p *plan, v T) uintptr {
	kept := &v
	p.pinned = append(p.pinned, kept)
	return uintptr(unsafe.Pointer(kept))
}

func (p *plan) close() {
	for _, fd := range p.files {
		unix.Close(fd)
	}
}

// planInput is what a plan needs besides the box.
type planInput struct {
	program string // path of the command
	streams [3]int // what becomes standard input, output and error
	gate    int    // read before the command begins
	offer   Offer
	without Part // a part that may be missing and is not enforced
}

// Names of steps that the supervisor looks for.
const (
	stepListen = "hand system calls to the supervisor"
	stepRun    = "run the command"
)

// plan returns what the child does. The order matters: a step comes before the right that it needs is
// given up.
func (b Box) plan(s planInput) (*plan, error) {
	p := &plan{}
	p.signals()
	p.add("end with the keeper", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	for to, fd := range s.streams {
		if fd != to {
			p.add("standard streams", unix.SYS_DUP3, uintptr(fd), uintptr(to), 0)
		}
	}
	if err := b.mounts(p, s); err != nil {
		return nil, err
	}
	dir := b.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	p.add("enter "+dir, unix.SYS_CHDIR, p.cString(dir))
	b.Limits.rlimits(p, s.offer.landlock)
	if err := p.capabilities(); err != nil {
		return nil, err
	}
	p.add("close what is open", unix.SYS_CLOSE_RANGE, 3, 1<<31, unix.CLOSE_RANGE_CLOEXEC)
	p.add("give up new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	grants, err := b.grants()
	if err != nil {
		return nil, err
	}
	h := s.offer.landlock
	if b.Net == NetOpen {
		h.net &^= unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	set, err := newDomain(h, grants, s.streams)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, set)
	p.add("restrict files", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0)
	code, err := filter(b.callRules(h, p.flags != 0))
	if err != nil {
		p.close()
		return nil, err
	}
	p.pinned = append(p.pinned, code)
	program := pointer(p, unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
	p.add(stepListen, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|s.offer.waitKillable, program).report = true
	p.add("wait for the supervisor", unix.SYS_READ, uintptr(s.gate), pointer(p, [8]byte{}), 1).min = 1
	var none unix.Sigset_t
	p.add("let signals in", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, pointer(p, none), 0, 8)
	p.add(stepRun, unix.SYS_EXECVE, p.cString(s.program), p.cStrings(b.Command), p.cStrings(b.Env))
	return p, nil
}

// signals resets signals to their default. Otherwise handlers of a Go program would run in the child
// until it runs another program. Ignored signals stay ignored, as nohup requires.
func (p *plan) signals() {
	var none, now [8]uint64 // struct sigaction: its first word is the handler
	fresh := pointer(p, none)
	for n := 1; n <= 64; n++ {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), 0, uintptr(unsafe.Pointer(&now)),
			8, 0, 0)
		if errno == 0 && now[0] > 1 {
			p.add("reset signals", unix.SYS_RT_SIGACTION, uintptr(n), fresh, 0, 8)
		}
	}
}

// capabilities drops all capabilities, and what could bring them back.
func (p *plan) capabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own [2]unix.CapUserData
	if err := unix.Capget(&header, &own[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	if own[0].Permitted|own[1].Permitted == 0 && p.flags&unix.CLONE_NEWUSER == 0 {
		return nil
	}
	if p.flags&unix.CLONE_NEWUSER != 0 || own[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for c := uintptr(0); c < 64; c++ {
			if set, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil || set < 0 {
				break
			}
			p.add("drop a capability for good", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	p.add("drop capabilities for children", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL,
		0, 0, 0)
	p.add("drop capabilities", unix.SYS_CAPSET, pointer(p, header), pointer(p, [2]unix.CapUserData{}))
	return nil
}

// tasksPerProcess is how many threads a process may have on average. Processes are counted a few times
// a second, and a fork bomb is faster, so the kernel bounds threads.
const tasksPerProcess = 16

// rlimits adds the limits that the kernel enforces. It counts tasks by user, so that one is set only
// in a user namespace of the command's own, on kernels that count there alone (5.14; REFER came with
// 5.19).
func (l Limits) rlimits(p *plan, h landlockRights) {
	set := func(what string, resource int, n uint64) {
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err == nil && have.Max < n {
			n = have.Max
		}
		p.add("limit "+what, unix.SYS_PRLIMIT64, 0, uintptr(resource),
			pointer(p, unix.Rlimit{Cur: n, Max: n}), 0)
	}
	set("core dumps", unix.RLIMIT_CORE, 0)
	if l.File > 0 {
		set("files", unix.RLIMIT_FSIZE, uint64(l.File))
	}
	if l.Processes > 0 && p.flags&unix.CLONE_NEWUSER != 0 && h.fs&unix.LANDLOCK_ACCESS_FS_REFER != 0 {
		set("tasks", unix.RLIMIT_NPROC, uint64(l.Processes)*tasksPerProcess)
	}
	if l.Open > 0 {
		set("open files", unix.RLIMIT_NOFILE, uint64(l.Open))
	}
}

// belowWritable returns the hidden and the fixed paths below a writable folder, for which Landlock is
// not enough.
func (b Box) belowWritable() (hidden, fixed []string) {
	inside := func(list []string) (out []string) {
		for _, path := range list {
			if _, err := os.Lstat(path); err == nil && isUnderAny(path, b.Write) {
				out = append(out, path)
			}
		}
		return out
	}
	return inside(b.Deny), inside(b.Fixed)
}
