package atomicfile

import (
	"io/fs"
	"runtime"
)

// May is what its group and everyone may do with a file, of its permission bits: 0o022 is to write. On
// Windows it is nothing: the bits there are made up, and the access list of the folder decides.
func May(info fs.FileInfo) fs.FileMode {
	if runtime.GOOS == "windows" {
		return 0
	}
	return info.Mode().Perm() & 0o077
}
