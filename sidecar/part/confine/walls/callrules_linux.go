package walls

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

const fullMask = ^uint32(0)

func equals(arg int, value uint32) test { return test{arg: arg, mask: fullMask, value: value} }

func hasBits(arg int, bits uint32) test { return test{arg: arg, mask: bits, negate: true} }

// forAll returns rules that do not look at arguments.
func forAll(say uint32, numbers ...int) (out []callRule) {
	for _, nr := range numbers {
		out = append(out, rule(nr, say))
	}
	return out
}

// rule answers a call with the first choice whose tests hold, or with result.
func rule(nr int, result uint32, choices ...choice) callRule { return callRule{nr, choices, result} }

func when(result uint32, tests ...test) choice { return choice{tests, result} }

// callRules returns the rules of a box, which may have namespaces of its own. The first rules cost
// least, and none costs much: the kernel caches which calls pass whatever their arguments are.
func (b Box) callRules(h landlockRights, apart bool) (out []callRule) {
	if !apart {
		out = append(out, sharedMemoryRules()...)
	}
	out = append(out, b.socketRules()...)
	out = append(out, forAll(notify, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_KILL)...)
	if h.scoped&unix.LANDLOCK_SCOPE_SIGNAL == 0 {
		out = append(out, forAll(notify, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO,
			unix.SYS_RT_TGSIGQUEUEINFO)...)
		out = append(out, forAll(eperm, unix.SYS_PIDFD_SEND_SIGNAL)...)
	}
	out = append(out, forAll(notify, slices.Sorted(maps.Keys(fileHandlers()))...)...)
	out = append(out, legacyRules(h)...)
	out = append(out, openRule(unix.SYS_OPENAT, 2, h))
	if h.fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 { // before Linux 6.2
		out = append(out, forAll(eperm, unix.SYS_TRUNCATE)...)
	}
	out = append(out, forAll(enosys, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR)...)
	out = append(out, processRules()...)
	return append(out, refusedRules()...)
}

// socketRules allow streams between processes, TCP, and the list of network interfaces. Landlock knows
// neither UDP nor the relatives of TCP, and a datagram reaches any socket by its path.
func (b Box) socketRules() []callRule {
	const kind = ^uint32(unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK)
	typed := func(t uint32) test { return test{arg: 1, mask: kind, value: t} }
	local := []choice{when(allow, equals(0, unix.AF_UNIX), typed(unix.SOCK_STREAM)),
		when(allow, equals(0, unix.AF_UNIX), typed(unix.SOCK_SEQPACKET))}
	all := append([]choice{when(allow, equals(0, unix.AF_NETLINK), equals(2, unix.NETLINK_ROUTE))}, local...)
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6} {
		if b.Net == NetOpen {
			all = append(all, when(allow, equals(0, family), typed(unix.SOCK_DGRAM)))
		}
		all = append(all, when(allow, equals(0, family), typed(unix.SOCK_STREAM), equals(2, 0)),
			when(allow, equals(0, family), typed(unix.SOCK_STREAM), equals(2, unix.IPPROTO_TCP)))
	}
	fastOpen := func(nr, flags int) callRule {
		return rule(nr, allow, when(eperm, hasBits(flags, unix.MSG_FASTOPEN)))
	}
	return []callRule{rule(unix.SYS_SOCKET, eacces, all...), rule(unix.SYS_SOCKETPAIR, eacces, local...),
		fastOpen(unix.SYS_SENDTO, 3), fastOpen(unix.SYS_SENDMSG, 2), fastOpen(unix.SYS_SENDMMSG, 3)}
}

// processRules are for calls by which one process changes how another runs. A process may change
// itself.
func processRules() (out []callRule) {
	for _, nr := range []int{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		out = append(out, rule(nr, notify, when(allow, equals(0, 0))))
	}
	const ioprioWhoProcess = 1
	return append(out,
		rule(unix.SYS_SETPRIORITY, eperm, when(allow, equals(0, unix.PRIO_PROCESS), equals(1, 0))),
		rule(unix.SYS_IOPRIO_SET, eperm, when(allow, equals(0, ioprioWhoProcess), equals(1, 0))))
}

const (
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	setID       = unix.S_ISUID | unix.S_ISGID
	createFlags = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY // a file without a name can be given one
)

// openRule is for a call that opens a file; flags is the index of its flags. It refuses to create a
// setuid program, which every other user of the machine could run as its owner, and to truncate where
// Landlock does not handle that.
func openRule(nr, flags int, h landlockRights) callRule {
	c := rule(nr, allow, when(eperm, hasBits(flags, createFlags), hasBits(flags+1, setID)))
	if h.fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 {
		c.choices = append(c.choices,
			when(eperm, test{arg: flags, mask: unix.O_ACCMODE | unix.O_TRUNC, value: unix.O_TRUNC}))
	}
	return c
}

// ioctlRule refuses typing into a terminal, and changing files by a descriptor that was opened for
// reading. File systems have many such commands, so only a few of theirs pass.
func ioctlRule() callRule {
	const (
		getFlags, getFlags32, fiemap       = 0x80086601, 0x80046601, 0xc020660b
		reflink, reflinkRange, deduplicate = 0x40049409, 0x4020940d, 0xc0189436
		ofFiles, ofBtrfs, kind             = 0x6600, 0x9400, 0xff00
		setXattr, tiocLinux                = 0x401c5820, 0x541c
	)
	c := rule(unix.SYS_IOCTL, allow)
	for _, command := range []uint32{getFlags, getFlags32, fiemap, reflink, reflinkRange, deduplicate} {
		c.choices = append(c.choices, when(allow, equals(1, command)))
	}
	for _, t := range []test{{arg: 1, mask: kind, value: ofFiles}, {arg: 1, mask: kind, value: ofBtrfs},
		equals(1, setXattr), equals(1, unix.TIOCSTI), equals(1, tiocLinux)} {
		c.choices = append(c.choices, when(eperm, t))
	}
	c.choices = append(c.choices, when(notify, equals(1, unix.TIOCGPTPEER)))
	return c
}

// sharedMemoryRules refuse memory and queues that programs of the same user share. Landlock does not
// know them.
func sharedMemoryRules() []callRule {
	return forAll(enosys, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
		unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN,
		unix.SYS_MQ_UNLINK)
}

// refusedRules are for calls that lead out of a box, or into parts of the kernel that no command
// needs.
func refusedRules() []callRule {
	out := forAll(eperm,
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
	out = append(out, forAll(enosys, unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP,
		unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)...)
	return append(out, rule(unix.SYS_CLONE, allow, when(eperm, hasBits(0, namespaces))),
		rule(unix.SYS_UNSHARE, allow, when(eperm, hasBits(0, namespaces|unix.CLONE_NEWTIME))),
		ioctlRule(), rule(unix.SYS_MKNODAT, allow, when(eperm, hasBits(2, setID))))
}
