package walls

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dials connects a socket that is made by hand, and writes.
func dials(family, kind, protocol int, to unix.Sockaddr) func() error {
	return func() error {
		fd, err := unix.Socket(family, kind, protocol)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Connect(fd, to); err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("x"))
		return err
	}
}

func networkAttempts() []escape {
	local := [4]byte{127, 0, 0, 1}
	tcp := &unix.SockaddrInet4{Port: tcpPort, Addr: local}
	mapped := &unix.SockaddrInet6{Port: tcpPort, Addr: netip.MustParseAddr("::ffff:127.0.0.1").As16()}
	six := &unix.SockaddrInet6{Port: tcpPort, Addr: netip.IPv6Loopback().As16()}
	udp := &unix.SockaddrInet4{Port: udpPort, Addr: local}
	stream := &unix.SockaddrUnix{Name: inside + "/stream"}
	sends := func(family, kind, flags int, to unix.Sockaddr) func() error {
		return func() error {
			fd, err := unix.Socket(family, kind, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Sendto(fd, []byte("x"), flags, to); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond) // until the victim has read it
			return nil
		}
	}
	binds := func(listen bool, at unix.Sockaddr) func() error {
		return func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if at != nil {
				if err := unix.Bind(fd, at); err != nil {
					return err
				}
			}
			if listen {
				if err := unix.Listen(fd, 1); err != nil {
					return err
				}
			}
			name, err := unix.Getsockname(fd)
			if err == nil && name.(*unix.SockaddrInet4).Addr != [4]byte{} {
				err = errors.New("it listens on loopback")
			}
			return err
		}
	}
	opens := func(family, kind, protocol int) func() error {
		return func() error {
			fd, err := unix.Socket(family, kind, protocol)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}
	}
	return []escape{
		{name: "TCP", do: dials(unix.AF_INET, unix.SOCK_STREAM, 0, tcp), on: seen("tcp")},
		{name: "TCP to 0.0.0.0", do: dials(unix.AF_INET, unix.SOCK_STREAM, 0, &unix.SockaddrInet4{Port: tcpPort}), on: seen("tcp")},
		{name: "TCP over IPv6", do: dials(unix.AF_INET6, unix.SOCK_STREAM, 0, six), on: seen("tcp6")},
		{name: "TCP to an IPv4 address in IPv6", do: dials(unix.AF_INET6, unix.SOCK_STREAM, 0, mapped), on: seen("tcp")},
		{name: "TCP without waiting", do: dials(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0, tcp), on: seen("tcp")},
		{name: "TCP from many threads", do: func() error {
			failed := make(chan error, 200)
			for range 200 {
				go func() { failed <- dials(unix.AF_INET, unix.SOCK_STREAM, 0, tcp)() }()
			}
			var err error
			for range 200 {
				if err = <-failed; err == nil {
					return nil
				}
			}
			return err
		}, on: seen("tcp")},
		{name: "TCP fast open", do: sends(unix.AF_INET, unix.SOCK_STREAM, unix.MSG_FASTOPEN, tcp), on: seen("tcp")},
		{name: "TCP fast open at connect", do: func() error {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 1); err != nil {
				return err
			}
			if err := unix.Connect(fd, tcp); err != nil {
				return err
			}
			_, err = unix.Write(fd, []byte("x"))
			return err
		}, on: seen("tcp")},
		{name: "TCP whose address changes", do: swapped, on: seen("tcp")},
		{name: "MPTCP", do: dials(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, tcp), on: seen("tcp")},
		{name: "SCTP", do: opens(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP)},
		{name: "SMC", do: opens(43, unix.SOCK_STREAM, 0)},
		{name: "UDP", do: sends(unix.AF_INET, unix.SOCK_DGRAM, 0, udp), on: seen("udp")},
		{name: "connected UDP", do: dials(unix.AF_INET, unix.SOCK_DGRAM, 0, udp), on: seen("udp")},
		{name: "UDP over IPv6", do: opens(unix.AF_INET6, unix.SOCK_DGRAM, 0)},
		{name: "UDP-Lite", do: opens(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE)},
		{name: "ping", do: opens(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP)},
		{name: "raw", do: opens(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
		{name: "packet", do: opens(unix.AF_PACKET, unix.SOCK_DGRAM, 0)},
		{name: "vsock", do: opens(unix.AF_VSOCK, unix.SOCK_STREAM, 0)},
		{name: "crypto sockets", do: opens(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)},
		{name: "kernel events", do: opens(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)},
		{name: "socket diagnosis", do: opens(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG)},
		{name: "a server for everybody", do: binds(true, &unix.SockaddrInet4{Port: 7100})},
		{name: "a server that was never bound", do: binds(true, nil)},
		{name: "a socket file of another", do: dials(unix.AF_UNIX, unix.SOCK_STREAM, 0, stream), on: seen("stream")},
		{name: "a socket file of another without waiting", do: dials(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0, stream), on: seen("stream")},
		{name: "a socket file of another over a link", do: func() error {
			_ = os.Symlink(inside+"/stream", inside+"/link")
			return dials(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: "link"})()
		}, on: seen("stream")},
		{name: "a write while a socket file connects", do: func() error {
			var done atomic.Bool
			defer done.Store(true)
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			go func() {
				for !done.Load() {
					_ = unix.Sendto(fd, []byte("x"), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, nil)
				}
			}()
			for range 200 {
				_ = unix.Connect(fd, stream)
				time.Sleep(100 * time.Microsecond) // a race of two threads
			}
			return errors.New("seen on the victim")
		}, on: seen("stream")},
		{name: "a socket file that gets datagrams", do: sends(unix.AF_UNIX, unix.SOCK_DGRAM, 0, &unix.SockaddrUnix{Name: inside + "/dgram"}), on: seen("dgram")},
		{name: "datagrams by a pair", do: func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: inside + "/dgram"})
		}, on: seen("dgram")},
		{name: "an abstract socket", do: dials(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: "@confine-victim"}), on: seen("abstract")},
		{name: "a socket file where none may be", do: func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return unix.Bind(fd, &unix.SockaddrUnix{Name: readable + "/new"})
		}},
	}
}

// swapped connects again and again to a server of its own, while another thread writes the
// port of the victim into the address.
func swapped() error {
	server, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(server, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(server, 4096); err != nil {
		return err
	}
	name, err := unix.Getsockname(server)
	if err != nil {
		return err
	}
	word := func(port int) uint32 { // family and port
		var b [4]byte
		binary.NativeEndian.PutUint16(b[:], unix.AF_INET)
		binary.BigEndian.PutUint16(b[2:], uint16(port))
		return binary.NativeEndian.Uint32(b[:])
	}
	address := new([4]uint32)
	*(*[4]byte)(unsafe.Pointer(&address[1])) = [4]byte{127, 0, 0, 1}
	own, victims := word(name.(*unix.SockaddrInet4).Port), word(tcpPort)
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		for !done.Load() {
			atomic.StoreUint32(&address[0], own)
			atomic.StoreUint32(&address[0], victims)
		}
	}()
	connected := 0
	for range 1000 {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		if _, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(address)),
			unix.SizeofSockaddrInet4); errno == 0 {
			connected++
		}
		unix.Close(fd)
	}
	if connected == 0 {
		return errors.New("not even its own server was reached: nothing was tried")
	}
	return errors.New("seen on the victim")
}
