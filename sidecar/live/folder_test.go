package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func place(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), mode))
	check(t, os.Chmod(path, mode))
}

// rules is a folder with two rule files and things that are none.
func rules(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rules")
	place(t, dir+"/a.yaml", "old", 0o640)
	place(t, dir+"/tests/t.yaml", "old", 0o600)
	place(t, dir+"/README.md", "read me", 0o644)
	place(t, dir+"/schemas/a.json", "{}", 0o644)
	place(t, dir+"/.editorconfig", "x", 0o600)
	check(t, os.Symlink("README.md", dir+"/link.md"))
	check(t, os.Chmod(dir, 0o750))
	return dir
}

func read(t testing.TB, dir string) rulefile.Files {
	t.Helper()
	files, err := rulefile.ReadDir(dir)
	check(t, err)
	return files
}

func same(t testing.TB, dir string, want rulefile.Files) {
	t.Helper()
	if got := read(t, dir); !maps.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", filepath.Base(dir), got, want)
	}
}

// left fails for what a publication has left behind.
func left(t testing.TB, dir string) {
	t.Helper()
	for _, in := range []string{dir, filepath.Dir(dir), dir + "/prompts", dir + "/tests"} {
		if found, err := filepath.Glob(in + "/" + atomicfile.Unfinished + "*"); err != nil || len(found) > 0 {
			t.Errorf("left behind: %v, %v", found, err)
		}
	}
}

var (
	oldFiles = rulefile.Files{"a.yaml": "old", "tests/t.yaml": "old"}
	newFiles = rulefile.Files{"a.yaml": "new", "b.yaml": "new", "prompts/p.txt": "new"}
)

// text fails where a file says something else.
func text(t testing.TB, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v, want %q", filepath.Base(path), got, err, want)
	}
}

// mode fails where a file has another mode.
func mode(t testing.TB, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v, %v, want %v", filepath.Base(path), info.Mode(), err, want)
	}
}

// publish is Folder and Keep.
func publishFiles(t testing.TB, dir string, files rulefile.Files) {
	t.Helper()
	c, err := ReplaceFiles(dir, files, "")
	check(t, err)
	check(t, c.Keep())
}

func TestFolder(t *testing.T) {
	dir := rules(t)
	was, err := os.Stat(dir)
	check(t, err)
	publishFiles(t, dir, newFiles)
	same(t, dir, newFiles)
	for path, want := range map[string]string{"README.md": "read me", "schemas/a.json": "{}",
		".editorconfig": "x", "link.md": "read me"} {
		text(t, filepath.Join(dir, path), want)
	}
	for path, want := range map[string]fs.FileMode{".": 0o750, "a.yaml": 0o640, "b.yaml": 0o640,
		"prompts": 0o750, ".editorconfig": 0o600, ".previous/tests/t.yaml": 0o600} {
		mode(t, filepath.Join(dir, path), want)
	}
	if at, err := os.Readlink(dir + "/link.md"); err != nil || at != "README.md" {
		t.Errorf("the link: %q, %v", at, err)
	}
	if now, err := os.Stat(dir); err != nil || !os.SameFile(was, now) {
		t.Errorf("it is another folder now: %v", err)
	}
	kept, err := Previous(dir)
	check(t, err)
	same(t, kept, oldFiles)
	left(t, dir)

	publishFiles(t, dir, oldFiles) // and back
	same(t, dir, oldFiles)
	kept, err = Previous(dir)
	check(t, err)
	same(t, kept, newFiles)
}

func TestUndo(t *testing.T) {
	dir := rules(t)
	c, err := ReplaceFiles(dir, newFiles, "")
	check(t, err)
	check(t, c.Undo())
	same(t, dir, oldFiles)
	mode(t, dir+"/tests/t.yaml", 0o600)
	left(t, dir)
	if kept, err := Previous(dir); err == nil {
		t.Errorf("%s is kept", kept)
	}
}

// What cannot be replaced half-way is put back.
func TestFolderHalfWay(t *testing.T) {
	dir := rules(t)
	check(t, os.MkdirAll(dir+"/b.yaml/full", 0o755))
	many := maps.Clone(newFiles)
	for i := range 20 {
		many[fmt.Sprintf("%02d.yaml", i)] = "new"
	}
	if _, err := ReplaceFiles(dir, many, ""); err == nil || strings.Contains(err.Error(), "put back") {
		t.Errorf("%v", err)
	}
	check(t, os.RemoveAll(dir+"/b.yaml"))
	same(t, dir, oldFiles)
	left(t, dir)
}

