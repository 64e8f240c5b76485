package walls

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is a system call that waits for the supervisor: struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32 // of the thread
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

const (
	ioctlValid    = 0x40082102
	ioctlAddFD    = 0x40182103
	ioctlSetFlags = 0x40082104
)

// callResult is the result of a call that the supervisor did, or leave: the kernel does it. A call is
// left to the kernel only if its arguments are plain numbers, or if the kernel's own rules hold
// whatever they are: text in memory could change in between.
type callResult struct {
	errno    unix.Errno
	value    int64
	proceed  bool
	answered bool
}

func errResult(err error) callResult {
	var errno unix.Errno
	if err == nil {
		return callResult{}
	}
	if !errors.As(err, &errno) {
		errno = unix.EPERM
	}
	return callResult{errno: errno}
}

// maxWaiting is how many calls may wait at once for a peer. Each has a thread here.
const maxWaiting = 1000

// supervisor does for a command what it may not do itself.
type supervisor struct {
	box       Box
	records   *records
	listener  int
	keeper    int
	ownMounts bool // the command has its own mounts
	scoped    bool // the kernel confines signals
	handlers  map[int]func(*caller) callResult

	receiving sync.Mutex // held while taking and answering calls
	idle      atomic.Int32
	threads   sync.WaitGroup

	mu      sync.Mutex
	waiting map[int]bool // sockets that wait for a peer
	ended   bool
}

// startSupervisor answers the system calls of the command from now on.
func (r *run) startSupervisor() {
	r.supervisor = &supervisor{
		box: r.box, records: r.records, listener: r.listener, keeper: r.keeper, handlers: callHandlers(),
		waiting:   map[int]bool{},
		ownMounts: r.plan.flags != 0, scoped: r.offer.landlock.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0,
	}
	r.supervisor.threads.Go(r.supervisor.serve)
}

// serve answers until no process is left that could ask. It first drops all capabilities: it must not
// be able to do more than the command. One thread at a time takes calls and answers the quick ones;
// before a slow one it lets another thread take over.
func (d *supervisor) serve() {
	runtime.LockOSThread() // and never unlock: capabilities belong to a thread, which ends with this
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return
	}
	d.receiving.Lock()
	defer d.receiving.Unlock()
	for {
		n, err := d.next()
		if err != nil {
			return
		}
		c := &caller{notification: n, supervisor: d}
		v := callResult{errno: unix.EPERM}
		if issuer := d.handlers[int(n.nr)]; issuer != nil {
			v = issuer(c)
		}
		if !v.answered {
			c.answer(v)
		}
	}
}

// next returns the next call. An error is the end.
func (d *supervisor) next() (n notification, err error) {
	for {
		fds := []unix.PollFd{{Fd: int32(d.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return n, err
		}
		if fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
			return n, io.EOF
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			continue
		}
		n = notification{}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n)))
		if errno == 0 {
			return n, nil
		} // the caller is gone otherwise
	}
}

// answerSlowly answers a call that may take long, while another thread takes the next ones.
func (c *caller) answerSlowly(fd int, do func() error) callResult {
	c.mu.Lock()
	full := c.ended || len(c.waiting) >= maxWaiting
	if !full {
		c.waiting[fd] = true
	}
	c.mu.Unlock()
	if full {
		return callResult{errno: unix.EAGAIN}
	}
	if c.idle.Load() == 0 {
		c.threads.Go(c.serve)
	}
	c.receiving.Unlock()
	c.answer(errResult(do()))
	c.mu.Lock()
	delete(c.waiting, fd)
	c.mu.Unlock()
	c.idle.Add(1)
	c.receiving.Lock()
	c.idle.Add(-1)
	return callResult{answered: true}
}

// end waits until all threads have ended. The command has; calls that wait for a peer are woken.
func (d *supervisor) end() {
	d.mu.Lock()
	d.ended = true
	for fd := range d.waiting {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR)
	}
	d.mu.Unlock()
	d.threads.Wait()
}

// caller is a thread that waits for its call.
type caller struct {
	notification
	*supervisor
	pidfd int // 0 until it is needed
}

func (c *caller) answer(v callResult) {
	r := reply{id: c.id, value: v.value, errno: -int32(v.errno)}
	if v.proceed {
		r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
		uintptr(unsafe.Pointer(&r)))
	if c.pidfd > 0 {
		unix.Close(c.pidfd)
	}
}

// validate returns an error if the caller no longer waits. If it does, what was read by its pid is the
// caller's.
func (c *caller) validate() error {
	id := c.id
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), ioctlValid,
		uintptr(unsafe.Pointer(&id))); errno != 0 {
		return errno
	}
	return nil
}

// copyFD returns a copy of a file of the caller.
func (c *caller) copyFD(n uint64) (int, error) {
	if int32(n) < 0 {
		return -1, unix.EBADF
	}
	if c.pidfd == 0 {
		const pidfdThread = unix.O_EXCL
		fd, err := unix.PidfdOpen(int(c.pid), pidfdThread)
		if errors.Is(err, unix.EINVAL) { // before 6.9, only of whole processes
			fd, err = unix.PidfdOpen(c.process(), 0)
		}
		if err != nil {
			return -1, err
		}
		if err := c.validate(); err != nil {
			unix.Close(fd)
			return -1, err
		}
		c.pidfd = fd
	}
	return unix.PidfdGetfd(c.pidfd, int(int32(n)), 0)
}

// process returns the pid of the caller's process.
func (c *caller) process() int {
	n, _ := strconv.Atoi(procField(c.proc("status"), "Tgid:"))
	return n
}

// readMemory copies n bytes of the caller, once.
func (c *caller) readMemory(from uint64, n int) ([]byte, error) {
	buf := make([]byte, n)
	local, remote := []unix.Iovec{{Base: &buf[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(from),
		Len: n}}
	if got, err := unix.ProcessVMReadv(int(c.pid), local, remote, 0); err != nil || got != n {
		return nil, unix.EFAULT
	}
	return buf, c.validate()
}

// readString copies a string of the caller, page by page.
func (c *caller) readString(from uint64) (string, error) {
	var out []byte
	for len(out) < unix.PathMax {
		part, err := c.readMemory(from, int(4096-from%4096))
		if err != nil {
			return "", err
		}
		for i, b := range part {
			if b == 0 {
				return string(append(out, part[:i]...)), nil
			}
		}
		out = append(out, part...)
		from += uint64(len(part))
	}
	return "", unix.ENAMETOOLONG
}

// readTimes copies n numbers; nil if the pointer is null.
func (c *caller) readTimes(from uint64, n int) ([]int64, error) {
	if from == 0 {
		return nil, nil
	}
	buf, err := c.readMemory(from, 8*n)
	if err != nil {
		return nil, err
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(binary.NativeEndian.Uint64(buf[8*i:]))
	}
	return out, nil
}
