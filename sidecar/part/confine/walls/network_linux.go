package walls

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The supervisor connects and binds for the command, with a copy of its socket and of the
// address: neither can be changed between check and use.

// socket returns a copy of the caller's socket and its family.
func (c *caller) socket() (fd, family int, err error) {
	if fd, err = c.copyFD(c.args[0]); err != nil {
		return -1, 0, err
	}
	if family, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, family, nil
}

// socketAndAddress returns copies of the address and of the socket of a call. The caller must close
// the socket.
func (c *caller) socketAndAddress() (address []byte, fd, family int, err error) {
	if address, err = c.address(); err == nil {
		fd, family, err = c.socket()
	}
	return address, fd, family, err
}

// address copies the address of a call.
func (c *caller) address() ([]byte, error) {
	n := int(int32(c.args[2]))
	if n < 2 || n > 128 {
		return nil, unix.EINVAL
	}
	return c.readMemory(c.args[1], n)
}

func (c *caller) connect() callResult {
	address, fd, family, err := c.socketAndAddress()
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(fd)
	switch family {
	case unix.AF_UNIX:
		return c.connectLocal(fd, address)
	case unix.AF_INET, unix.AF_INET6:
		if !c.mayReach(address) {
			return callResult{errno: unix.EACCES}
		}
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		return errResult(connect(fd, address))
	}
	return c.answerSlowly(fd, func() error { return connect(fd, address) }) // it may wait for the other side
}

func connect(fd int, address []byte) error { return addressCall(unix.SYS_CONNECT, fd, address) }

func addressCall(nr uintptr, fd int, address []byte) error {
	if _, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&address[0])),
		uintptr(len(address))); errno != 0 {
		return errno
	}
	return nil
}

// parseInet reads an address of AF_INET or AF_INET6.
func parseInet(address []byte) (to netip.AddrPort, ok bool) {
	family := binary.NativeEndian.Uint16(address)
	switch {
	case family == unix.AF_INET && len(address) >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(address[4:8])),
			binary.BigEndian.Uint16(address[2:])), true
	case family == unix.AF_INET6 && len(address) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(address[8:24])),
			binary.BigEndian.Uint16(address[2:])), true
	}
	return to, false
}

// mayReach reports whether a socket may be connected to an address.
func (c *caller) mayReach(address []byte) bool {
	if binary.NativeEndian.Uint16(address) == unix.AF_UNSPEC {
		return true // it disconnects
	}
	to, ok := parseInet(address)
	if !ok {
		return false
	}
	if c.box.Net == NetOpen {
		return true
	}
	ip := to.Addr().Unmap()
	if !ip.IsLoopback() && !ip.IsUnspecified() { // 0.0.0.0 leads to loopback, too
		return false
	}
	if c.box.Net == NetProxy && slices.Contains(proxyAddresses(c.box.Proxy),
		netip.AddrPortFrom(ip, to.Port())) {
		return true
	}
	return slices.Contains(c.box.Ports, int(to.Port())) || c.isOwnPort(to.Port())
}

// bind binds servers to loopback.
func (c *caller) bind() callResult {
	address, fd, family, err := c.socketAndAddress()
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(fd)
	if family == unix.AF_UNIX {
		// Landlock holds where a socket file may be made, and no TCP socket can be bound past it,
		// whatever the memory or the number of the file mean by then. listen looks again.
		return callResult{proceed: true}
	}
	if family == unix.AF_INET || family == unix.AF_INET6 {
		if kind, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); kind == unix.SOCK_STREAM {
			if address, err = onLoopback(fd, address); err != nil {
				return errResult(err)
			}
		}
	}
	return errResult(addressCall(unix.SYS_BIND, fd, address))
}

// onLoopback replaces the unspecified address by one on loopback.
func onLoopback(fd int, address []byte) ([]byte, error) {
	to, ok := parseInet(address)
	switch ip := to.Addr(); {
	case !ok:
		return nil, unix.EINVAL
	case ip.Unmap().IsLoopback():
		return address, nil
	case !ip.Unmap().IsUnspecified():
		return nil, unix.EACCES
	case len(address) < 24:
		copy(address[4:], []byte{127, 0, 0, 1})
	default:
		loopback := netip.IPv6Loopback().As16()
		// most clients ask for 127.0.0.1
		if only, _ := unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY); only == 0 {
			loopback = netip.MustParseAddr("::ffff:127.0.0.1").As16()
		}
		copy(address[8:], loopback[:])
	}
	return address, nil
}

// listen records the socket, so that other commands of the session may connect. An unbound socket
// would listen on all interfaces.
func (c *caller) listen() callResult {
	fd, family, err := c.socket()
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(fd)
	if family == unix.AF_INET || family == unix.AF_INET6 {
		if err := keepOnLoopback(fd); err != nil {
			return errResult(err)
		}
	}
	if err := unix.Listen(fd, int(int32(c.args[1]))); err != nil {
		return errResult(err)
	}
	c.records.addListener(inodeOf(fd))
	return callResult{}
}

// inodeOf returns the inode of a socket.
func inodeOf(fd int) string {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10)
}

func keepOnLoopback(fd int) error {
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	switch a := bound.(type) {
	case *unix.SockaddrInet4:
		if a.Port == 0 {
			return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		}
		if !netip.AddrFrom4(a.Addr).IsLoopback() {
			return unix.EACCES
		}
	case *unix.SockaddrInet6:
		if a.Port == 0 {
			return unix.Bind(fd, &unix.SockaddrInet6{Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()})
		}
		if !netip.AddrFrom16(a.Addr).Unmap().IsLoopback() {
			return unix.EACCES
		}
	}
	return nil
}
