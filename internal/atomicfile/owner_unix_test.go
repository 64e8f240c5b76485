//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file that is replaced, or written like another one, stays its owner's.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files to others")
	}
	dir := t.TempDir()
	file, like := filepath.Join(dir, "x"), filepath.Join(dir, "y")
	check(t, os.WriteFile(file, []byte("one"), 0o600))
	check(t, os.Chown(file, 12345, 12346))
	check(t, Replace(file, []byte("two")))
	info, err := os.Stat(file)
	check(t, err)
	check(t, Like(like, []byte("two"), info))
	for _, path := range []string{file, like} {
		is(t, path, "two", 0o600)
		info, err := os.Stat(path)
		check(t, err)
		if of := info.Sys().(*syscall.Stat_t); of.Uid != 12345 || of.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d", path, of.Uid, of.Gid)
		}
	}
}
