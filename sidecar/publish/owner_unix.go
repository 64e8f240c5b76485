//go:build unix

package publish

import (
	"io/fs"
	"os"
	"syscall"
)

// own gives path the owner and group of what it replaces. Only root can give to
// others; everybody else fails here where the owner differs.
func own(path string, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return os.Lchown(path, int(want.Uid), int(want.Gid))
}
