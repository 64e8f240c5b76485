package walls

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plan is what the child does, as data: nothing but system calls, whose arguments are ready.
type plan struct {
	ops   []op
	flags uintptr // namespaces of the child
	kept  []any   // what the arguments point to
	files []int   // what is open for the child alone
	part  Part    // what is missing where the next steps fail
}

// atCwd is AT_FDCWD as an argument.
const atCwd = ^uintptr(99)

func (p *plan) do(what string, nr uintptr, args ...uintptr) *op {
	o := op{what: what, nr: nr, part: p.part}
	copy(o.args[:], args)
	p.ops = append(p.ops, o)
	return &p.ops[len(p.ops)-1]
}

// text is a string for the kernel.
func (p *plan) text(s string) uintptr {
	b := append([]byte(s), 0)
	p.kept = append(p.kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// texts is a list of strings for the kernel.
func (p *plan) texts(list []string) uintptr {
	out := make([]uintptr, len(list)+1)
	for i, s := range list {
		out[i] = p.text(s)
	}
	p.kept = append(p.kept, out)
	return uintptr(unsafe.Pointer(&out[0]))
}

// at is where a value stands that the kernel reads or fills.
func at[T any](p *plan, v T) uintptr {
	kept := &v
	p.kept = append(p.kept, kept)
	return uintptr(unsafe.Pointer(kept))
}

func (p *plan) close() {
	for _, fd := range p.files {
		unix.Close(fd)
	}
}

// start is what a plan needs beside the box.
type start struct {
	program string // path of the command
	streams [3]int // what becomes standard input, output and error
	gate    int    // read before the command begins
	offer   Offer
	without Part // what is not enforced, since it may be missing
}

// Names of steps that the supervisor looks for.
const (
	stepListen = "hand system calls to the supervisor"
	stepRun    = "run the command"
)

// plan puts together what the child does. The order matters: what needs a right comes before
// that right is given up.
func (b Box) plan(s start) (*plan, error) {
	p := &plan{}
	p.signals()
	p.do("end with the keeper", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	for to, fd := range s.streams {
		if fd != to {
			p.do("standard streams", unix.SYS_DUP3, uintptr(fd), uintptr(to), 0)
		}
	}
	if err := b.mounts(p, s); err != nil {
		return nil, err
	}
	dir := b.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	p.do("enter "+dir, unix.SYS_CHDIR, p.text(dir))
	b.Limits.bounds(p, s.offer.landlock)
	if err := p.capabilities(); err != nil {
		return nil, err
	}
	p.do("close what is open", unix.SYS_CLOSE_RANGE, 3, 1<<31, unix.CLOSE_RANGE_CLOEXEC)
	p.do("give up new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	grants, err := b.grants()
	if err != nil {
		return nil, err
	}
	h := s.offer.landlock
	if b.Net == NetOpen {
		h.net &^= unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	set, err := domain(h, grants, s.streams)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, set)
	p.do("restrict files", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0)
	code, err := filter(b.calls(h, p.flags != 0))
	if err != nil {
		p.close()
		return nil, err
	}
	p.kept = append(p.kept, code)
	program := at(p, unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
	p.do(stepListen, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|s.offer.patience, program).tell = true
	p.do("wait for the supervisor", unix.SYS_READ, uintptr(s.gate), at(p, [8]byte{}), 1).min = 1
	var none unix.Sigset_t
	p.do("let signals in", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, at(p, none), 0, 8)
	p.do(stepRun, unix.SYS_EXECVE, p.text(s.program), p.texts(b.Command), p.texts(b.Env))
	return p, nil
}

// signals gives signals back their default. Handlers of a Go program would run in the child
// otherwise, until it runs another program; what is ignored stays so, as nohup wants it.
func (p *plan) signals() {
	var none, now [8]uint64 // struct sigaction: its first word is the handler
	fresh := at(p, none)
	for n := 1; n <= 64; n++ {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), 0, uintptr(unsafe.Pointer(&now)),
			8, 0, 0)
		if errno == 0 && now[0] > 1 {
			p.do("reset signals", unix.SYS_RT_SIGACTION, uintptr(n), fresh, 0, 8)
		}
	}
}

// capabilities drops all of them, and what could bring them back.
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
			p.do("drop a capability for good", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
	}
	p.do("drop capabilities for children", unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL,
		0, 0, 0)
	p.do("drop capabilities", unix.SYS_CAPSET, at(p, header), at(p, [2]unix.CapUserData{}))
	return nil
}

// tasks is how many threads a process may have on average, before the kernel refuses more. Processes
// are counted a few times a second, and a fork bomb is faster.
const tasks = 16

// bounds are the limits that the kernel keeps by itself. Tasks it counts by user, and so only in a
// user namespace of the command's own, on kernels that count there alone (5.14; REFER came with 5.19).
func (l Limits) bounds(p *plan, h handled) {
	set := func(what string, resource int, n uint64) {
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err == nil && have.Max < n {
			n = have.Max
		}
		p.do("limit "+what, unix.SYS_PRLIMIT64, 0, uintptr(resource), at(p, unix.Rlimit{Cur: n, Max: n}), 0)
	}
	set("core dumps", unix.RLIMIT_CORE, 0)
	if l.File > 0 {
		set("files", unix.RLIMIT_FSIZE, uint64(l.File))
	}
	if l.Processes > 0 && p.flags&unix.CLONE_NEWUSER != 0 && h.fs&unix.LANDLOCK_ACCESS_FS_REFER != 0 {
		set("tasks", unix.RLIMIT_NPROC, uint64(l.Processes)*tasks)
	}
	if l.Open > 0 {
		set("open files", unix.RLIMIT_NOFILE, uint64(l.Open))
	}
}

// covered are the paths of a box for which Landlock is not enough, since they lie below a
// folder that may be written: those that are hidden, and those that are fixed.
func (b Box) covered() (hidden, fixed []string) {
	inside := func(list []string) (out []string) {
		for _, path := range list {
			if _, err := os.Lstat(path); err == nil && underAny(path, b.Write) {
				out = append(out, path)
			}
		}
		return out
	}
	return inside(b.Deny), inside(b.Fixed)
}
