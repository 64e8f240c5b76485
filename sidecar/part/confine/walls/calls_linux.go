package walls

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

const whole = ^uint32(0)

func is(arg int, value uint32) test { return test{arg: arg, mask: whole, value: value} }

func has(arg int, bits uint32) test { return test{arg: arg, mask: bits, differs: true} }

// always are rules that say the same whatever the arguments are.
func always(say uint32, numbers ...int) (out []call) {
	for _, nr := range numbers {
		out = append(out, call{nr: nr, otherwise: say})
	}
	return out
}

// calls are the rules for a box, which may be apart: with namespaces of its own. The first ones of the filter
// cost least, and none costs much: the kernel remembers which calls pass whatever their arguments are.
func (b Box) calls(h handled, apart bool) (out []call) {
	if !apart {
		out = append(out, sharedCalls()...)
	}
	out = append(out, b.socketCalls()...)
	out = append(out, always(ask, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_KILL)...)
	if h.scoped&unix.LANDLOCK_SCOPE_SIGNAL == 0 {
		out = append(out, always(ask, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO,
			unix.SYS_RT_TGSIGQUEUEINFO)...)
		out = append(out, always(refuse, unix.SYS_PIDFD_SEND_SIGNAL)...)
	}
	out = append(out, always(ask, slices.Sorted(maps.Keys(fileHandlers()))...)...)
	out = append(out, oldCalls(h)...)
	out = append(out, opens(unix.SYS_OPENAT, 2, h))
	if h.fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 { // before Linux 6.2
		out = append(out, always(refuse, unix.SYS_TRUNCATE)...)
	}
	out = append(out, always(absent, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR)...)
	out = append(out, ofOthers()...)
	return append(out, refused()...)
}

// socketCalls leave streams between processes, TCP, and the list of network interfaces. Landlock knows
// neither UDP nor the relatives of TCP, and a datagram reaches any socket by its path.
func (b Box) socketCalls() []call {
	const kind = ^uint32(unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)
	typed := func(t uint32) test { return test{arg: 1, mask: kind, value: t} }
	local := []choice{
		{[]test{is(0, unix.AF_UNIX), typed(unix.SOCK_STREAM)}, pass},
		{[]test{is(0, unix.AF_UNIX), typed(unix.SOCK_SEQPACKET)}, pass},
	}
	all := append([]choice{{[]test{is(0, unix.AF_NETLINK), is(2, unix.NETLINK_ROUTE)}, pass}}, local...)
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		if b.Net == NetOpen {
			all = append(all, choice{[]test{is(0, family), typed(unix.SOCK_DGRAM)}, pass})
		}
		all = append(all, choice{[]test{is(0, family), typed(unix.SOCK_STREAM), is(2, 0)}, pass},
			choice{[]test{is(0, family), typed(unix.SOCK_STREAM), is(2, unix.IPPROTO_TCP)}, pass})
	}
	fastOpen := func(nr, flags int) call {
		return call{nr: nr, choices: []choice{{[]test{has(flags, unix.MSG_FASTOPEN)}, refuse}},
			otherwise: pass}
	}
	return []call{
		{nr: unix.SYS_SOCKET, choices: all, otherwise: closed},
		{nr: unix.SYS_SOCKETPAIR, choices: local, otherwise: closed},
		fastOpen(unix.SYS_SENDTO, 3), fastOpen(unix.SYS_SENDMSG, 2), fastOpen(unix.SYS_SENDMMSG, 3),
	}
}

// ofOthers are calls by which one process changes how another runs. Of oneself they pass.
func ofOthers() (out []call) {
	self := []choice{{[]test{is(0, 0)}, pass}}
	for _, nr := range []int{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		out = append(out, call{nr: nr, choices: self, otherwise: ask})
	}
	const ioprioWhoProcess = 1
	return append(out,
		call{nr: unix.SYS_SETPRIORITY, choices: []choice{{[]test{is(0, unix.PRIO_PROCESS), is(1, 0)}, pass}},
			otherwise: refuse},
		call{nr: unix.SYS_IOPRIO_SET, choices: []choice{{[]test{is(0, ioprioWhoProcess), is(1, 0)}, pass}},
			otherwise: refuse})
}

const (
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	setID   = unix.S_ISUID | unix.S_ISGID
	creates = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY // a file without a name can be given one
)

// opens is a call that opens a file, by where its flags stand. A new program that runs as its
// owner would be a gift to every other user of the machine. What is opened for reading could be
// emptied where Landlock does not know of it.
func opens(nr, flags int, h handled) call {
	c := call{nr: nr, choices: []choice{{[]test{has(flags, creates), has(flags+1, setID)}, refuse}},
		otherwise: pass}
	if h.fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 {
		c.choices = append(c.choices,
			choice{[]test{{arg: flags, mask: unix.O_ACCMODE | unix.O_TRUNC, value: unix.O_TRUNC}}, refuse})
	}
	return c
}

// deviceCalls are ioctl: typing into a terminal, and what changes files by a descriptor that
// was opened for reading. File systems know more of the latter than anybody, so of theirs only
// a few pass.
func deviceCalls() call {
	const (
		getFlags, getFlags32, fiemap       = 0x80086601, 0x80046601, 0xc020660b
		reflink, reflinkRange, deduplicate = 0x40049409, 0x4020940d, 0xc0189436
		ofFiles, ofBtrfs, kind             = 0x6600, 0x9400, 0xff00
		setXattr, tiocLinux                = 0x401c5820, 0x541c
	)
	c := call{nr: unix.SYS_IOCTL, otherwise: pass}
	for _, command := range []uint32{getFlags, getFlags32, fiemap, reflink, reflinkRange, deduplicate} {
		c.choices = append(c.choices, choice{[]test{is(1, command)}, pass})
	}
	for _, t := range []test{{arg: 1, mask: kind, value: ofFiles}, {arg: 1, mask: kind, value: ofBtrfs},
		is(1, setXattr), is(1, unix.TIOCSTI), is(1, tiocLinux)} {
		c.choices = append(c.choices, choice{[]test{t}, refuse})
	}
	c.choices = append(c.choices, choice{[]test{is(1, unix.TIOCGPTPEER)}, ask})
	return c
}

// sharedCalls reach memory and queues of any program of the same user. Landlock does not know them.
func sharedCalls() []call {
	return always(absent, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN,
		unix.SYS_MQ_UNLINK)
}

// refused are calls that lead out of a box, or into parts of the kernel that nothing here needs.
func refused() []call {
	out := always(refuse,
		unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
		unix.SYS_REQUEST_KEY,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
		unix.SYS_DELETE_MODULE,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_QUOTACTL,
		unix.SYS_QUOTACTL_FD,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		unix.SYS_PIDFD_GETFD, unix.SYS_FANOTIFY_INIT,
	)
	// Their arguments lie in memory, where they could change between check and use.
	out = append(out, always(absent, unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP,
		unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)...)
	namespace := []choice{{[]test{has(0, namespaces)}, refuse}}
	out = append(out, call{nr: unix.SYS_CLONE, choices: namespace, otherwise: pass})
	out = append(out, call{nr: unix.SYS_UNSHARE,
		choices: []choice{{[]test{has(0, namespaces|unix.CLONE_NEWTIME)}, refuse}}, otherwise: pass})
	out = append(out, deviceCalls())
	return append(out, call{nr: unix.SYS_MKNODAT, choices: []choice{{[]test{has(2, setID)}, refuse}},
		otherwise: pass})
}
