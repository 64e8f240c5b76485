package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds fails where a folder holds other names than these.
func holds(t *testing.T, dir string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	check(t, err)
	var got []string
	for _, f := range list {
		got = append(got, f.Name())
	}
	if len(got) != len(names) {
		t.Fatalf("it holds %q, want %q", got, names)
	}
	for i := range names {
		if got[i] != names[i] {
			t.Errorf("it holds %q, want %q", got, names)
		}
	}
}

func is(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	if got, err := os.ReadFile(path); err != nil || string(got) != text || info.Mode() != mode {
		t.Errorf("%s: %q %v %v, want %q %v", filepath.Base(path), got, info.Mode(), err, text, mode)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	check(t, Write(path, []byte("one"), 0o600))
	check(t, Write(path, []byte("two"), 0o640))
	is(t, path, "two", 0o640)
	holds(t, dir, "x")
	if err := Write(t.TempDir()+"/no/x", nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	check(t, os.Mkdir(filepath.Join(dir, "y"), 0o700))
	if err := Write(filepath.Join(dir, "y"), nil, 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	holds(t, dir, "x", "y")
}

// A reader who opened the file before still reads what stood there then.
func TestWriteLeavesReadersTheirs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	check(t, Write(path, []byte("one"), 0o600))
	f, err := os.Open(path)
	check(t, err)
	defer f.Close()
	check(t, Write(path, []byte("two"), 0o600))
	got := make([]byte, 3)
	if _, err := f.Read(got); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "x"), filepath.Join(dir, "y")
	check(t, os.WriteFile(file, []byte("one"), 0o600))
	check(t, os.Chmod(file, 0o664))
	check(t, os.Symlink("x", link))
	check(t, Replace(link, []byte("two")))
	is(t, file, "two", 0o664)
	if to, err := os.Readlink(link); err != nil || to != "x" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if err := Replace(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there is replaced: %v", err)
	}
	holds(t, dir, "x", "y")
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	tmp, err := Stage(filepath.Join(dir, "x"), []byte("half"), 0o600)
	check(t, err)
	if filepath.Dir(tmp) != dir {
		t.Errorf("%s is not beside", tmp)
	}
	check(t, os.Mkdir(filepath.Join(dir, Unfinished+"folder"), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600))
	check(t, Sweep(dir))
	holds(t, dir, Unfinished+"folder", "kept")
	if err := Sweep(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
