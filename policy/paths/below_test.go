package paths_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// around is a home with these entries, which may be looked at.
func around(t *testing.T, entries ...string) (string, paths.Guard) {
	t.Helper()
	base, g := lay(t, entries...)
	g.Roots.Look = []string{base + "/home"}
	return base, g
}

// Who reads a folder as a whole is asked, if a secret is in it. Its files are as before.
func TestSecretsBelow(t *testing.T) {
	many := []string{"home/big/", "home/deps/node_modules/"}
	for i := range 4100 {
		many = append(many, fmt.Sprintf("home/big/%d", i), fmt.Sprintf("home/deps/node_modules/%d", i))
	}
	base, g := around(t, append(many, "home/clean/a.go", "home/clean/sub/b.md", "home/env/sub/.env",
		"home/ssh/a/b/.ssh/id", "home/docs/passwords.txt", "home/app/x/.config/y", "home/link/x -> ../.netrc",
		"home/.netrc", "home/fine/x -> ../clean/a.go", "home/loop/x -> ../loop", "home/deps/a.go",
		"home/deps/node_modules/.env", "proj/a")...)
	for p, below := range map[string]bool{
		"~/clean": false, "~/clean/": false, "~/clean/.": false, "~/clean/sub/..": false, "~/env": true,
		"~/env/": true, "~/env/.": true, "~/env/sub": true, "~/env/sub/..": true, "~/ssh": true,
		"~/ssh/a": true,
		"~/docs":  true, "~/app": true, "~/link": true, "~/fine": false, "~/loop": false, "~/big": true,
		"~/deps": false, "~/missing": false, "~/clean/a.go": false, "~/env/other.txt": false,
	} {
		for _, u := range []paths.Use{g.Word(paths.Read, paths.Word{Text: p}, g.Roots.Cwd, "argument"),
			g.Literal(paths.Read, p)} {
			if got := slices.Contains(u.Marks, paths.MarkBelow); got != below || u.Class != paths.Around {
				t.Errorf("%s by %s: %s, secrets below: %v, want %v", p, u.Via, u.Class, got, below)
			}
		}
	}
	if u := g.Word(paths.Read, paths.Word{Text: "."}, base+"/home/env", "argument"); !slices.Contains(u.Marks,
		paths.MarkBelow) {
		t.Error("a dot is the folder")
	}
	if u := g.Word(paths.Write, paths.Word{Text: "~/env"}, g.Roots.Cwd, "argument"); len(u.Marks) > 0 {
		t.Errorf("only who reads is asked: %v", u.Marks)
	}
	g.Links = locked{}
	if u := g.Literal(paths.Read, "~/clean"); !slices.Contains(u.Marks, paths.MarkBelow) {
		t.Error("what cannot be looked through is open")
	}
}

// A folder that may be written can have the home folder in it, as /tmp has in containers. Its secrets stay
// secrets for what reads all of it.
func TestSecretsBelowHomeInRoot(t *testing.T) {
	base, g := around(t, "home/.ssh/id", "home/code/a.go", "home/code/.env", "proj/a")
	g.Roots.Write = append(g.Roots.Write, base)
	for p, below := range map[string]bool{"~": true, "~/": true, base: true, "~/code": false, base + "/proj": false} {
		if u := g.Literal(paths.Read, p); slices.Contains(u.Marks, paths.MarkBelow) != below {
			t.Errorf("%s: %s %v, want secrets below: %v", p, u.Class, u.Marks, below)
		}
		if u := g.Literal(paths.Write, p); slices.Contains(u.Marks, paths.MarkBelow) {
			t.Errorf("write %s: %v", p, u.Marks)
		}
	}
}

// locked is a disk on which no folder named sub may be looked into.
type locked struct{ workspace.Links }

func (l locked) List(folder string, most int) ([]fs.DirEntry, error) {
	if filepath.Base(folder) == "sub" {
		return nil, fs.ErrPermission
	}
	return l.Links.List(folder, most)
}

