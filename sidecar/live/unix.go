//go:build unix

package live

import (
	"io/fs"
	"os"
	"syscall"
)

// chown gives path the owner and group of another file. Only root can give to others.
func chown(path string, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Lchown(path, int(want.Uid), int(want.Gid))
}
