//go:build unix

package workspace

import (
	"crypto/rand"
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

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
	beside := ".new-" + rand.Text()
	fd, err := openat(folder, beside, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), beside)
	_, err = f.Write(text)
	if mode != 0 {
		err = errors.Join(err, f.Chmod(os.FileMode(mode)))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = unix.Renameat(folder, beside, folder, name)
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(folder, beside, 0))
	}
	return nil
}

// modeOf gives the mode of the file that is replaced; 0: there is none. What is no file is not
// replaced, and neither is a link: it was judged where it leads.
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
