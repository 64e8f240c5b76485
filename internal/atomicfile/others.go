package atomicfile

import (
	"io/fs"
	"runtime"
)

// May returns what the group and everyone may do with a file, by its permission bits: 0o022 is to write.
// It is zero on Windows, whose bits are invented; the access list of the folder decides there.
func May(info fs.FileInfo) fs.FileMode {
	if runtime.GOOS == "windows" {
		return 0
	}
	return info.Mode().Perm() & 0o077
}
