package atomicfile

import (
	"os"
	"time"
)

// Aside gives a damaged file another name, so that somebody can look at it, and what it was for can begin
// anew. It returns that name.
func Aside(path string, now time.Time) (string, error) {
	to := path + ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	return to, os.Rename(path, to)
}
