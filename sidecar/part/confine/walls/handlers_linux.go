package walls

import (
	"cmp"
	"maps"

	"golang.org/x/sys/unix"
)

const (
	cwdFD    = int32(unix.AT_FDCWD)
	noFollow = uint64(unix.AT_SYMLINK_NOFOLLOW)
)

// callHandlers maps calls to the functions that answer them.
func callHandlers() map[int]func(*caller) callResult {
	d := fileHandlers()
	maps.Copy(d, map[int]func(*caller) callResult{
		unix.SYS_CONNECT: (*caller).connect, unix.SYS_BIND: (*caller).bind, unix.SYS_LISTEN: (*caller).listen,
		unix.SYS_KILL: (*caller).kill, unix.SYS_IOCTL: (*caller).openPeer,
	})
	for _, nr := range []int{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
		// asked about only where the kernel does not keep signals inside
		unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
		d[nr] = (*caller).leaveOwn
	}
	return d
}

// fileHandlers answer calls that change owners, modes, times and attributes of files, or watch them.
// Landlock does not know them.
func fileHandlers() map[int]func(*caller) callResult {
	d := map[int]func(*caller) callResult{
		unix.SYS_INOTIFY_ADD_WATCH: (*caller).inotifyWatch,

		unix.SYS_FCHMOD: func(c *caller) callResult { return c.chmod(openFile(c.args[0]), nil, c.args[1]) },
		unix.SYS_FCHMODAT: func(c *caller) callResult {
			at, err := c.fileAt(0)
			return c.chmod(at, err, c.args[2])
		},
		unix.SYS_FCHMODAT2: func(c *caller) callResult {
			at, err := c.fileAt(c.args[3])
			return c.chmod(at, err, c.args[2])
		},
		unix.SYS_FCHOWN: func(c *caller) callResult {
			return c.chown(openFile(c.args[0]), nil, c.args[1], c.args[2])
		},
		unix.SYS_FCHOWNAT: func(c *caller) callResult {
			at, err := c.fileAt(c.args[4])
			return c.chown(at, err, c.args[2], c.args[3])
		},
		unix.SYS_UTIMENSAT: func(c *caller) callResult {
			times, err := c.readTimes(c.args[2], 4)
			at, wrong := c.fileAt(c.args[3])
			return c.utime(at, cmp.Or(err, wrong), times)
		},
		unix.SYS_SETXATTR:     func(c *caller) callResult { return c.setxattr(c.fileByName(0)) },
		unix.SYS_LSETXATTR:    func(c *caller) callResult { return c.setxattr(c.fileByName(noFollow)) },
		unix.SYS_FSETXATTR:    func(c *caller) callResult { return c.setxattr(openFile(c.args[0]), nil) },
		unix.SYS_REMOVEXATTR:  func(c *caller) callResult { return c.removexattr(c.fileByName(0)) },
		unix.SYS_LREMOVEXATTR: func(c *caller) callResult { return c.removexattr(c.fileByName(noFollow)) },
		unix.SYS_FREMOVEXATTR: func(c *caller) callResult { return c.removexattr(openFile(c.args[0]), nil) },
	}
	addLegacyHandlers(d)
	return d
}

// fileAt returns the file of a call whose first arguments are a folder and a name.
func (c *caller) fileAt(flags uint64) (fileRef, error) {
	return c.readRef(int32(c.args[0]), c.args[1], flags)
}

// fileByName returns the file of a call whose first argument is a name.
func (c *caller) fileByName(flags uint64) (fileRef, error) { return c.readRef(cwdFD, c.args[0], flags) }
