//go:build unix

package rulefile

import (
	"errors"
	"syscall"
)

// readOnly reports whether path lies on a file system mounted read-only.
func readOnly(path string) bool {
	const forWriting = 2 // W_OK of access(2)
	return errors.Is(syscall.Access(path, forWriting), syscall.EROFS)
}
