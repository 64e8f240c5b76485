package live

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody gives what a folder holds to a user without rights, and makes this
// test that user for the file system. Root alone can; others are one already.
func asNobody(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	check(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
	runtime.LockOSThread() // both ids are those of one thread
	check(t, unix.Setfsgid(nobody))
	check(t, unix.Setfsuid(nobody))
	t.Cleanup(func() {
		check(t, unix.Setfsuid(0))
		check(t, unix.Setfsgid(0))
		runtime.UnlockOSThread()
	})
}

// Whoever may write the rules and nothing beside them can publish there, and what stood
// there before is kept.
func TestFolderInsideOneThatCannotBeRead(t *testing.T) {
	dir := rules(t)
	parent := filepath.Dir(dir)
	asNobody(t, filepath.Dir(parent))
	check(t, os.Chmod(parent, 0o111))
	if _, err := os.ReadDir(parent); err == nil {
		t.Fatal("the folder can be read: it shows nothing")
	}
	c, err := ReplaceFiles(dir, newFiles, "")
	check(t, err)
	same(t, dir, newFiles)
	check(t, c.Undo())
	same(t, dir, oldFiles)
	for range 2 { // what is kept is replaced, too
		publishFiles(t, dir, newFiles)
	}
	check(t, os.Chmod(parent, 0o755))
	left(t, dir)
}
