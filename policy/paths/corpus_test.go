package paths_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

type record struct {
	ID, Op, Path, Cwd string
	Root              struct {
		Write, Read []string
		ReadFiles   []string `json:"read_files"`
		Home        string
	}
	Setup  []map[string]string
	Expect struct {
		Acceptable []string
		Resolved   string
		Why        string
	}
}

// disk is a folder that stands for / of the corpus: what it speaks of is below it,
// with real files and links. Only the system's own folders are where they are.
type disk struct{ base string }

func (d disk) at(p string) string {
	for _, top := range []string{"/srv", "/home", "/tmp"} {
		if p == top || strings.HasPrefix(p, top) {
			return d.base + p
		}
	}
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		return "file://" + d.at(rest)
	}
	return p
}

func (d disk) all(ps []string) (out []string) {
	for _, p := range ps {
		out = append(out, d.at(p))
	}
	return out
}

func (d disk) make(t *testing.T, cwd string, setup []map[string]string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range setup {
		for what, name := range s {
			p := filepath.Join(cwd, name)
			if what == "to" || what == "race" || what == "swap_to" {
				continue
			}
			must(os.MkdirAll(filepath.Dir(p), 0o755))
			switch what {
			case "mkdir":
				must(os.MkdirAll(p, 0o755))
			case "file":
				must(os.WriteFile(p, []byte("x"), 0o644))
			case "symlink":
				must(os.Symlink(d.at(s["to"]), p))
			case "hardlink":
				must(os.Link(filepath.Join(cwd, s["to"]), p))
			default:
				t.Fatalf("a set-up that is not known: %v", s)
			}
		}
	}
}

func TestCorpus(t *testing.T) {
	for _, c := range testkit.Corpus[record](t, "paths") {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d := disk{base}
		cwd := d.at(c.Cwd)
		if err := os.MkdirAll(cwd, 0o755); err != nil {
			t.Fatal(err)
		}
		d.make(t, cwd, c.Setup)
		roots := paths.Roots{Cwd: cwd, Home: d.at(c.Root.Home), Write: d.all(c.Root.Write),
			Read: d.all(c.Root.Read), ReadFiles: c.Root.ReadFiles}
		for _, links := range []paths.Links{workspace.Links{}, nil} {
			if links == nil && slices.ContainsFunc(c.Setup,
				func(s map[string]string) bool { return s["symlink"]+s["hardlink"] != "" }) {
				continue
			}
			g := paths.Guard{Roots: roots, Links: links}
			if links != nil {
				g.Roots = roots.Real(links, nil)
			}
			u := g.Literal(paths.Op(c.Op), d.at(c.Path))
			got := paths.Effect(u)
			if !slices.Contains(c.Expect.Acceptable, got) {
				t.Errorf("%s %s %.80q: %s (%s %v), want one of %v: %s", c.ID, c.Op, c.Path, got, u.Class,
					u.Marks, c.Expect.Acceptable, c.Expect.Why)
			}
			if got == "allow" && c.Expect.Resolved != "" && u.Resolved != d.at(c.Expect.Resolved) {
				t.Errorf("%s %.80q: resolved to %s", c.ID, c.Path, u.Resolved)
			}
		}
	}
}
