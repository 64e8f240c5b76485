package walls

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is called directly: go-landlock restricts the whole process, and here only the
// child of a fork is restricted.

// What a grant allows. Devices cannot be made: a device node is a way around every path.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	useRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockRights are the rights that a kernel's Landlock handles.
type landlockRights struct{ fs, net, scoped uint64 }

// landlock returns all rights that this kernel's Landlock handles. It tries bits from the top, since a
// version says less.
func landlock() (landlockRights, error) {
	all := landlockRights{fs: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX<<1 - 1,
		net:    unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL}
	for try := all; ; {
		fd, err := newRuleset(try)
		if err == nil {
			unix.Close(fd)
			return try, nil
		}
		switch {
		case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.E2BIG):
			return landlockRights{}, fmt.Errorf("this kernel has no Landlock, or it is switched off: %w", err)
		case try.fs > unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1-1:
			try.fs >>= 1
		case try.scoped != 0:
			try.fs, try.scoped = all.fs, 0
		case try.net != 0:
			try.fs, try.net = all.fs, 0
		default:
			return landlockRights{}, fmt.Errorf("this kernel's Landlock is not understood: %w", err)
		}
	}
}

func newRuleset(h landlockRights) (int, error) {
	size := unsafe.Sizeof(h)
	if h.scoped == 0 { // an older kernel knows a shorter struct
		size -= 8
		if h.net == 0 {
			size -= 8
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&h)), size, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// grant allows access to a path and all below.
type grant struct {
	path   string
	access uint64
	folder bool // known to be a folder, which saves a call
}

// grants returns the rules of a normalized box.
func (b Box) grants() (out []grant, err error) {
	for _, path := range b.Write {
		out = append(out, grant{path: path, access: writeRights})
	}
	for _, path := range b.List {
		out = append(out, grant{path: path, access: unix.LANDLOCK_ACCESS_FS_READ_DIR})
	}
	for _, path := range b.Use {
		out = append(out, grant{path: path, access: useRights})
	}
	for _, path := range b.Read {
		if out, err = b.grantRead(path, false, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// grantRead grants reading a path. Landlock cannot take a right back, so a folder that leads to
// something denied is granted entry by entry. It cannot be listed then: the right to list it would
// cover everything below.
func (b Box) grantRead(path string, folder bool, out []grant) ([]grant, error) {
	if slices.Contains(b.Deny, path) {
		return out, nil
	}
	if !slices.ContainsFunc(b.Deny, func(d string) bool { return isUnder(d, path) }) {
		return append(out, grant{path: path, access: readRights, folder: folder}), nil
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("leave %s out of what may be read: %w", path, err)
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue // what it leads to is granted by its own name, or not at all
		}
		if out, err = b.grantRead(filepath.Join(path, e.Name()), e.IsDir(), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newDomain returns a ruleset with the grants. Paths that do not exist are left out.
func newDomain(h landlockRights, grants []grant, streams [3]int) (int, error) {
	set, err := newRuleset(h)
	if err != nil {
		return -1, fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	for _, g := range grants {
		fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err == nil {
			err = addRule(set, fd, g.folder, g.access&h.fs)
			unix.Close(fd)
		}
		if err != nil {
			unix.Close(set)
			return -1, fmt.Errorf("grant %s: %w", g.path, err)
		}
	}
	for _, fd := range streams {
		// /dev/stdout leads to the file or terminal that is standard output. It was given.
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
			mode := []uint64{
				unix.O_RDONLY: useRights &^
					(unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE),
				unix.O_WRONLY:  useRights &^ unix.LANDLOCK_ACCESS_FS_READ_FILE,
				unix.O_RDWR:    useRights,
				unix.O_ACCMODE: 0,
			}
			_ = addRule(set, fd, false, h.fs&mode[flags&unix.O_ACCMODE])
		}
	}
	return set, nil
}

func addRule(set, fd int, folder bool, access uint64) error {
	var st unix.Stat_t
	if !folder {
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			access &= fileRights
		}
	}
	if access == 0 {
		return nil // a file cannot be listed, and Landlock takes no empty rule
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// resolve returns a path without links, as the kernel names it: ten times faster than looking at each
// part.
func resolve(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return pathOf(fd)
}
