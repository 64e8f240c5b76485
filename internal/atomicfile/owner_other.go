//go:build !unix

package atomicfile

import "io/fs"

// Own leaves a file with the user that wrote it: here its folder says who may read it.
func Own(string, fs.FileInfo) {}
