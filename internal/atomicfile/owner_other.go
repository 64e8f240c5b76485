//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
	"time"
)

// Own does nothing: the folder decides who may read the file.
func Own(string, fs.FileInfo) {}

// Lock locks nothing here.
func Lock(*os.File, time.Duration) error { return nil }
