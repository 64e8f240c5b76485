//go:build unix

package paths_test

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// lay makes files (content), folders (a slash at the end) and links (an arrow) in a new
// folder, and a guard whose workspace is proj/ in it.
func lay(t testing.TB, entries ...string) (string, paths.Guard) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append([]string{"proj/", "home/"}, entries...) {
		name, to, link := strings.Cut(e, " -> ")
		p := filepath.Join(base, name)
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(strings.ReplaceAll(to, "BASE", base), p)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		default:
			err = os.WriteFile(p, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := paths.Roots{Cwd: base + "/proj", Home: base + "/home", Write: []string{base + "/proj"}}
	return base, paths.Guard{Roots: r, Links: workspace.Links{}}
}

// A repository is one by what is in it, also where its folder has no name that says so.
func TestStores(t *testing.T) {
	_, g := lay(t, "proj/g/HEAD", "proj/g/objects/", "proj/g/refs/", "proj/g/hooks/", "proj/a/sub/HEAD",
		"proj/a/sub/objects/", "proj/a/sub/refs/", "proj/half/HEAD", "proj/half/hooks/")
	for path, want := range map[string]string{
		"g/hooks/pre-commit": paths.Persist, "g/config": paths.Persist, "g/HEAD": paths.Workspace,
		"g/info/attributes": paths.Persist, "a/sub/hooks/x": paths.Persist,
		"half/hooks/x": paths.Workspace, "half/config": paths.Workspace, "hooks/use.ts": paths.Workspace,
		"config": paths.Workspace, "a/config": paths.Workspace,
	} {
		if u := g.Literal(paths.Write, path); u.Class != want {
			t.Errorf("%s: %s, want %s", path, u.Class, want)
		}
	}
	if u := g.Word(paths.Write, paths.Word{Text: "g/hook*/x", Glob: true}, g.Roots.Cwd,
		"argument"); u.Class != paths.Persist {
		t.Errorf("a pattern: %s", u.Class)
	}
	// whoever has made it may delete it
	for path, want := range map[string]string{"g": paths.Workspace, "g/hooks/x": paths.Persist} {
		if u := g.Literal(paths.Delete, path); u.Class != want {
			t.Errorf("deleting %s: %s, want %s", path, u.Class, want)
		}
	}
	if u := g.Literal(paths.Read, "g/config"); u.Class != paths.Workspace {
		t.Errorf("reading: %s", u.Class)
	}
}

func TestLinks(t *testing.T) {
	base, g := lay(t, "proj/real.txt", "proj/in -> real.txt", "proj/abs -> BASE/proj/real.txt",
		"proj/up -> ../out", "out/x", "out/sub/", "proj/etc -> /etc", "proj/two -> one", "proj/one -> ../out",
		"proj/dir -> ../out/sub", "proj/dangling -> ../new/file", "proj/inside -> sub/new",
		"proj/loop -> pool", "proj/pool -> loop", "proj/self -> self/x", "home/.ssh/id",
		"proj/key -> ../home/.ssh/id",
		"proj/null -> /dev/null", "proj/fd -> /proc/self/fd/1", "proj/root -> /proc/self/root",
		"proj/real.txt.d/", "back -> proj/real.txt.d", "proj/git -> .git/", "proj/.git/hooks/", "proj/p/q/r/",
		"proj/p/home/.ssh/id", "proj/in2 -> p/q/r")
	for _, c := range []struct {
		op              paths.Op
		path, class, to string
	}{
		{paths.Read, "in", paths.Workspace, "/proj/real.txt"}, {paths.Write, "abs", paths.Workspace, "/proj/real.txt"}, {paths.Read, "up/x", paths.Outside, "/out/x"}, {paths.Read, "two/x", paths.Outside, "/out/x"},
		{paths.Read, "etc/shadow", paths.Secret, "*/etc/shadow"}, {paths.Read, "dir/..", paths.Outside, "/out"}, {paths.Read, "dir/../../proj/real.txt", paths.Workspace, "/proj/real.txt"},
		{paths.Read, "missing/../in", paths.Workspace, "/proj/real.txt"}, {paths.Read, "missing/a/../../up/x", paths.Outside, "/out/x"}, {paths.Read, "missing/up/x", paths.Workspace, "/proj/missing/up/x"},
		{paths.Write, "dangling", paths.Outside, "/new/file"}, {paths.Write, "inside", paths.Workspace, "/proj/sub/new"}, {paths.Read, "loop", paths.Malformed, ""}, {paths.Read, "self", paths.Malformed, ""},
		{paths.Delete, "up", paths.Workspace, "/proj/up"}, {paths.Delete, "up/", paths.Outside, "/out"}, {paths.Delete, "up/.", paths.Outside, "/out"}, {paths.Delete, "up/x", paths.Outside, "/out/x"},
		{paths.Delete, "loop", paths.Workspace, "/proj/loop"}, {paths.Read, "key", paths.Secret, "/home/.ssh/id"}, {paths.Write, "key", paths.Secret, "/home/.ssh/id"}, {paths.Write, "null", paths.Null, "*/dev/null"},
		{paths.Write, "fd", paths.Null, "*/proc/self/fd/1"}, {paths.Read, "root/etc/x", paths.Kernel, "*/proc/self/root/etc/x"}, {paths.Read, "../back/x", paths.Workspace, "/proj/real.txt.d/x"}, {paths.Write, "git/hooks/x", paths.Persist, "/proj/.git/hooks/x"},
		// a program that takes out .. first does not go through the link
		{paths.Read, "in2/../../home/.ssh/id", paths.Secret, "/home/.ssh/id"},
		{paths.Read, "real.txt/../in", paths.Workspace, "/proj/real.txt"},
	} {
		want := base + c.to
		if strings.HasPrefix(c.to, "*") || c.to == "" {
			want = strings.TrimPrefix(c.to, "*")
		}
		if u := g.Word(c.op, paths.Word{Text: c.path}, g.Roots.Cwd, "argument"); u.Class != c.class ||
			u.Resolved != want {
			t.Errorf("%s %s: %s %s, want %s %s", c.op, c.path, u.Class, u.Resolved, c.class, want)
		}
	}
}

// What is no ordinary file says so itself.
func TestKinds(t *testing.T) {
	base, g := lay(t, "proj/a", "proj/.env", "out/secret")
	if err := os.Link(base+"/out/secret", base+"/proj/hard"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(base+"/proj/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base + "/proj") // the names of sockets are short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		op                paths.Op
		path, class, mark string
	}{
		{paths.Write, "hard", paths.Workspace, paths.MarkHardLink}, {paths.Read, "hard", paths.Workspace, paths.MarkHardLink}, {paths.Write, "a", paths.Workspace, ""}, {paths.Read, "fifo", paths.Device, ""}, {paths.Write, "socket", paths.Socket, ""},
		{paths.Delete, "socket", paths.Workspace, ""}, {paths.Delete, "fifo", paths.Workspace, ""}, {paths.Write, ".env", paths.WorkspaceSecret, paths.MarkOverwrite}, {paths.Write, ".env.new", paths.WorkspaceSecret, ""},
	} {
		if u := g.Literal(c.op, c.path); u.Class != c.class || strings.Join(u.Marks, ",") != c.mark {
			t.Errorf("%s %s: %s %v, want %s %s", c.op, c.path, u.Class, u.Marks, c.class, c.mark)
		}
	}
	if u := g.Word(paths.Read, paths.Word{Text: "hard"}, g.Roots.Cwd, "argument"); len(u.Marks) > 0 {
		t.Errorf("a package manager links its files, commands read them: %v", u.Marks)
	}
}

// A root that is itself behind a link is the folder behind it.
// counted counts how often each place is looked at.
type counted struct {
	workspace.Links
	looks map[string]int
}

func (c counted) Look(p string) (paths.Entry, error) {
	c.looks[p]++
	return c.Links.Look(p)
}

// One decision looks at each place once, and sees what links lead to.
func TestOnce(t *testing.T) {
	base, g := lay(t, "proj/a", "etc/hosts.real", "etc/hosts -> hosts.real", "etc/other", "link -> proj")
	c := counted{looks: map[string]int{}}
	g.Links = paths.Once(c)
	g.Roots.Write, g.Roots.ReadFiles = []string{base + "/link", base + "/missing/x",
		base + "/missing/y"}, []string{base + "/etc/hosts"}
	g.Roots = g.Roots.Real(g.Links, nil)
	for name, class := range map[string]string{
		"a": paths.Workspace, "../link/b/c": paths.Workspace, base + "/etc/hosts": paths.Readable,
		base + "/etc/hosts.real": paths.Readable, base + "/etc/other": paths.Outside,
	} {
		if got := g.Literal(paths.Read, name).Class; got != class {
			t.Errorf("%s is %s, want %s", name, got, class)
		}
	}
	for p, n := range c.looks {
		if n > 1 {
			t.Errorf("%s was looked at %d times", p, n)
		}
	}
}

func TestReal(t *testing.T) {
	base, g := lay(t, "proj/a", "alias -> proj")
	g.Roots.Write, g.Roots.Cwd = []string{base + "/alias"}, base+"/alias"
	if u := g.Literal(paths.Write, "a"); u.Class == paths.Workspace {
		t.Error("the roots are compared as they stand")
	}
	g.Roots = g.Roots.Real(g.Links, nil)
	for _, p := range []string{"a", base + "/alias/a", base + "/proj/a"} {
		if u := g.Literal(paths.Write, p); u.Class != paths.Workspace || u.Resolved != base+"/proj/a" {
			t.Errorf("%s: %s %s", p, u.Class, u.Resolved)
		}
	}
}

// On random trees of links the guard finds what the kernel finds.
func TestWalkAgrees(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		names := []string{"a", "b", "c", "d", "e"}
		pick := func() string { return names[r.IntN(len(names))] }
		parts := func(n int) string {
			p := pick()
			for range r.IntN(n) {
				p += []string{"/", "//", "/./"}[r.IntN(3)] + []string{pick(), "..", pick()}[r.IntN(3)]
			}
			return p
		}
		base, g := lay(t)
		for range 14 {
			p := filepath.Join(base, "proj", filepath.Clean("/"+parts(3)))
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			switch r.IntN(4) {
			case 0:
				_ = os.Mkdir(p, 0o755)
			case 1:
				_ = os.WriteFile(p, nil, 0o644)
			default:
				to := strings.Repeat("../", r.IntN(3)) + parts(3)
				if r.IntN(4) == 0 {
					to = base + "/proj/" + to
				}
				_ = os.Symlink(to, p)
			}
		}
		for range 60 {
			p := base + "/proj/" + parts(5)
			info, err := os.Stat(p)
			if err != nil {
				continue
			}
			found++
			to := g.Follow(p)
			if behind, err := os.Lstat(to); err != nil || !os.SameFile(info, behind) {
				t.Fatalf("seed %d, %s: found %s", seed, p, to)
			}
			if real, err := filepath.EvalSymlinks(to); err != nil || real != to {
				t.Fatalf("seed %d, %s: there are links in %s", seed, p, to)
			}
			u := g.Literal(paths.Read, p)
			allowed := u.Class == paths.Workspace || u.Class == paths.WorkspaceRoot
			clean := g.Follow(filepath.Clean(p))
			if inside := within(to, base+"/proj") && within(clean, base+"/proj"); inside != allowed {
				t.Fatalf("seed %d, %s -> %s: %s", seed, p, to, u.Class)
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d paths led anywhere", found)
	}
}

func within(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }
