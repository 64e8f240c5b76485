package walls

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notice is a system call that waits for the supervisor: struct seccomp_notif.
type notice struct {
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

// verdict is what becomes of a call: done by the supervisor, with an error or none, or left to
// the kernel. A call is left to it only if its arguments are plain numbers, or if the
// kernel's own rules hold whatever they are: text in memory could change in the meantime.
type verdict struct {
	errno    unix.Errno
	value    int64
	leave    bool
	answered bool
}

func no(err error) verdict {
	var errno unix.Errno
	if err == nil {
		return verdict{}
	}
	if !errors.As(err, &errno) {
		errno = unix.EPERM
	}
	return verdict{errno: errno}
}

// mostBusy is how many calls may wait at once for the other side. Each has a thread here.
const mostBusy = 1000

// deputy does for a command what it may not do alone.
type deputy struct {
	box      Box
	records  *records
	listener int
	keeper   int
	apart    bool // the command has mounts of its own
	scoped   bool // the kernel keeps signals inside
	handlers map[int]func(*caller) verdict

	turn    sync.Mutex // of who takes the next call
	idle    atomic.Int32
	threads sync.WaitGroup

	mu      sync.Mutex
	waiting map[int]bool // sockets that wait for the other side
	ended   bool
}

// deputize lets a deputy answer the system calls of the command from now on.
func (r *run) deputize() {
	r.deputy = &deputy{
		box: r.box, records: r.records, listener: r.listener, keeper: r.keeper, handlers: callHandlers(),
		waiting: map[int]bool{},
		apart:   r.plan.flags != 0, scoped: r.offer.landlock.scoped&unix.LANDLOCK_SCOPE_SIGNAL != 0,
	}
	r.deputy.threads.Go(r.deputy.serve)
}

// serve answers until no process is left that could ask. It gives up all capabilities first: it
// must not be able to do more than the command. One thread at a time takes calls, and answers
// what is quick at once; before it does what may take long it lets another one take over.
func (d *deputy) serve() {
	runtime.LockOSThread() // and never unlock: capabilities belong to a thread, which ends with this
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	for {
		n, err := d.next()
		if err != nil {
			return
		}
		c := &caller{notice: n, deputy: d}
		v := verdict{errno: unix.EPERM}
		if issuer := d.handlers[int(n.nr)]; issuer != nil {
			v = issuer(c)
		}
		if !v.answered {
			c.answer(v)
		}
	}
}

// next is the next call. An error is the end.
func (d *deputy) next() (n notice, err error) {
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
		n = notice{}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&n)))
		if errno == 0 {
			return n, nil
		} // the caller is gone otherwise
	}
}

// slowly answers a call on a socket that may take long, while another thread takes the next ones.
func (c *caller) slowly(fd int, do func() error) verdict {
	c.mu.Lock()
	full := c.ended || len(c.waiting) >= mostBusy
	if !full {
		c.waiting[fd] = true
	}
	c.mu.Unlock()
	if full {
		return verdict{errno: unix.EAGAIN}
	}
	if c.idle.Load() == 0 {
		c.threads.Go(c.serve)
	}
	c.turn.Unlock()
	c.answer(no(do()))
	c.mu.Lock()
	delete(c.waiting, fd)
	c.mu.Unlock()
	c.idle.Add(1)
	c.turn.Lock()
	c.idle.Add(-1)
	return verdict{answered: true}
}

// end waits until all threads are gone. The command is; what waits for the other side is woken.
func (d *deputy) end() {
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
	notice
	*deputy
	pidfd int // once it was needed
}

func (c *caller) answer(v verdict) {
	r := reply{id: c.id, value: v.value, errno: -int32(v.errno)}
	if v.leave {
		r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
		uintptr(unsafe.Pointer(&r)))
	if c.pidfd > 0 {
		unix.Close(c.pidfd)
	}
}

// waits says whether the caller still waits. What was read of it by its pid is its own then.
func (c *caller) waits() error {
	id := c.id
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), ioctlValid,
		uintptr(unsafe.Pointer(&id))); errno != 0 {
		return errno
	}
	return nil
}

// fd is a copy of a file of the caller.
func (c *caller) fd(n uint64) (int, error) {
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
		if err := c.waits(); err != nil {
			unix.Close(fd)
			return -1, err
		}
		c.pidfd = fd
	}
	return unix.PidfdGetfd(c.pidfd, int(int32(n)), 0)
}

// process is the pid of the caller's process.
func (c *caller) process() int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(int(c.pid)) + "/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Tgid:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(rest))
			return n
		}
	}
	return 0
}

// memory copies n bytes of the caller, once.
func (c *caller) memory(from uint64, n int) ([]byte, error) {
	buf := make([]byte, n)
	local, remote := []unix.Iovec{{Base: &buf[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(from),
		Len: n}}
	if got, err := unix.ProcessVMReadv(int(c.pid), local, remote, 0); err != nil || got != n {
		return nil, unix.EFAULT
	}
	return buf, c.waits()
}

// text copies a string of the caller, page by page.
func (c *caller) text(from uint64) (string, error) {
	var out []byte
	for len(out) < unix.PathMax {
		part, err := c.memory(from, int(4096-from%4096))
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

// times copies n pairs of numbers, or none if they stand nowhere.
func (c *caller) times(from uint64, n int) ([]int64, error) {
	if from == 0 {
		return nil, nil
	}
	buf, err := c.memory(from, 8*n)
	if err != nil {
		return nil, err
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(binary.NativeEndian.Uint64(buf[8*i:]))
	}
	return out, nil
}
