package walls

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connectLocal connects to a socket file of this session. The connection is made with a
// socket of ours, which then takes the place of the caller's: through its own one it could
// write before it is known who is at the other end.
func (c *caller) connectLocal(fd int, address []byte) verdict {
	if len(address) < 3 || address[2] == 0 || binary.NativeEndian.Uint16(address) != unix.AF_UNIX {
		return verdict{errno: unix.EACCES} // an abstract name
	}
	name, _, _ := bytes.Cut(address[2:], []byte{0})
	file, err := c.open(place{dir: here, path: string(name)})
	if err != nil {
		return no(err)
	}
	defer unix.Close(file)
	if c.strangers(file) {
		return verdict{errno: unix.EACCES}
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return no(err)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return no(err)
	}
	ours, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return no(err)
	}
	defer unix.Close(ours)
	if err := unix.Connect(ours, &unix.SockaddrUnix{Name: link(file)}); err != nil {
		return no(err)
	}
	peer, err := unix.GetsockoptUcred(ours, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || !c.records.supervises(int(peer.Pid)) { // who listens here does it by its supervisor
		return verdict{errno: unix.EACCES}
	}
	if v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED); err == nil {
		_ = unix.SetsockoptInt(ours, unix.SOL_SOCKET, unix.SO_PASSCRED, v)
	}
	if _, err := unix.FcntlInt(uintptr(ours), unix.F_SETFL,
		flags&(unix.O_NONBLOCK|unix.O_APPEND)); err != nil {
		return no(err)
	}
	v := c.give(ours, int32(c.args[0]), c.closesOnExec())
	if v.errno == 0 {
		v.value = 0
	}
	return v
}

// closesOnExec is O_CLOEXEC, if the file of the call has it.
func (c *caller) closesOnExec() uint64 {
	text, _ := os.ReadFile(c.proc("fdinfo/" + strconv.Itoa(int(int32(c.args[0])))))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "flags:"); ok {
			n, _ := strconv.ParseUint(strings.TrimSpace(rest), 8, 64)
			return n & unix.O_CLOEXEC
		}
	}
	return unix.O_CLOEXEC
}

// give opens a file of ours for the caller, as a new one or in the place of another. The
// value is its number there.
func (c *caller) give(fd int, as int32, flags uint64) verdict {
	add := struct {
		id           uint64
		flags, fd    uint32
		newFD, oFlag uint32
	}{id: c.id, fd: uint32(fd), oFlag: uint32(flags)}
	if as >= 0 {
		add.flags, add.newFD = unix.SECCOMP_ADDFD_FLAG_SETFD, uint32(as)
	}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), ioctlAddFD,
		uintptr(unsafe.Pointer(&add)))
	if errno != 0 {
		return verdict{errno: errno}
	}
	return verdict{value: int64(n)}
}
