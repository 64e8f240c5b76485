//go:build unix

package live

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// chown gives path the owner and group of another file. Only root can give to others.
func chown(path string, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Lchown(path, int(want.Uid), int(want.Gid))
}

// lock waits up to a second until no other process publishes to a folder. File systems without
// locks give one at once.
func lock(dir string) (free func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for range 100 {
		if err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err,
			syscall.EWOULDBLOCK) {
			return func() { _ = d.Close() }, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("another process publishes there"), d.Close())
}
