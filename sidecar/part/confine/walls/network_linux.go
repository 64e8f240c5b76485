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

// socket is a copy of a socket of the caller, and what kind it is.
func (c *caller) socket() (fd, family int, err error) {
	if fd, err = c.fd(c.args[0]); err != nil {
		return -1, 0, err
	}
	if family, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, family, nil
}

// addressed is the address that a call names, and a copy of its socket, which the caller closes.
func (c *caller) addressed() (address []byte, fd, family int, err error) {
	if address, err = c.address(); err == nil {
		fd, family, err = c.socket()
	}
	return address, fd, family, err
}

// address copies the address that a call names.
func (c *caller) address() ([]byte, error) {
	n := int(int32(c.args[2]))
	if n < 2 || n > 128 {
		return nil, unix.EINVAL
	}
	return c.memory(c.args[1], n)
}

func (c *caller) connect() verdict {
	address, fd, family, err := c.addressed()
	if err != nil {
		return no(err)
	}
	defer unix.Close(fd)
	switch family {
	case unix.AF_UNIX:
		return c.connectLocal(fd, address)
	case unix.AF_INET, unix.AF_INET6:
		if !c.mayReach(address) {
			return verdict{errno: unix.EACCES}
		}
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		return no(connect(fd, address))
	}
	return c.slowly(fd, func() error { return connect(fd, address) }) // it may wait for the other side
}

func connect(fd int, address []byte) error { return withAddress(unix.SYS_CONNECT, fd, address) }

func withAddress(nr uintptr, fd int, address []byte) error {
	if _, _, errno := unix.Syscall(nr, uintptr(fd), uintptr(unsafe.Pointer(&address[0])),
		uintptr(len(address))); errno != 0 {
		return errno
	}
	return nil
}

// inet reads an address of AF_INET or AF_INET6.
func inet(address []byte) (to netip.AddrPort, ok bool) {
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

// mayReach says whether a socket may be connected to an address.
func (c *caller) mayReach(address []byte) bool {
	if binary.NativeEndian.Uint16(address) == unix.AF_UNSPEC {
		return true // it disconnects
	}
	to, ok := inet(address)
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
	return slices.Contains(c.box.Ports, int(to.Port())) || c.ownPort(to.Port())
}

// bind makes servers listen on loopback alone, unless anyone may reach them.
func (c *caller) bind() verdict {
	address, fd, family, err := c.addressed()
	if err != nil {
		return no(err)
	}
	defer unix.Close(fd)
	if family == unix.AF_UNIX {
		// Landlock holds where a socket file may be made, and no TCP socket can be bound past it,
		// whatever the memory or the number of the file mean by then. listen looks again.
		return verdict{leave: true}
	}
	if family == unix.AF_INET || family == unix.AF_INET6 {
		if kind, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); kind == unix.SOCK_STREAM &&
			!c.box.Anyone {
			if address, err = onLoopback(fd, address); err != nil {
				return no(err)
			}
		}
	}
	return no(withAddress(unix.SYS_BIND, fd, address))
}

// onLoopback is an address on loopback in the place of one on all interfaces.
func onLoopback(fd int, address []byte) ([]byte, error) {
	to, ok := inet(address)
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

// listen notes the socket, so that other commands of the session may connect. A socket that
// was bound to nothing would listen on all interfaces.
func (c *caller) listen() verdict {
	fd, family, err := c.socket()
	if err != nil {
		return no(err)
	}
	defer unix.Close(fd)
	if (family == unix.AF_INET || family == unix.AF_INET6) && !c.box.Anyone {
		if err := keepOnLoopback(fd); err != nil {
			return no(err)
		}
	}
	if err := unix.Listen(fd, int(int32(c.args[1]))); err != nil {
		return no(err)
	}
	c.records.listens(inodeOf(fd))
	return verdict{}
}

// inodeOf is the number by which the kernel names a socket.
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
