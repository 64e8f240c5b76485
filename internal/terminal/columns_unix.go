//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the width of the terminal f; not ok where f is none. A terminal
// need not know its width: then it is 0.
func columns(f *os.File) (n int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
