//go:build unix

package decisions

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

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
