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

// fileRef is how a call names a file.
type fileRef struct {
	dir      int32
	path     string
	noFollow bool // the link itself
}

// openFile names an open file.
func openFile(n uint64) fileRef { return fileRef{dir: int32(n)} }

// readRef reads the name of a call. An empty one, if allowed, is the folder itself.
func (c *caller) readRef(dir int32, path uint64, flags uint64) (fileRef, error) {
	if path == 0 {
		return fileRef{dir: dir}, nil // utimensat takes it so
	}
	text, err := c.readString(path)
	if err == nil && text == "" && flags&unix.AT_EMPTY_PATH == 0 {
		err = unix.ENOENT
	}
	return fileRef{dir, text, flags&unix.AT_SYMLINK_NOFOLLOW != 0}, err
}

// ownFile matches the name of a file that the caller has open. In the supervisor it would name one of
// the supervisor's.
var ownFile = regexp.MustCompile(`^/(?:proc/(?:self|thread-self|(\d+)(?:/task/\d+)?)/fd|dev/fd)/(\d+)$`)

// open opens the file that a caller names with O_PATH, or copies one that it has open.
func (c *caller) open(at fileRef) (int, error) {
	if at.path == "" {
		if at.dir == unix.AT_FDCWD {
			return c.folder(at.dir)
		}
		return c.copyFD(uint64(at.dir))
	}
	if m := ownFile.FindStringSubmatch(at.path); m != nil && !at.noFollow &&
		(m[1] == "" || m[1] == strconv.Itoa(c.process())) {
		n, err := strconv.ParseUint(m[2], 10, 31)
		if err != nil {
			return -1, unix.ENOENT
		}
		return c.copyFD(n)
	}
	flags := unix.O_PATH | unix.O_CLOEXEC
	if at.noFollow {
		flags |= unix.O_NOFOLLOW
	}
	if c.ownMounts {
		return c.openInMounts(at, flags)
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

// openInMounts resolves a name among the mounts of the command, links included.
func (c *caller) openInMounts(at fileRef, flags int) (int, error) {
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
	if err := c.validate(); err != nil {
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

// folder opens the folder where relative names begin.
func (c *caller) folder(dir int32) (int, error) {
	if dir != unix.AT_FDCWD {
		return c.copyFD(uint64(dir))
	}
	fd, err := unix.Open(c.proc("cwd"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return fd, c.validate()
}

// procPath returns a name of an open file that leads to exactly that file.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// pathOf returns the path of an open file.
func pathOf(fd int) (string, error) { return os.Readlink(procPath(fd)) }

// checkPath returns an error unless an open file lies in one of the folders and in none of the others.
func checkPath(fd int, in, not []string) error {
	path, err := pathOf(fd)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/memfd:"):
		return nil // a pipe, a socket: nothing outside
	case isUnderAny(path, in) && !isUnderAny(path, not):
		return nil
	}
	return unix.EPERM
}

// changeFile opens a file and changes it, if that is allowed.
func (c *caller) changeFile(at fileRef, err error, change func(fd int) error) callResult {
	return c.withFile(at, err, c.box.Write, slices.Concat(c.box.Deny, c.box.Fixed), change)
}

// withFile opens a file and passes it to do, if it lies where that is allowed.
func (c *caller) withFile(at fileRef, err error, in, not []string, do func(fd int) error) callResult {
	if err != nil {
		return errResult(err)
	}
	fd, err := c.open(at)
	if err != nil {
		return errResult(err)
	}
	defer unix.Close(fd)
	if err = checkPath(fd, in, not); err == nil {
		err = do(fd)
	}
	return errResult(err)
}

func (c *caller) chmod(at fileRef, err error, mode uint64) callResult {
	return c.changeFile(at, err, func(fd int) error {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if mode&setID != 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return unix.EPERM // it would run as its owner for every user
		}
		return unix.Fchmodat(unix.AT_FDCWD, procPath(fd), uint32(mode&0o7777), 0)
	})
}

func (c *caller) chown(at fileRef, err error, uid, gid uint64) callResult {
	return c.changeFile(at, err, func(fd int) error {
		return unix.Fchownat(fd, "", int(int32(uid)), int(int32(gid)), unix.AT_EMPTY_PATH)
	})
}

// utime sets times; without times, to now.
func (c *caller) utime(at fileRef, err error, times []int64) callResult {
	return c.changeFile(at, err, func(fd int) error {
		var to []unix.Timespec
		if len(times) == 4 {
			to = []unix.Timespec{{Sec: times[0], Nsec: times[1]}, {Sec: times[2], Nsec: times[3]}}
		}
		return unix.UtimesNanoAt(fd, "", to, unix.AT_EMPTY_PATH)
	})
}

// inotifyWatch lets the caller watch a folder that it may read or list: Landlock lets every process
// watch every folder.
func (c *caller) inotifyWatch() callResult {
	at, err := c.readRef(cwdFD, c.args[1], 0)
	at.noFollow = c.args[2]&unix.IN_DONT_FOLLOW != 0
	b, n := c.box, 0
	v := c.withFile(at, err, slices.Concat(b.Read, b.List, b.Write, b.Use), b.Deny, func(fd int) error {
		queue, err := c.copyFD(c.args[0])
		if err != nil {
			return err
		}
		defer unix.Close(queue)
		n, err = unix.InotifyAddWatch(queue, procPath(fd), uint32(c.args[2])&^unix.IN_DONT_FOLLOW)
		return err
	})
	v.value = int64(max(0, n)) // -1 beside an error
	return v
}

func (c *caller) setxattr(at fileRef, err error) callResult {
	const most = 64 << 10 // the kernel takes no more
	a := c.args
	if err == nil && a[3] > most {
		err = unix.E2BIG
	}
	name, err := c.attribute(err)
	var value []byte
	if err == nil && a[3] > 0 {
		value, err = c.readMemory(a[2], int(a[3]))
	}
	return c.changeFile(at, err, func(fd int) error {
		return unix.Setxattr(procPath(fd), name, value, int(a[4]))
	})
}

func (c *caller) removexattr(at fileRef, err error) callResult {
	name, err := c.attribute(err)
	return c.changeFile(at, err, func(fd int) error { return unix.Removexattr(procPath(fd), name) })
}

func (c *caller) attribute(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return c.readString(c.args[1])
}
