//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{0o700: 0, 0o666: 0o066, 0o622: 0o022, 0o604: 0o004} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := May(info); got != want {
			t.Errorf("%o: %o, not %o", mode, got, want)
		}
	}
}
