//go:build unix

package run

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// hold keeps other processes from writing to a run, until the file is closed.
func hold(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), errRunHeld)
	}
	return err
}
