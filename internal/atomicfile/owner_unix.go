//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Own gives a file to the owner of another one. Only root may do so, and not every file system has
// owners, so it may fail.
func Own(path string, other fs.FileInfo) {
	if of, ok := other.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(path, int(of.Uid), int(of.Gid))
	}
}
