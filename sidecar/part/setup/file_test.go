package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// made is a config of its own.
func made(t *testing.T, text string) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "openclaw.json")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q: %v, want %q", path, got, err, want)
	}
}

func TestWriteAndUndo(t *testing.T) {
	f := made(t, "one")
	backup, err := f.Write([]byte("two"), noon)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, f.Path, "two")
	holds(t, backup, "one")
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode of the backup: %v %v", info.Mode(), err)
	}
	f.Text = []byte("two")
	if _, err := f.Write([]byte("three"), noon.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"two", "one"} {
		u, err := Undo(f.Path, noon)
		if err != nil || u.Aside != "" || string(u.After) != want {
			t.Errorf("%+v: %v", u, err)
		}
		holds(t, f.Path, want)
	}
	if _, err := Undo(f.Path, noon); err == nil || !strings.Contains(err.Error(), "there is no backup of") {
		t.Errorf("a third time: %v", err)
	}
	if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

func TestWriteLeavesWhatOthersWrote(t *testing.T) {
	f := made(t, "one")
	if err := os.WriteFile(f.Path, []byte("other"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("two"), noon); err == nil ||
		!strings.Contains(err.Error(), "has changed since it was read") {
		t.Errorf("%v", err)
	}
	holds(t, f.Path, "other")
	if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

func TestUndoKeepsWhatOthersWrote(t *testing.T) {
	f := made(t, "one")
	if _, err := f.Write([]byte("two"), noon); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path, []byte("theirs"), 0o640); err != nil {
		t.Fatal(err)
	}
	u, err := Undo(f.Path, noon)
	if err != nil || u.Aside == "" {
		t.Fatalf("%+v: %v", u, err)
	}
	holds(t, f.Path, "one")
	holds(t, u.Aside, "theirs")
}

func TestUndoOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.json")
	if _, err := Undo(path, noon); err == nil || !strings.Contains(err.Error(), "no backup of "+path) {
		t.Errorf("%v", err)
	}
}

// A config that is missing is made with its folders, for its owner alone, and is gone when that is undone.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	f, err := Read(filepath.Join(dir, "a", "b", "config.toml"))
	if err != nil || !f.Missing {
		t.Fatalf("%+v: %v", f, err)
	}
	if _, err := f.Write([]byte("one"), noon); err != nil {
		t.Fatal(err)
	}
	holds(t, f.Path, "one")
	for path, want := range map[string]os.FileMode{f.Path: 0o600, filepath.Dir(f.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if _, err := f.Write([]byte("two"), noon); err == nil ||
		!strings.Contains(err.Error(), "has changed since it was read") {
		t.Errorf("over one that is there by now: %v", err)
	}
	u, err := Undo(f.Path, noon)
	if err != nil || !u.Removed || u.Aside != "" {
		t.Fatalf("%+v: %v", u, err)
	}
	if list, _ := os.ReadDir(filepath.Dir(f.Path)); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}

// A link stays a link, and the file behind it is replaced.
func TestLink(t *testing.T) {
	f := made(t, "one")
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(f.Path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := (File{Path: link, Text: f.Text}).Write([]byte("two"), noon); err != nil {
		t.Fatal(err)
	}
	holds(t, f.Path, "two")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v %v", info, err)
	}
}

// FuzzUndo holds that what is put back after the settings were merged is the old config, byte for byte.
func FuzzUndo(f *testing.F) {
	f.Add("\ufeff{ // mine\r\n  \"gateway\": {},\r\n\r\n}")
	f.Add(`{"tools":{"exec":{"mode":"full"/* why */}},"a":"é"}`)
	f.Fuzz(func(t *testing.T, text string) {
		merged, err := openclaw.Merge([]byte(text), openclaw.Sidecar{URL: "http://127.0.0.1:8001/v1",
			Models: []string{"gpt-oss"}})
		if err != nil {
			return
		}
		c := made(t, text)
		if _, err := c.Write(merged, noon); err != nil {
			t.Fatal(err)
		}
		if u, err := Undo(c.Path, noon); err != nil || u.Aside != "" {
			t.Fatalf("%+v: %v", u, err)
		}
		holds(t, c.Path, text)
	})
}
