package publish

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two folders in one step. errors.ErrUnsupported says that the
// file system or the kernel cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}
