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
	mayRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayUse = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	ofFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// handled is what a kernel's Landlock can guard, and what is guarded here.
type handled struct{ fs, net, scoped uint64 }

// landlock is all of it that this kernel takes. Bits are tried from the top, since
// a version says less than a try.
func landlock() (handled, error) {
	all := handled{fs: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX<<1 - 1,
		net:    unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL}
	for try := all; ; {
		fd, err := ruleset(try)
		if err == nil {
			unix.Close(fd)
			return try, nil
		}
		switch {
		case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.E2BIG):
			return handled{}, fmt.Errorf("this kernel has no Landlock, or it is switched off: %w", err)
		case try.fs > unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1-1:
			try.fs >>= 1
		case try.scoped != 0:
			try.fs, try.scoped = all.fs, 0
		case try.net != 0:
			try.fs, try.net = all.fs, 0
		default:
			return handled{}, fmt.Errorf("this kernel's Landlock is not understood: %w", err)
		}
	}
}

func ruleset(h handled) (int, error) {
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

// grant is one rule: what is allowed at a path and below.
type grant struct {
	path   string
	access uint64
	folder bool // known to be one, which spares a look
}

// grants are the rules of a box, with its paths as checked makes them.
func (b Box) grants() (out []grant, err error) {
	for _, path := range b.Write {
		out = append(out, grant{path: path, access: mayWrite})
	}
	for _, path := range b.List {
		out = append(out, grant{path: path, access: unix.LANDLOCK_ACCESS_FS_READ_DIR})
	}
	for _, path := range b.Use {
		out = append(out, grant{path: path, access: mayUse})
	}
	for _, path := range b.Read {
		if out, err = b.readable(path, false, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readable grants a path. Landlock can take nothing out again, so a folder that leads to
// something denied is granted entry by entry. It cannot be listed then: the right to list
// it would be the right to list all below.
func (b Box) readable(path string, folder bool, out []grant) ([]grant, error) {
	if slices.Contains(b.Deny, path) {
		return out, nil
	}
	if !slices.ContainsFunc(b.Deny, func(d string) bool { return under(d, path) }) {
		return append(out, grant{path: path, access: mayRead, folder: folder}), nil
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
		if out, err = b.readable(filepath.Join(path, e.Name()), e.IsDir(), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// domain is a ruleset with the rules of a box. What does not exist is left out.
func domain(h handled, grants []grant, streams [3]int) (int, error) {
	set, err := ruleset(h)
	if err != nil {
		return -1, fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	for _, g := range grants {
		fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err == nil {
			err = allow(set, fd, g.folder, g.access&h.fs)
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
				unix.O_RDONLY: mayUse &^
					(unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE),
				unix.O_WRONLY:  mayUse &^ unix.LANDLOCK_ACCESS_FS_READ_FILE,
				unix.O_RDWR:    mayUse,
				unix.O_ACCMODE: 0,
			}
			_ = allow(set, fd, false, h.fs&mode[flags&unix.O_ACCMODE])
		}
	}
	return set, nil
}

func allow(set, fd int, folder bool, access uint64) error {
	var st unix.Stat_t
	if !folder {
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			access &= ofFile
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

// followed is a path without links, as the kernel says it: a tenth of the time that it takes to look
// at each part of it.
func followed(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return pathOf(fd)
}