// A pattern is what it stands for on the disk.
func TestPatternsOnDisk(t *testing.T) {
	_, g := around(t, "home/docs/passwords.txt", "home/docs/letter.txt", "home/code/a/.env",
		"home/code/a/README.md", "home/code/b/README.md", "home/code/b/key.p12", "home/bak/x/.ssh/id_rsa",
		"home/dir/sub/.env", "home/.netrc",
		"home/code/f -> a/README.md", "proj/evil/x -> ../../home/.netrc", "proj/evil/y -> ../a.txt",
		"proj/a.txt", "proj/.env", "proj/conf/credentials.json", "proj/evil/up -> ../../home")
	for pattern, want := range map[string]string{
		"~/docs/*": paths.Outside, "~/docs/p*": paths.Outside, "~/docs/l*": paths.Around,
		"~/docs/*r.txt": paths.Around, "~/docs/?????????.txt": paths.Outside,
		"~/code/*/README.md": paths.Around,
		"~/code/a/*":         paths.Around, "~/code/a/.??*": paths.Secret, "~/code/b/*": paths.Secret,
		"~/code/b/R*": paths.Around, "~/code/*/*.p12": paths.Secret, "~/code/**/README.md": paths.Around,
		"~/code/**/*.md": paths.Around, "~/code/**/*env": paths.Secret, "~/bak/**/*rsa": paths.Secret,
		"~/bak/**/*RSA": paths.Secret, "~/code/[ab]/README.md": paths.Around,
		"~/bak/*/.[s]sh/*": paths.Secret,
		"evil/*":           paths.Secret, "*/x": paths.Secret, "evil/y*": paths.Workspace,
		"*":      paths.Workspace,
		"conf/*": paths.Workspace, "evil/*/docs/letter.txt": paths.Workspace, "evil/*/docs/p*": paths.Outside,
	} {
		if u := g.Word(paths.Read, paths.Word{Text: pattern, Glob: true}, g.Roots.Cwd,
			"argument"); u.Class != want || len(u.Marks) > 0 {
			t.Errorf("%s: %s %v, want %s", pattern, u.Class, u.Marks, want)
		}
	}
	for pattern, below := range map[string]bool{"~/dir/*": true, "~/b*": true, "~/bak/*": true,
		"~/code/*": true, "~/doc*/l*": false} {
		u := g.Word(paths.Read, paths.Word{Text: pattern, Glob: true}, g.Roots.Cwd, "argument")
		if got := slices.Contains(u.Marks, paths.MarkBelow); got != below && u.Class == paths.Around {
			t.Errorf("%s: %s, secrets below: %v, want %v", pattern, u.Class, got, below)
		}
	}
}

// All folders that a pattern stands for are one path: together they may not be too large.
func TestPatternsAreBounded(t *testing.T) {
	var entries []string
	for i := range 3 * 1500 {
		entries = append(entries, fmt.Sprintf("home/code/%c/%d.go", 'a'+i%3, i))
	}
	_, g := around(t, entries...)
	for pattern, below := range map[string]bool{"~/code/[ab]": false, "~/code/?": true,
		"~/code/*/1.go": false} {
		u := g.Word(paths.Read, paths.Word{Text: pattern, Glob: true}, g.Roots.Cwd, "argument")
		if got := slices.Contains(u.Marks, paths.MarkBelow); got != below || u.Class != paths.Around {
			t.Errorf("%s: %s, too much is below: %v, want %v", pattern, u.Class, got, below)
		}
	}
}

// On random trees, a pattern that may be read stands for no file that may not be read by
// its name, and a folder that may be read as a whole holds none.
func TestWholeIsNoMilderThanItsFiles(t *testing.T) {
	names := []string{"a", "b.txt", ".env", "token", "src", ".ssh", "x.go", "id_rsa", ".config", "secrets",
		"etc", "README.md"}
	patterns := []string{"*", "*/*", "**/*n*", "?*", ".*", "[a-z]*", "*.txt", "**/*", "*/.*", "{a,b}*",
		"t*/*", "**/*.TXT"}
	held := 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func() string { return names[r.IntN(len(names))] }
		var entries []string
		for range 6 {
			entries = append(entries, "home/f/"+strings.Join([]string{pick(), pick(), pick()}[r.IntN(3):],
				"/d/"))
		}
		slices.Sort(entries)
		base, g := around(t)
		for _, e := range entries {
			p := filepath.Join(base, e)
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			_ = os.WriteFile(p, nil, 0o644)
		}
		bad := func(p string) bool {
			u := g.Literal(paths.Read, p)
			return u.Class != paths.Around
		}
		anyBelow := false
		_ = filepath.Walk(base+"/home/f", func(p string, info os.FileInfo, err error) error {
			anyBelow = anyBelow || err == nil && bad(p)
			return nil
		})
		if u := g.Literal(paths.Read, "~/f"); u.Class == paths.Around && anyBelow != slices.Contains(u.Marks,
			paths.MarkBelow) {
			t.Fatalf("seed %d: secrets below are %v: %v %v", seed, anyBelow, u.Marks, entries)
		}
		for _, pattern := range patterns {
			u := g.Word(paths.Read, paths.Word{Text: "~/f/" + pattern, Glob: true}, g.Roots.Cwd, "argument")
			if u.Class != paths.Around || len(u.Marks) > 0 {
				continue
			}
			found, err := filepath.Glob(base + "/home/f/" + pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range found {
				if held++; bad(p) && shown(strings.TrimPrefix(p, base+"/home/f/"), pattern) {
					t.Fatalf("seed %d: %s may be read, and stands for %s", seed, pattern, p)
				}
			}
		}
	}
	if held < 100 {
		t.Errorf("only %d files were found", held)
	}
}

// shown says whether a shell would give a name for a pattern: a hidden one only for a dot.
func shown(name, pattern string) bool {
	parts := strings.Split(pattern, "/")
	for i, part := range strings.Split(name, "/") {
		if part[0] == '.' && parts[i][0] != '.' && !strings.Contains(pattern, "**") {
			return false
		}
	}
	return true
}
