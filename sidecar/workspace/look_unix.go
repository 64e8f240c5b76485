//go:build unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// Look is os.Lstat for each folder on the way of each path of each call: nothing is kept
// on the heap.
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
