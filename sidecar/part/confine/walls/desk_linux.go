package walls

import (
	"cmp"
	"maps"

	"golang.org/x/sys/unix"
)

const (
	here   = int32(unix.AT_FDCWD)
	itself = uint64(unix.AT_SYMLINK_NOFOLLOW)
)

// callHandlers is who answers which call.
func callHandlers() map[int]func(*caller) verdict {
	d := fileHandlers()
	maps.Copy(d, map[int]func(*caller) verdict{
		unix.SYS_CONNECT: (*caller).connect, unix.SYS_BIND: (*caller).bind, unix.SYS_LISTEN: (*caller).listen,
		unix.SYS_KILL: (*caller).kill, unix.SYS_IOCTL: (*caller).terminal,
	})
	for _, nr := range []int{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
		// asked about only where the kernel does not keep signals inside
		unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
		d[nr] = (*caller).ofTree
	}
	return d
}

// fileHandlers answer calls that change who owns a file, who may use it and its times, or watch it. Landlock
// does not know them.
func fileHandlers() map[int]func(*caller) verdict {
	d := map[int]func(*caller) verdict{
		unix.SYS_INOTIFY_ADD_WATCH: (*caller).watch,

		unix.SYS_FCHMOD: func(c *caller) verdict { return c.chmod(ofFD(c.args[0]), nil, c.args[1]) },
		unix.SYS_FCHMODAT: func(c *caller) verdict {
			at, err := c.at(0)
			return c.chmod(at, err, c.args[2])
		},
		unix.SYS_FCHMODAT2: func(c *caller) verdict {
			at, err := c.at(c.args[3])
			return c.chmod(at, err, c.args[2])
		},
		unix.SYS_FCHOWN: func(c *caller) verdict {
			return c.chown(ofFD(c.args[0]), nil, c.args[1], c.args[2])
		},
		unix.SYS_FCHOWNAT: func(c *caller) verdict {
			at, err := c.at(c.args[4])
			return c.chown(at, err, c.args[2], c.args[3])
		},
		unix.SYS_UTIMENSAT: func(c *caller) verdict {
			times, err := c.times(c.args[2], 4)
			at, wrong := c.at(c.args[3])
			return c.utime(at, cmp.Or(err, wrong), times)
		},
		unix.SYS_SETXATTR:     func(c *caller) verdict { return c.setxattr(c.path(0)) },
		unix.SYS_LSETXATTR:    func(c *caller) verdict { return c.setxattr(c.path(itself)) },
		unix.SYS_FSETXATTR:    func(c *caller) verdict { return c.setxattr(ofFD(c.args[0]), nil) },
		unix.SYS_REMOVEXATTR:  func(c *caller) verdict { return c.removexattr(c.path(0)) },
		unix.SYS_LREMOVEXATTR: func(c *caller) verdict { return c.removexattr(c.path(itself)) },
		unix.SYS_FREMOVEXATTR: func(c *caller) verdict { return c.removexattr(ofFD(c.args[0]), nil) },
	}
	addOld(d)
	return d
}

// at is the file of a call whose first arguments are a folder and a name.
func (c *caller) at(flags uint64) (place, error) { return c.named(int32(c.args[0]), c.args[1], flags) }

// path is the file of a call whose first argument is a name.
func (c *caller) path(flags uint64) (place, error) { return c.named(here, c.args[0], flags) }
