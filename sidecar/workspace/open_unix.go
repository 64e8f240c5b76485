//go:build unix

package workspace

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

func open(use paths.Use) (*os.File, error) {
	write := use.Op == string(paths.Write)
	if use.Resolved == "" || !write && use.Op != string(paths.Read) {
		return nil, ErrNotJudged
	}
	folder, err := descend(path.Dir(use.Resolved), write)
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	flags := unix.O_RDONLY
	if write {
		flags = unix.O_WRONLY | unix.O_CREAT
	}
	fd, err := openat(folder, path.Base(use.Resolved), flags|unix.O_NONBLOCK|unix.O_NOCTTY, 0o666)
	if err != nil {
		return nil, err
	}
	if err := fits(fd, use, write); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), use.Resolved), nil
}

// fits looks at what is open.
func fits(fd int, use paths.Use, write bool) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		if s.Nlink > 1 && (write || !slices.Contains(use.Marks, paths.MarkHardLink)) {
			return ErrHardLink
		}
	case unix.S_IFDIR:
	default:
		return ErrNoFile
	}
	return unix.SetNonblock(fd, false) // it kept the open from waiting for a pipe
}

func remove(use paths.Use) error {
	if use.Resolved == "" || use.Op != string(paths.Delete) {
		return ErrNotJudged
	}
	folder, err := descend(path.Dir(use.Resolved), false)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	name := path.Base(use.Resolved)
	err = unix.Unlinkat(folder, name, 0)
	// what Linux and what others say of a folder
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
		return unix.Unlinkat(folder, name, unix.AT_REMOVEDIR)
	}
	return err
}

// descend opens a folder by its absolute path, from one part to the next. With make it
// makes what is missing.
func descend(p string, make bool) (int, error) {
	at, err := openat(unix.AT_FDCWD, "/", folderFlags, 0)
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if err != nil || name == "" {
			break
		}
		var next int
		next, err = openat(at, name, folderFlags, 0)
		if make && errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(at, name, 0o777); err == nil || errors.Is(err, unix.EEXIST) {
				next, err = openat(at, name, folderFlags, 0)
			}
		}
		unix.Close(at)
		at = next
	}
	return at, err
}

// openat opens a name in an open folder, and no link.
func openat(folder int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(folder, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK): // Linux and macOS; FreeBSD
			return -1, ErrChanged
		case errors.Is(err, unix.ENOTDIR) && link(folder, name):
			return -1, ErrChanged
		case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
			return -1, ErrNoFile
		}
		return fd, err
	}
}

// link says whether a name is one, only to tell why it was not opened.
func link(folder int, name string) bool {
	var s unix.Stat_t
	return unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		s.Mode&unix.S_IFMT == unix.S_IFLNK
}
