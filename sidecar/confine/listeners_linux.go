package confine

import (
	"encoding/binary"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownPort says whether all who listen at a port of this machine are commands of this session.
// One of several who share a port would not do: the kernel chooses among them.
func (c *caller) ownPort(port uint16) bool {
	inodes, err := listeners(port)
	return err == nil && len(inodes) > 0 && !slices.ContainsFunc(inodes, func(inode string) bool { return !c.records.served(inode) })
}

// listeners are the sockets that listen at a port. The kernel is asked by netlink, since
// /proc/net/tcp takes milliseconds: it lists what is no server, too.
func listeners(port uint16) (inodes []string, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := unix.Sendto(fd, diagRequest(family, port), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, err
		}
		for done := false; !done; {
			buf := make([]byte, 32<<10)
			n, _, err := unix.Recvfrom(fd, buf, 0)
			if err != nil {
				return nil, err
			}
			var found []string
			if found, done, err = diagAnswer(buf[:n]); err != nil {
				return nil, err
			}
			inodes = append(inodes, found...)
		}
	}
	return inodes, nil
}

const (
	tcpListen  = 10 // TCP_LISTEN
	sizeOfDiag = 72 // of struct inet_diag_msg, whose last member is the inode
)

// diagRequest asks for all TCP sockets of a family that listen at a port: a header, and
// struct inet_diag_req_v2.
func diagRequest(family byte, port uint16) []byte {
	const size = unix.SizeofNlMsghdr + 8 + 48
	out := binary.NativeEndian.AppendUint32(nil, size)
	out = binary.NativeEndian.AppendUint16(out, unix.SOCK_DIAG_BY_FAMILY)
	out = binary.NativeEndian.AppendUint16(out, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	out = append(out, make([]byte, 8)...)
	out = append(out, family, unix.IPPROTO_TCP, 0, 0)
	out = binary.NativeEndian.AppendUint32(out, 1<<tcpListen)
	out = binary.BigEndian.AppendUint16(out, port)
	return append(out, make([]byte, size-len(out))...)
}

// diagAnswer reads the sockets of one packet, and whether it is the last.
func diagAnswer(packet []byte) (inodes []string, done bool, err error) {
	for len(packet) >= unix.SizeofNlMsghdr {
		size := int(binary.NativeEndian.Uint32(packet))
		if size < unix.SizeofNlMsghdr || size > len(packet) {
			return nil, true, unix.EBADMSG
		}
		body := packet[unix.SizeofNlMsghdr:size]
		switch binary.NativeEndian.Uint16(packet[4:]) {
		case unix.NLMSG_DONE:
			return inodes, true, nil
		case unix.SOCK_DIAG_BY_FAMILY:
			if len(body) < sizeOfDiag {
				return nil, true, unix.EBADMSG
			}
			inodes = append(inodes, strconv.FormatUint(uint64(binary.NativeEndian.Uint32(body[sizeOfDiag-4:])), 10))
		default:
			return nil, true, unix.EOPNOTSUPP
		}
		packet = packet[min(len(packet), (size+3)&^3):]
	}
	return inodes, false, nil
}
