package atomicfile

import (
	"os"
	"time"
)

// Aside renames a damaged file, so that the operator can inspect it and the program can begin a new one.
// It returns the new name.
func Aside(path string, now time.Time) (string, error) {
	to := path + ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	return to, os.Rename(path, to)
}
