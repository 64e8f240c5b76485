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

// connectLocal connects to a socket file of this session. It connects a socket of the supervisor,
// which then replaces the caller's: with its own socket the caller could write before its peer is
// known.
func (c *caller) connectLocal(fd int, address []byte) callResult {
	if len(address) < 3 || address[2] == 0 || binary.NativeEndian.Uint16(address) != unix.AF_UNIX {
		return callResult{errno: unix.EACCES} // an abstract name
	}
	name, _, _ := bytes.Cut(address[2:], []byte{0})
	file, err := c.open(fileRef{dir: cwdFD, path: string(name)})
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(file)
	if c.hasForeignListener(file) {
		return callResult{errno: unix.EACCES}
	}
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return errResult(err)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return errResult(err)
	}
	ours, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(ours)
	if err := unix.Connect(ours, &unix.SockaddrUnix{Name: procPath(file)}); err != nil {
		return errResult(err)
	}
	peer, err := unix.GetsockoptUcred(ours, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || !c.records.isSupervisor(int(peer.Pid)) { // who listens here does it by its supervisor
		return callResult{errno: unix.EACCES}
	}
	if v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED); err == nil {
		_ = unix.SetsockoptInt(ours, unix.SOL_SOCKET, unix.SO_PASSCRED, v)
	}
	if _, err := unix.FcntlInt(uintptr(ours), unix.F_SETFL,
		flags&(unix.O_NONBLOCK|unix.O_APPEND)); err != nil {
		return errResult(err)
	}
	v := c.addFD(ours, int32(c.args[0]), c.closeOnExec())
	if v.errno == 0 {
		v.value = 0
	}
	return v
}

// closeOnExec returns O_CLOEXEC if the file of the call has it.
func (c *caller) closeOnExec() uint64 {
	flags := procField(c.proc("fdinfo/"+strconv.Itoa(int(int32(c.args[0])))), "flags:")
	if flags == "" {
		return unix.O_CLOEXEC
	}
	n, _ := strconv.ParseUint(flags, 8, 64)
	return n & unix.O_CLOEXEC
}

// procField returns the field of a file in /proc that follows a key; "" if there is none.
func procField(file, key string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// addFD opens a file of the supervisor for the caller, as a new one or in place of another. The value
// is its number there.
func (c *caller) addFD(fd int, as int32, flags uint64) callResult {
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
		return callResult{errno: errno}
	}
	return callResult{value: int64(n)}
}
