//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What root makes in the folder of somebody else belongs to them, or their agent could not read it.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may give files to others")
	}
	home := t.TempDir()
	if err := os.Chown(home, 12345, 12346); err != nil {
		t.Fatal(err)
	}
	f, err := Read(filepath.Join(home, ".codex", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	backup, err := f.Write([]byte("one"), noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.Path, backup, filepath.Dir(f.Path)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); of.Uid != 12345 || of.Gid != 12346 {
			t.Errorf("%s belongs to %d:%d", path, of.Uid, of.Gid)
		}
	}
}
