package ruleset

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadFS(t *testing.T) {
	files, err := ReadFS(fstest.MapFS{
		"a.yaml": {Data: []byte("x")}, ".b.yaml": {}, "c.txt": {}, "sub/d.yaml": {}, "README.md": {},
		"prompts/e.txt": {Data: []byte("y")}, "prompts/.f.txt": {}, "prompts/g.md": {},
	})
	if err != nil || len(files) != 2 || files["a.yaml"] != "x" || files["prompts/e.txt"] != "y" {
		t.Errorf("read %v, %v", files, err)
	}
}

func TestVersion(t *testing.T) {
	f := Files{"a.yaml": "x", "b.yaml": "y"}
	for _, other := range []Files{{}, {"a.yaml": "x"}, {"a.yaml": "y", "b.yaml": "x"}, {"a.yaml": "xb.yaml", "b.yaml": "y"}, {"a.yamlx": "", "b.yaml": "y"}} {
		if other.Version() == f.Version() {
			t.Errorf("%v has the version of %v", other, f)
		}
	}
	if v := (Files{"b.yaml": "y", "a.yaml": "x"}).Version(); v != f.Version() || len(v) != 12 {
		t.Errorf("version %q", v)
	}
}

func TestWithPrompts(t *testing.T) {
	other := Files{"a.yaml": "2", "prompts/p.txt": "2"}
	if got := (Files{"a.yaml": "1"}).WithPrompts(other); got["a.yaml"] != "1" || got["prompts/p.txt"] != "2" || len(got) != 2 {
		t.Errorf("without own prompts: %v", got)
	}
	if got := (Files{"prompts/q.txt": "1"}).WithPrompts(other); len(got) != 1 {
		t.Errorf("with own prompts: %v", got)
	}
}

func TestReadDirRefuses(t *testing.T) {
	for _, c := range []struct {
		name, change string
		mode         fs.FileMode
	}{
		{"file", "a.yaml", 0o646}, {"folder", ".", 0o757}, {"prompt", "prompts/p.txt", 0o602}, {"prompts", "prompts", 0o777},
	} {
		dir := t.TempDir()
		mkdir(t, dir+"/prompts")
		write(t, dir+"/a.yaml", "x")
		write(t, dir+"/prompts/p.txt", "x")
		if _, err := ReadDir(dir); err != nil {
			t.Fatal(err)
		}
		check(t, os.Chmod(dir+"/"+c.change, c.mode))
		_, err := ReadDir(dir)
		if err == nil || !strings.Contains(err.Error(), "chmod o-w") || !strings.Contains(err.Error(), strings.TrimPrefix(c.change, ".")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReadDirMissing(t *testing.T) {
	if _, err := ReadDir(t.TempDir()); !errors.Is(err, errNoFiles) {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := ReadDir(t.TempDir() + "/nowhere"); err == nil {
		t.Error("a missing folder is read")
	}
}
