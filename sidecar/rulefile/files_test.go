package rulefile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadFS(t *testing.T) {
	files, err := ReadFS(fstest.MapFS{
		"a.yaml": {Data: []byte("x")}, ".b.yaml": {}, "c.txt": {}, "sub/d.yaml": {}, "README.md": {},
		"prompts/e.txt": {Data: []byte("y")}, "prompts/.f.txt": {}, "prompts/g.md": {},
		"packs/h.yaml": {Data: []byte("z")}, "packs/i.txt": {}, "schemas/a.schema.json": {}, "tests/j.yaml": {Data: []byte("t")},
		"extra/a.mine.yaml": {Data: []byte("e")},
	})
	if err != nil || len(files) != 5 || files["extra/a.mine.yaml"] != "e" || files["a.yaml"] != "x" ||
		files["prompts/e.txt"] != "y" || files["packs/h.yaml"] != "z" || files["tests/j.yaml"] != "t" {
		t.Errorf("read %v, %v", files, err)
	}
}

// What cannot be read, or not whole, or not under its name, is an error that names
// it. Nothing is waited for.
func TestReadFSRefuses(t *testing.T) {
	many := fstest.MapFS{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("%d.yaml", i)] = &fstest.MapFile{}
	}
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		want string
	}{
		{"a folder", fstest.MapFS{"x.yaml/y": {}}, "x.yaml is not a regular file"},
		{"a pipe", fstest.MapFS{"tests/x.yaml": {Mode: fs.ModeNamedPipe}}, "tests/x.yaml is not a regular file"},
		{"a device", fstest.MapFS{"prompts/x.txt": {Mode: fs.ModeDevice}}, "prompts/x.txt is not a regular file"},
		{"a prompt that is too long", fstest.MapFS{"prompts/x.txt": {Data: make([]byte, maxFile+1)}}, "prompts/x.txt is longer than 1 MiB"},
		{"too many", many, "more than 1000 files"},
		{"the other ending", fstest.MapFS{"x.yml": {}}, "x.yml is not read"},
		{"the other ending of a pack", fstest.MapFS{"packs/x.yml": {}}, "its name must end in .yaml"},
	} {
		if _, err := ReadFS(c.fsys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	files, err := ReadFS(fstest.MapFS{".x.yml": {}, "prompts/x.yml": {}, "x/y.yml": {},
		"long.yaml": {Data: make([]byte, 3*maxFile)}})
	if err != nil || len(files) != 1 || len(files["long.yaml"]) != maxFile+1 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestVersion(t *testing.T) {
	f := Files{"a.yaml": "x", "b.yaml": "y"}
	for _, other := range []Files{{}, {"a.yaml": "x"}, {"a.yaml": "y", "b.yaml": "x"},
		{"a.yaml": "xb.yaml", "b.yaml": "y"}, {"a.yamlx": "", "b.yaml": "y"}} {
		if other.Version() == f.Version() {
			t.Errorf("%v has the version of %v", other, f)
		}
	}
	if v := (Files{"b.yaml": "y", "a.yaml": "x"}).Version(); v != f.Version() || len(v) != 12 {
		t.Errorf("version %q", v)
	}
}

// TestSource: an operator's folder stands over the rules of the program, and the
// locked folder beside it.
func TestSource(t *testing.T) {
	builtin := Files{"a.yaml": "program", "b.yaml": "program", "prompts/p.txt": "program"}
	dir, locked := t.TempDir(), t.TempDir()
	write(t, dir+"/a.yaml", "include: [builtin/b.yaml]")
	write(t, locked+"/limits.yaml", "locked")
	read := func(s Source) Files {
		t.Helper()
		files, err := s.Read()
		check(t, err)
		return files
	}
	if got := read(Source{Builtin: builtin}); !maps.Equal(got, builtin) {
		t.Errorf("without a folder: %v", got)
	}
	want := Files{"a.yaml": "include: [builtin/b.yaml]", "builtin/b.yaml": "program",
		"builtin/prompts/p.txt": "program"}
	src := Source{Dir: dir, Builtin: builtin}
	if got := read(src); !maps.Equal(got, want) {
		t.Errorf("without prompts of its own: %v", got)
	}
	mkdir(t, dir+"/prompts")
	write(t, dir+"/prompts/q.txt", "mine")
	src.Policy = locked
	want["prompts/q.txt"], want["policy/limits.yaml"] = "mine", "locked"
	if got := read(src); !maps.Equal(got, want) {
		t.Errorf("with a prompt more and a locked folder: %v", got)
	}
	write(t, dir+"/prompts/p.txt", "mine")
	delete(want, "builtin/prompts/p.txt")
	want["prompts/p.txt"] = "mine"
	if got := read(src); !maps.Equal(got, want) {
		t.Errorf("with another text for a prompt: %v", got)
	}
	for name, want := range map[string]string{
		"policy/limits.yaml": locked + "/limits.yaml", "builtin/b.yaml": "builtin/b.yaml",
		"a.yaml": dir + "/a.yaml",
	} {
		if got := src.OnDisk(name); got != want {
			t.Errorf("%s is %s on disk", name, got)
		}
	}
	src.Policy = t.TempDir()
	if _, err := src.Read(); !errors.Is(err, errNoFiles) || !strings.Contains(err.Error(), "locked folder") {
		t.Errorf("an empty locked folder: %v", err)
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
		if err == nil || !strings.Contains(err.Error(), "chmod o-w") ||
			!strings.Contains(err.Error(), strings.TrimPrefix(c.change, ".")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What cannot be read says what it is, and is never taken for an empty folder.
func TestReadDirUnreadable(t *testing.T) {
	link := func(dir, name string) { check(t, os.Symlink(dir+"/nowhere", dir+"/"+name)) }
	for name, c := range map[string]struct {
		place func(dir string) // what to put beside a.yaml
		read  string           // below the folder
		want  string
	}{
		"nothing": {nil, "/nowhere",
			"nowhere: there is no such folder; a new one is made with"},
		"an empty folder": {func(dir string) { mkdir(t, dir+"/new") }, "/new",
			"new: it holds no *.yaml file"},
		"a file":                    {nil, "/a.yaml", "a.yaml is a file; name the folder"},
		"below a file":              {nil, "/a.yaml/x", "a.yaml/x: not a directory"},
		"a link that leads nowhere": {func(dir string) { link(dir, "l") }, "/l", "/l is a link that leads nowhere"},
		"a link to itself": {func(dir string) { check(t, os.Symlink(dir+"/l", dir+"/l")) }, "/l",
			"/l: too many levels of symbolic links"},
		"a name that is too long": {nil, "/" + strings.Repeat("x", 300), "x: file name too long"},
		"a lost file": {func(dir string) { link(dir, "x.yaml") }, "",
			": x.yaml is a link that leads nowhere"},
		"a lost folder": {func(dir string) { link(dir, "packs") }, "",
			": packs is a link that leads nowhere"},
		"a file for a folder": {func(dir string) { write(t, dir+"/tests", "x") }, "",
			": tests: not a directory"},
	} {
		dir := t.TempDir()
		write(t, dir+"/a.yaml", "x")
		if c.place != nil {
			c.place(dir)
		}
		if _, err := ReadDir(dir + c.read); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "read rules: "+dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever is not root can be kept out, of the folder or of a part of it.
func TestReadDirForbidden(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	for _, name := range []string{"", "/a.yaml", "/packs", "/extra", "/tests", "/prompts"} {
		dir := t.TempDir()
		write(t, dir+"/a.yaml", "x")
		for _, inside := range Folders() {
			mkdir(t, dir+"/"+inside)
		}
		check(t, os.Chmod(dir+name, 0))
		_, err := ReadDir(dir)
		if err == nil || !strings.Contains(err.Error(),
			strings.TrimPrefix(name, "/")+": permission denied; let the user") {
			t.Errorf("%q: %v", name, err)
		}
		check(t, os.Chmod(dir+name, 0o700))
	}
}

// Names come from the network, too: none may lead out of the folder.
func TestCounted(t *testing.T) {
	for name, want := range map[string]bool{
		"a.yaml": true, "packs/a.yaml": true, "extra/a.b.yaml": true, "tests/a.yaml": true,
		"prompts/a.txt": true, "prompts/a.tmpl": true,
		"": false, ".": false, "a.txt": false, ".a.yaml": false, "packs/.a.yaml": false, "../a.yaml": false,
		"/a.yaml":         false,
		"packs/../a.yaml": false, "./a.yaml": false, "packs//a.yaml": false, "x/a.yaml": false,
		"packs/x/a.yaml": false,
		`..\a.yaml`:      false, "a\x00.yaml": false, "policy/a.yaml": false, "builtin/a.yaml": false,
		"builtin/packs/a.yaml": false,
	} {
		if IsRuleFile(name) != want {
			t.Errorf("%q counts: %v", name, !want)
		}
	}
}

// What looks like a rule file and is not read is warned of; notes, copies and hidden things are not.
func TestIgnored(t *testing.T) {
	dir, locked := t.TempDir(), t.TempDir()
	for name, hint := range map[string]string{
		"extras/exec.yaml":          "did you mean the folder extra?",
		"Packs/a.yaml":              "did you mean the folder packs?",
		"prompt/a.txt":              "did you mean the folder prompts?",
		"other/a.yml":               "rules stand in the folder itself, and in its folders packs, extra, programs, agents, families, tests, prompts",
		"extra/team/exec.ours.yaml": "put its files into extra itself",
		"exec.YAML":                 "did you mean exec.yaml?",
		"tests/a.yaml.txt":          "did you mean tests/a.yaml?",
		"exec.yaml":                 "", "notes.txt": "", "exec.yaml.bak": "", "exec.yaml~": "",
		".hidden/a.yaml": "",
		"..data/a.yaml":  "", "schemas/a.json": "", "docs/a.txt": "",
		"prompts/a.yaml.txt": "", "extra/.team/a.yaml": "", "extra/notes/a.md": "",
	} {
		mkdir(t, path.Join(dir, path.Dir(name)))
		write(t, path.Join(dir, name), "x")
		problems := Source{Dir: dir}.Ignored()
		if hint == "" && len(problems) > 0 || hint != "" && (len(problems) != 1 || problems[0].Hint != hint ||
			!problems[0].Warning) {
			t.Errorf("%s: %v", name, problems)
		}
		check(t, os.RemoveAll(path.Join(dir, strings.Split(name, "/")[0])))
	}
	write(t, locked+"/exec.YAML", "x")
	src := Source{Dir: dir, Policy: locked}
	if got := src.Ignored().In(src).Error(); got != locked+
		"/exec.YAML: warning: this is not read [E-file]\n         did you mean exec.yaml?" {
		t.Error(got)
	}
}

func TestOwnAndDiffer(t *testing.T) {
	f := Files{"a.yaml": "1", "prompts/p.txt": "2", "builtin/b.yaml": "3", "builtin/prompts/q.txt": "5",
		"policy/c.yaml": "4"}
	own := Files{"a.yaml": "1", "prompts/p.txt": "2"}
	if got := f.Own(); !maps.Equal(got, own) {
		t.Errorf("own: %v", got)
	}
	if !f.Locked() || own.Locked() {
		t.Error("the locked folder is not seen")
	}
	other := Files{"a.yaml": "1", "prompts/p.txt": "other", "new.yaml": ""}
	if got := strings.Join(own.Differ(other), " "); got != "new.yaml prompts/p.txt" ||
		len(own.Differ(own)) != 0 {
		t.Errorf("differ: %s", got)
	}
	for name, want := range map[string]string{"a.yaml": FromFolder, "builtin/b.yaml": FromProgram,
		"builtin/prompts/q.txt": FromProgram, "policy/c.yaml": FromPolicy} {
		if got := (Source{Dir: "d"}).From(name); got != want {
			t.Errorf("%s is from %s", name, got)
		}
	}
	if got := (Source{}).From("a.yaml"); got != FromProgram {
		t.Errorf("without a folder: %s", got)
	}
}
