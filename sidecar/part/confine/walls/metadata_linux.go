package walls

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Modes, owners, times and attributes may be changed below what may be written. The
// supervisor opens the file without opening it (O_PATH), looks where it lies, and changes
// exactly that one.

// place is how a call names a file.
type place struct {
	dir    int32
	path   string
	itself bool // a link, not what it leads to
}

// ofFD names an open file.
func ofFD(n uint64) place { return place{dir: int32(n)} }

// named reads the name that a call gives. An empty one, where it may be empty, is the folder itself.
func (c *caller) named(dir int32, path uint64, flags uint64) (place, error) {
	if path == 0 {
		return place{dir: dir}, nil // utimensat takes it so
	}
	text, err := c.text(path)
	if err == nil && text == "" && flags&unix.AT_EMPTY_PATH == 0 {
		err = unix.ENOENT
	}
	return place{dir, text, flags&unix.AT_SYMLINK_NOFOLLOW != 0}, err
}

// ownFile is a name of a file that the caller has open. Here it would lead to files of the supervisor.
var ownFile = regexp.MustCompile(`^/(?:proc/(?:self|thread-self|(\d+)(?:/task/\d+)?)/fd|dev/fd)/(\d+)$`)

// open is the file that a caller names, as O_PATH opens it, or a copy of what it has open.
func (c *caller) open(at place) (int, error) {
	if at.path == "" {
		if at.dir == unix.AT_FDCWD {
			return c.folder(at.dir)
		}
		return c.fd(uint64(at.dir))
	}
	if m := ownFile.FindStringSubmatch(at.path); m != nil && !at.itself &&
		(m[1] == "" || m[1] == strconv.Itoa(c.process())) {
		n, err := strconv.ParseUint(m[2], 10, 31)
		if err != nil {
			return -1, unix.ENOENT
		}
		return c.fd(n)
	}
	flags := unix.O_PATH | unix.O_CLOEXEC
	if at.itself {
		flags |= unix.O_NOFOLLOW
	}
	if c.apart {
		return c.openApart(at, flags)
	}
	if filepath.IsAbs(at.path) {
		return unix.Open(at.path, flags, 0)
	}
	dir, err := c.folder(at.dir)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	return unix.Openat(dir, at.path, flags, 0)
}

// openApart follows a name among the mounts of the command, links included.
func (c *caller) openApart(at place, flags int) (int, error) {
	path := at.path
	if !filepath.IsAbs(path) {
		dir, err := c.folder(at.dir)
		if err != nil {
			return -1, err
		}
		base, err := pathOf(dir)
		unix.Close(dir)
		if err != nil {
			return -1, err
		}
		path = base + "/" + path
	}
	root, err := unix.Open(c.proc("root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	if err := c.waits(); err != nil {
		return -1, err
	}
	for range 100 { // EAGAIN: something was renamed on the way
		fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: uint64(flags),
			Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
		if !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
	return -1, unix.EAGAIN
}

func (c *caller) proc(name string) string {
	return "/proc/" + strconv.Itoa(int(c.pid)) + "/" + name
}

// folder is where relative names begin.
func (c *caller) folder(dir int32) (int, error) {
	if dir != unix.AT_FDCWD {
		return c.fd(uint64(dir))
	}
	fd, err := unix.Open(c.proc("cwd"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return fd, c.waits()
}

// link is a name of an open file of ours that leads to exactly that one.
func link(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// pathOf is where an open file lies.
func pathOf(fd int) (string, error) { return os.Readlink(link(fd)) }

// lies says whether an open file lies in one of the folders, and in none of the others.
func lies(fd int, in, not []string) error {
	path, err := pathOf(fd)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/memfd:"):
		return nil // a pipe, a socket: nothing outside
	case underAny(path, in) && !underAny(path, not):
		return nil
	}
	return unix.EPERM
}

// changes opens what is named, and changes it if that may be.
func (c *caller) changes(at place, err error, change func(fd int) error) verdict {
	return c.with(at, err, c.box.Write, slices.Concat(c.box.Deny, c.box.Fixed), change)
}

// with opens what is named, and does something with it if it lies where that may be.
func (c *caller) with(at place, err error, in, not []string, do func(fd int) error) verdict {
	if err != nil {
		return no(err)
	}
	fd, err := c.open(at)
	if err != nil {
		return no(err)
	}
	defer unix.Close(fd)
	if err = lies(fd, in, not); err == nil {
		err = do(fd)
	}
	return no(err)
}

func (c *caller) chmod(at place, err error, mode uint64) verdict {
	return c.changes(at, err, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if mode&setID != 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return unix.EPERM // it would run as its owner for every user
		}
		return unix.Fchmodat(unix.AT_FDCWD, link(fd), uint32(mode&0o7777), 0)
	})
}

func (c *caller) chown(at place, err error, uid, gid uint64) verdict {
	return c.changes(at, err, func(fd int) error {
		return unix.Fchownat(fd, "", int(int32(uid)), int(int32(gid)), unix.AT_EMPTY_PATH)
	})
}

// utime sets times. Without times it is now.
func (c *caller) utime(at place, err error, times []int64) verdict {
	return c.changes(at, err, func(fd int) error {
		var to []unix.Timespec
		if len(times) == 4 {
			to = []unix.Timespec{{Sec: times[0], Nsec: times[1]}, {Sec: times[2], Nsec: times[3]}}
		}
		return unix.UtimesNanoAt(fd, "", to, unix.AT_EMPTY_PATH)
	})
}

// watch lets the caller learn what happens in a folder that it may read or list: Landlock lets every process
// watch every folder.
func (c *caller) watch() verdict {
	at, err := c.named(here, c.args[1], 0)
	at.itself = c.args[2]&unix.IN_DONT_FOLLOW != 0
	b, n := c.box, 0
	v := c.with(at, err, slices.Concat(b.Read, b.List, b.Write, b.Use), b.Deny, func(fd int) error {
		queue, err := c.fd(c.args[0])
		if err != nil {
			return err
		}
		defer unix.Close(queue)
		n, err = unix.InotifyAddWatch(queue, link(fd), uint32(c.args[2])&^unix.IN_DONT_FOLLOW)
		return err
	})
	v.value = int64(max(0, n)) // -1 beside an error
	return v
}

func (c *caller) setxattr(at place, err error) verdict {
	const most = 64 << 10 // the kernel takes no more
	a := c.args
	if err == nil && a[3] > most {
		err = unix.E2BIG
	}
	name, err := c.attribute(err)
	var value []byte
	if err == nil && a[3] > 0 {
		value, err = c.memory(a[2], int(a[3]))
	}
	return c.changes(at, err, func(fd int) error { return unix.Setxattr(link(fd), name, value, int(a[4])) })
}

func (c *caller) removexattr(at place, err error) verdict {
	name, err := c.attribute(err)
	return c.changes(at, err, func(fd int) error { return unix.Removexattr(link(fd), name) })
}

func (c *caller) attribute(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return c.text(c.args[1])
}