// A publication that a crash broke off is nobody's rules, until somebody publishes again.
func TestFolderBrokenOff(t *testing.T) {
	dir := rules(t)
	begun := func() { place(t, filepath.Join(dir, rulefile.PublishedFile), rulefile.Publishing, 0o644) }
	begun()
	if _, err := rulefile.ReadDir(dir); err == nil || !strings.Contains(err.Error(), "broken off") {
		t.Errorf("it is read: %v", err)
	}
	for _, files := range []rulefile.Files{oldFiles, newFiles} {
		begun()
		publishFiles(t, dir, files)
		same(t, dir, files)
	}
}

// A folder that is not there is made, and is gone again after Undo.
func TestFolderAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	c, err := ReplaceFiles(dir, newFiles, "")
	check(t, err)
	same(t, dir, newFiles)
	check(t, c.Undo())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	left(t, dir)
}

// A link to a folder stays a link.
func TestFolderThroughLink(t *testing.T) {
	dir := rules(t)
	link := filepath.Join(t.TempDir(), "current")
	check(t, os.Symlink(dir, link))
	c, err := ReplaceFiles(link, newFiles, "")
	check(t, err)
	check(t, c.Keep())
	if at, err := os.Readlink(link); err != nil || at != dir {
		t.Errorf("%q, %v", at, err)
	}
	same(t, dir, newFiles)
}

// What would get lost is a reason to change nothing, and is named.
func TestFolderRefuses(t *testing.T) {
	for _, row := range []struct {
		name, want string
		files      rulefile.Files
		make       func(dir string) error
	}{
		{"a checkout", "checkout", newFiles, func(dir string) error { return os.Mkdir(dir+"/.git", 0o755) }},
		{"a work tree", "checkout", newFiles, func(dir string) error { return os.WriteFile(dir+"/.git", nil, 0o600) }},
		{"a ConfigMap", "ConfigMap", newFiles, func(dir string) error { return os.Symlink("..2026", dir+"/..data") }},
		{"a linked file", "b.yaml is a link", newFiles, func(dir string) error { return os.Symlink("a.yaml", dir+"/b.yaml") }},
		{"a linked folder", "prompts is a link", newFiles, func(dir string) error { return os.Symlink("tests", dir+"/prompts") }},
		{"a file that is not read", "b.yml", newFiles, func(dir string) error { return os.WriteFile(dir+"/b.yml", nil, 0o600) }},
		{"a name that is none", "../x.yaml", rulefile.Files{"../x.yaml": ""}, nil},
		{"a hidden name", ".x.yaml", rulefile.Files{".x.yaml": ""}, nil},
		{"no file", "no rule file", rulefile.Files{}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := rules(t)
			if row.make != nil {
				check(t, row.make(dir))
			}
			if _, err := ReplaceFiles(dir, row.files, ""); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v", err)
			}
			text(t, dir+"/a.yaml", "old")
			left(t, dir)
		})
	}
}

// Whoever reads meanwhile sees what was there before or what is there then, never a mixture.
func TestReaderSeesNoMixture(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	set := func(text string) rulefile.Files {
		files := rulefile.Files{}
		for i := range 20 {
			files[fmt.Sprintf("%02d.yaml", i)] = text
		}
		return files
	}
	publishFiles(t, dir, set("0"))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var reads atomic.Int64
	readers.Go(func() {
		for ctx.Err() == nil {
			files, err := rulefile.ReadDir(dir)
			if err != nil || len(files) != 20 {
				t.Errorf("%d files, %v", len(files), err)
				return
			}
			first := files["00.yaml"]
			for name, text := range files {
				if text != first {
					t.Errorf("%s is of %s, 00.yaml of %s", name, text, first)
					return
				}
			}
			reads.Add(1)
		}
	})
	times := 60
	if testing.Short() {
		times = 15
	}
	for i := range times {
		publishFiles(t, dir, set(fmt.Sprint(i)))
	}
	ruletest.Soon(t, "some reads", func() bool { return reads.Load() >= 10 || t.Failed() })
	stop()
	readers.Wait()
}

// Of two who publish at once one is second, with all of its files.
func TestFolderOneAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rules")
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			files := rulefile.Files{}
			for i := range 10 {
				files[fmt.Sprintf("%02d.yaml", i)] = fmt.Sprint(who)
			}
			for range 5 {
				if _, err := ReplaceFiles(dir, files, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	files := read(t, dir)
	for name, text := range files {
		if len(files) != 10 || text != files["00.yaml"] {
			t.Errorf("%d files, %s is of %s, 00.yaml of %s", len(files), name, text, files["00.yaml"])
		}
	}
}
