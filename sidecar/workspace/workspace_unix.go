//go:build unix

package workspace

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
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
	if err := checkOpened(fd, use, write); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), use.Resolved), nil
}

// checkOpened returns an error if an open file is not what was judged.
func checkOpened(fd int, use paths.Use, write bool) error {
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

// descend opens a folder by its absolute path, part by part. With make it makes missing folders.
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

// openat opens a name in an open folder, but no link.
func openat(folder int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(folder, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK): // Linux and macOS; FreeBSD
			return -1, ErrChanged
		case errors.Is(err, unix.ENOTDIR) && isLink(folder, name):
			return -1, ErrChanged
		case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
			return -1, ErrNoFile
		}
		return fd, err
	}
}

// isLink reports whether a name is a link, only to explain why it was not opened.
func isLink(folder int, name string) bool {
	var s unix.Stat_t
	return unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		s.Mode&unix.S_IFMT == unix.S_IFLNK
}

// Look is os.Lstat without allocations: it is called for each folder of each path of each call.
func (Links) Look(path string) (paths.Entry, error) {
	var s unix.Stat_t
	err := unix.Lstat(path, &s)
	for err == unix.EINTR {
		err = unix.Lstat(path, &s)
	}
	if err != nil {
		return paths.Entry{}, err
	}
	mode := fs.FileMode(s.Mode & 0o777)
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	// a file that is gone while it is open has none
	return paths.Entry{Mode: mode, Names: max(1, uint64(s.Nlink))}, nil
}

// List is os.File.ReadDir of a folder. It never waits at a pipe.
func (Links) List(folder string, most int) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

func replace(use paths.Use, text []byte) error {
	if use.Resolved == "" || use.Op != string(paths.Write) {
		return ErrNotJudged
	}
	folder, err := descend(path.Dir(use.Resolved), true)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	name := path.Base(use.Resolved)
	mode, err := modeOf(folder, name)
	if err != nil {
		return err
	}
	temp := ".new-" + rand.Text()
	fd, err := openat(folder, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), temp)
	_, err = f.Write(text)
	if mode != 0 {
		err = errors.Join(err, f.Chmod(os.FileMode(mode)))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = unix.Renameat(folder, temp, folder, name)
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(folder, temp, 0))
	}
	return nil
}

// modeOf returns the mode of the file to be replaced; 0: there is none. Only regular files are
// replaced: a link was judged where it leads.
func modeOf(folder int, name string) (uint32, error) {
	var s unix.Stat_t
	err := unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		return 0, nil
	case err != nil:
		return 0, err
	case s.Mode&unix.S_IFMT == unix.S_IFLNK:
		return 0, ErrChanged
	case s.Mode&unix.S_IFMT == unix.S_IFDIR:
		return 0, unix.EISDIR
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		return 0, ErrNoFile
	}
	return uint32(s.Mode) & 0o777, nil
}
