//go:build unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// lay gives a folder with a workspace inside/ and a neighbour out/, and its guard.
func lay(t *testing.T) (string, paths.Guard) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"inside/sub/deep", "out"} {
		if err := os.MkdirAll(filepath.Join(base, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"inside/a": "inside", "inside/sub/b": "inside",
		"out/a": "outside", "out/b": "outside"} {
		write(t, filepath.Join(base, name), text)
	}
	return base, paths.Guard{Roots: paths.Roots{Cwd: base + "/inside", Home: base + "/home",
		Write: []string{base + "/inside"}}, Links: Links{}}
}

func write(t *testing.T, p, text string) {
	t.Helper()
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func try(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpen(t *testing.T) {
	base, g := lay(t)
	try(t, os.Symlink("sub/b", base+"/inside/link"))
	try(t, os.Symlink("sub/new", base+"/inside/dangling"))
	for name, want := range map[string]string{"a": "inside", "link": "inside", "sub/../sub//b": "inside"} {
		f, err := Open(g.Literal(paths.Read, name))
		try(t, err)
		if text, _ := io.ReadAll(f); string(text) != want {
			t.Errorf("%s: %q", name, text)
		}
		f.Close()
	}
	f, err := Open(g.Literal(paths.Read, "sub"))
	try(t, err)
	if list, err := f.ReadDir(-1); err != nil || len(list) != 2 {
		t.Errorf("%v %v", list, err)
	}
	f.Close()
	for name, file := range map[string]string{"new": "inside/new",
		"made/on/the/way": "inside/made/on/the/way", "dangling": "inside/sub/new", "a": "inside/a"} {
		f, err := Open(g.Literal(paths.Write, name))
		try(t, err)
		_, err = f.WriteString("W")
		try(t, err)
		try(t, f.Close())
		if text, err := os.ReadFile(filepath.Join(base, file)); err != nil || text[0] != 'W' {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if text, _ := os.ReadFile(base + "/inside/a"); string(text) != "Wnside" {
		t.Errorf("a file is not cut short: %q", text)
	}
}

// What is there is not what was judged, or is nothing that a tool may have.
func TestRefused(t *testing.T) {
	base, g := lay(t)
	try(t, os.Link(base+"/out/a", base+"/inside/hard"))
	try(t, syscall.Mkfifo(base+"/inside/fifo", 0o644))
	t.Chdir(base + "/inside")
	l, err := net.Listen("unix", "socket")
	try(t, err)
	defer l.Close()
	lexical := paths.Guard{Roots: g.Roots}
	read := g.Literal(paths.Read, "hard")
	f, err := Open(read)
	try(t, err)
	f.Close()
	read.Marks = nil
	swapped := g.Literal(paths.Write, "sub/c")
	file := g.Literal(paths.Read, "a")
	try(t, os.Rename("sub", "was"))
	try(t, os.Symlink("../out", "sub"))
	try(t, os.Remove("a"))
	try(t, os.Symlink("../out/a", "a"))
	for _, c := range []struct {
		use  paths.Use
		want error
	}{
		{read, ErrHardLink}, {g.Literal(paths.Write, "hard"), ErrHardLink}, {lexical.Literal(paths.Write, "hard"), ErrHardLink}, {lexical.Literal(paths.Read, "fifo"), ErrNoFile}, {lexical.Literal(paths.Write, "fifo"), ErrNoFile},
		{lexical.Literal(paths.Read, "socket"), ErrNoFile}, {lexical.Literal(paths.Read, "/dev/zero"), ErrNoFile}, {swapped, ErrChanged}, {file, ErrChanged}, {lexical.Literal(paths.Write, "sub/c"), ErrChanged},
		{lexical.Literal(paths.Read, ""), ErrNotJudged}, {g.Literal(paths.Delete, "was"), ErrNotJudged}, {g.Literal(paths.Read, "missing"), fs.ErrNotExist}, {g.Literal(paths.Read, "was/b/c"), unix.ENOTDIR}, {g.Literal(paths.Write, "was"), unix.EISDIR},
	} {
		if f, err := Open(c.use); !errors.Is(err, c.want) || f != nil {
			t.Errorf("%+v: %v, want %v", c.use, err, c.want)
		}
	}
	if _, err := os.Stat(base + "/out/c"); err == nil {
		t.Error("written outside")
	}
}

func TestRemove(t *testing.T) {
	base, g := lay(t)
	try(t, os.Symlink("../out/a", base+"/inside/link"))
	judged := g.Literal(paths.Delete, "sub/b")
	for _, name := range []string{"a", "link", "sub/deep"} {
		try(t, Remove(g.Literal(paths.Delete, name)))
		if _, err := os.Lstat(filepath.Join(base, "inside", name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
	try(t, os.Rename(base+"/inside/sub", base+"/inside/was"))
	try(t, os.Symlink("../out", base+"/inside/sub"))
	for use, want := range map[*paths.Use]error{&judged: ErrChanged} {
		if err := Remove(*use); !errors.Is(err, want) {
			t.Errorf("%v", err)
		}
	}
	if err := Remove(g.Literal(paths.Delete, "was")); !errors.Is(err, unix.ENOTEMPTY) {
		t.Errorf("%v", err)
	}
	if err := Remove(g.Literal(paths.Read, "was")); !errors.Is(err, ErrNotJudged) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := os.Stat(base + "/out/" + name); err != nil {
			t.Error(err)
		}
	}
}

// While a folder and a link to the outside change places, and a file and a link, no
// tool ever reads, writes or removes anything outside.
func TestRace(t *testing.T) {
	base, g := lay(t)
	work := base + "/inside/"
	try(t, os.Symlink("../out", work+"other"))
	try(t, os.Symlink("../out/a", work+"x"))
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, pair := range [][2]string{{"sub", "other"}, {"a", "x"}} {
				_ = os.Rename(work+pair[0], work+"tmp")
				_ = os.Rename(work+pair[1], work+pair[0])
				_ = os.Rename(work+"tmp", work+pair[1])
			}
		}
	}()
	opened := 0
	for range 3000 {
		for _, name := range []string{"sub/b", "a", "other/b"} {
			if u := g.Literal(paths.Read, name); u.Class == paths.Workspace {
				if f, err := Open(u); err == nil {
					opened++
					if text, _ := io.ReadAll(f); string(text) == "outside" {
						t.Fatalf("%s was read outside", name)
					}
					f.Close()
				}
			}
		}
		if u := g.Literal(paths.Write, "sub/new"); u.Class == paths.Workspace {
			if f, err := Open(u); err == nil {
				f.Close()
			}
		}
		if u := g.Literal(paths.Delete, "sub/a"); u.Class == paths.Workspace {
			_ = Remove(u)
		}
	}
	close(done)
	<-stopped
	if list, _ := os.ReadDir(base + "/out"); len(list) != 2 {
		t.Errorf("something was made or removed outside: %v", list)
	}
	if opened == 0 {
		t.Error("nothing was ever opened")
	}
}

// Look sees what os.Lstat sees.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, err := range []error{os.WriteFile(at("file"), nil, 0o640), os.Symlink("file", at("link")),
		os.Link(at("file"), at("second")), unix.Mkfifo(at("fifo"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for p, names := range map[string]uint64{dir: 0, at("file"): 2, at("second"): 2, at("link"): 1,
		at("fifo"): 1, at("socket"): 1, "/dev/null": 1} {
		got, err := Links{}.Look(p)
		info, want := os.Lstat(p)
		const kept = fs.ModeType | fs.ModePerm
		if err != nil || want != nil || got.Mode != info.Mode()&kept || names > 0 && got.Names != names {
			t.Errorf("%s: %v %d, %v; want %v %d, %v", p, got.Mode, got.Names, err, info.Mode()&kept, names,
				want)
		}
	}
	for p, want := range map[string]error{at("none"): fs.ErrNotExist, at("file/below"): unix.ENOTDIR} {
		if got, err := (Links{}).Look(p); !errors.Is(err, want) || got != (paths.Entry{}) {
			t.Errorf("%s: %v, %v; want %v", p, got, err, want)
		}
	}
}

// Sum is that of what stands in a file, and waits at nothing else.
func TestSum(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{os.WriteFile(at("file"), []byte("abc"), 0o600),
		os.Symlink("file", at("link")), unix.Mkfifo(at("fifo"), 0o600), os.WriteFile(at("long"), nil, 0o600),
		os.Truncate(at("long"), maxSum+1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for name, want := range map[string]string{"file": abc, "link": abc, "fifo": "", "long": "", "none": "",
		".": ""} {
		if got := Sum(at(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
