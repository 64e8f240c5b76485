//go:build unix

package experiment

import (
	"os"
	"path/filepath"
	"syscall"
)

// hold locks a folder for writing by this process, until the file is closed.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if err == syscall.EWOULDBLOCK {
			err = errCapturesHeld
		}
		return nil, err
	}
	return f, nil
}
