//go:build unix

package decisions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock makes this the only process that writes to a folder, until the file is closed.
// Readers hold the lock for a moment, so it is tried for half a second.
func lock(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	for range 10 {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another process writes this log")
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
}

// live reports whether a process writes to the folder.
func live(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// openTurns opens the file whose lock says which of the processes that hold a folder may write.
func openTurns(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, turnsFile), os.O_RDWR|os.O_CREATE, fileMode)
}

// waitFor waits for the turn of this process. One that ends gives its turn back.
func waitFor(turns *os.File) error {
	for {
		if err := syscall.Flock(int(turns.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// release lets others have their turn.
func release(turns *os.File) error { return syscall.Flock(int(turns.Fd()), syscall.LOCK_UN) }
