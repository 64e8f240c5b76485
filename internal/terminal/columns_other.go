//go:build !unix

package terminal

import "os"

// columns tells terminals from other outputs, but not how wide they are: 0.
func columns(f *os.File) (n int, ok bool) {
	info, err := f.Stat()
	return 0, err == nil && info.Mode()&os.ModeCharDevice != 0
}
