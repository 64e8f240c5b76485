//go:build !unix

package atomicfile

import "io/fs"

// Own does nothing: the folder decides who may read the file.
func Own(string, fs.FileInfo) {}
