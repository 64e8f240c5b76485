package walls

import (
	"encoding/binary"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// isOwnPort reports whether every listener at a port of this machine is a command of this session. One
// of several would not do: the kernel chooses among those that share a port.
func (c *caller) isOwnPort(port uint16) bool {
	inodes, err := listeners(port)
	return err == nil && len(inodes) > 0 && !slices.ContainsFunc(inodes,
		func(inode string) bool { return !c.records.isServed(inode) })
}

// listeners returns the inodes of the sockets that listen at a port. It uses netlink: /proc/net/tcp
// takes milliseconds, since it lists connections too.
func listeners(port uint16) (inodes []string, err error) {
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		err := queryDiag(tcpRequest(family, port), tcpMsgSize, func(body []byte) {
			inode := binary.NativeEndian.Uint32(body[tcpMsgSize-4:])
			inodes = append(inodes, strconv.FormatUint(uint64(inode), 10))
		})
		if err != nil {
			return nil, err
		}
	}
	return inodes, nil
}

// hasForeignListener reports whether a process outside listens at a socket file. This spares it a
// connection that would end at once; the peer is checked again after connecting. Inodes are compared
// without devices, so it may find one too many.
func (c *caller) hasForeignListener(file int) bool {
	var st unix.Stat_t
	if err := unix.Fstat(file, &st); err != nil {
		return true
	}
	found := false
	err := queryDiag(localRequest(), localMsgSize, func(body []byte) {
		const vfs = 1 // UNIX_DIAG_VFS: number and device of the file
		socket := strconv.FormatUint(uint64(binary.NativeEndian.Uint32(body[4:])), 10)
		for a := body[localMsgSize:]; len(a) >= 8; {
			size := int(binary.NativeEndian.Uint16(a))
			if size < 4 || size > len(a) {
				return
			}
			if binary.NativeEndian.Uint16(a[2:]) == vfs &&
				binary.NativeEndian.Uint32(a[4:]) == uint32(st.Ino) {
				found = found || !c.records.isServed(socket)
			}
			a = a[min(len(a), (size+3)&^3):]
		}
	})
	return found && err == nil
}

// queryDiag sends a request for sockets and passes each answer of at least a size to a function.
func queryDiag(request []byte, size int, each func(body []byte)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return err
		}
		if done, err := readDiag(buf[:n], size, each); err != nil || done {
			return err
		}
	}
}

const (
	listening    = 1 << 10 // of states
	tcpMsgSize   = 72      // of struct inet_diag_msg, whose last member is the inode
	localMsgSize = 16      // of struct unix_diag_msg, behind which attributes stand
)

// diagHeader begins a request whose body has this size.
func diagHeader(size int) []byte {
	out := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+size))
	out = binary.NativeEndian.AppendUint16(out, unix.SOCK_DIAG_BY_FAMILY)
	out = binary.NativeEndian.AppendUint16(out, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	return append(out, make([]byte, 8)...)
}

// tcpRequest asks for all listeners at a port: struct inet_diag_req_v2.
func tcpRequest(family byte, port uint16) []byte {
	const size = 56
	out := append(diagHeader(size), family, unix.IPPROTO_TCP, 0, 0)
	out = binary.NativeEndian.AppendUint32(out, listening)
	out = binary.BigEndian.AppendUint16(out, port)
	return append(out, make([]byte, unix.SizeofNlMsghdr+size-len(out))...)
}

// localRequest asks for all listeners at socket files: struct unix_diag_req.
func localRequest() []byte {
	const size, showFile = 24, 2
	out := append(diagHeader(size), unix.AF_UNIX, 0, 0, 0)
	out = binary.NativeEndian.AppendUint32(out, listening)
	out = binary.NativeEndian.AppendUint32(out, 0)
	out = binary.NativeEndian.AppendUint32(out, showFile)
	return append(out, make([]byte, 8)...)
}

// readDiag reads the sockets of one packet and reports whether it is the last.
func readDiag(packet []byte, least int, each func(body []byte)) (done bool, err error) {
	for len(packet) >= unix.SizeofNlMsghdr {
		size := int(binary.NativeEndian.Uint32(packet))
		if size < unix.SizeofNlMsghdr || size > len(packet) {
			return true, unix.EBADMSG
		}
		body := packet[unix.SizeofNlMsghdr:size]
		switch binary.NativeEndian.Uint16(packet[4:]) {
		case unix.NLMSG_DONE:
			return true, nil
		case unix.SOCK_DIAG_BY_FAMILY:
			if len(body) < least {
				return true, unix.EBADMSG
			}
			each(body)
		default:
			return true, unix.EOPNOTSUPP
		}
		packet = packet[min(len(packet), (size+3)&^3):]
	}
	return false, nil
}
