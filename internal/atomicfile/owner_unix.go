//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Own gives a file to the owner of another one. Only root may do so, and not every file system has
// owners, so it may fail.
func Own(path string, other fs.FileInfo) {
	if of, ok := other.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(path, int(of.Uid), int(of.Gid))
	}
}

// Lock keeps other processes from locking a file until it is closed. While one of them has locked it, Lock
// tries again for a time; then the error is ErrHeld.
func Lock(f *os.File, patience time.Duration) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case !time.Now().Before(end):
			return ErrHeld
		}
	}
}
