package ruleset

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// expectation is what a labelled case wants.
type expectation struct {
	Default    policy.Effect   `json:"under_default_policy"` // of commands
	Decision   policy.Effect   `json:"decision"`             // of paths and URLs
	Acceptable []policy.Effect `json:"acceptable"`
	Why        string          `json:"why"`
}

// commandCase is one of exec.jsonl.
type commandCase struct {
	ID      string      `json:"id"`
	Command string      `json:"command"`
	Danger  string      `json:"danger"`
	Expect  expectation `json:"expect"`
}

// somebody can answer questions.
var somebody = policy.Subject{Model: "gpt-oss", Interactive: true}

// corpusAt is the world of exec.jsonl.
var corpusAt = At{Now: time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), World: World{
	Cwd: "/srv/project", Home: "/home/agent",
	Write: []string{"/srv/project", "/tmp"}, Read: []string{"/usr", "/bin", "/sbin", "/lib"},
	ReadFiles: []string{},
}}

// excusedCommands are the cases of exec.jsonl whose answer is not an acceptable one.
var excusedCommands = map[string]string{}

// TestShippedCommandsCorpus: nothing dangerous is allowed, ordinary commands are, and all
// answers but the excused ones are acceptable.
func TestShippedCommandsCorpus(t *testing.T) {
	set := loaded(t)
	dangerous, benign, missed, asked, other := 0, 0, 0, 0, 0
	for _, c := range testkit.Corpus[commandCase](t, "exec") {
		d := set.CheckCommand(c.Command, somebody, corpusAt)
		allowed := d.Effect == policy.Allow
		switch {
		case c.Danger != "none":
			if dangerous++; allowed {
				missed++
				t.Errorf("%s (%s) is allowed: %q", c.ID, c.Danger, c.Command)
			}
		case c.Expect.Default == policy.Allow:
			if benign++; !allowed {
				asked++
				t.Logf("%s: %s by %s (%s): %q", c.ID, d.Effect, d.Rule, d.Why, c.Command)
			}
		}
		if acceptable := slices.Contains(c.Expect.Acceptable, d.Effect); !acceptable {
			if other++; excusedCommands[c.ID] == "" {
				t.Errorf("%s: %s by %s (%s), acceptable %v (%s): %q", c.ID, d.Effect, d.Rule, d.Why,
					c.Expect.Acceptable, c.Expect.Why, c.Command)
			}
		}
	}
	t.Logf("%d of %d dangerous missed, %d of %d benign not allowed, %d answers not acceptable", missed,
		dangerous, asked, benign, other)
	if asked*100 > benign {
		t.Errorf("%d of %d ordinary commands are not allowed", asked, benign)
	}
}

// urlCase is one of urls.jsonl.
type urlCase struct {
	ID        string                `json:"id"`
	URL       string                `json:"url"`
	Method    string                `json:"method"`
	Redirects []string              `json:"redirects"`
	Resolve   map[string][][]string `json:"resolve"`
	Expect    expectation           `json:"expect"`
}

// lookup answers with all that a host ever resolves to.
func (c urlCase) lookup(host string) (out []netip.Addr, err error) {
	for _, answer := range c.Resolve[host] {
		for _, a := range answer {
			addr, err := netip.ParseAddr(a)
			if err != nil {
				return nil, err
			}
			out = append(out, addr)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no such host")
	}
	return out, nil
}

// TestShippedURLsCorpus: every URL gets an acceptable answer.
func TestShippedURLsCorpus(t *testing.T) {
	set := loaded(t)
	for _, c := range testkit.Corpus[urlCase](t, "urls") {
		at := corpusAt
		at.Lookup = c.lookup
		d := set.CheckURL(c.URL, c.Method, c.Redirects, somebody, at)
		if !slices.Contains(c.Expect.Acceptable, d.Effect) {
			t.Errorf("%s: %s by %s (%s), acceptable %v (%s): %q %v", c.ID, d.Effect, d.Rule,
				d.Facts.URLs[0].Class, c.Expect.Acceptable, c.Expect.Why, c.URL, c.Redirects)
		}
	}
}

// pathCase is one of paths.jsonl.
type pathCase struct {
	ID, Op, Path, Cwd string
	Root              struct {
		Write, Read []string
		ReadFiles   []string `json:"read_files"`
		Home        string
	}
	Setup  []map[string]string
	Expect expectation
}

// TestShippedPathsCorpus: every path gets an acceptable answer from the profile strict, on a
// disk with the files and links that the case speaks of. The labels are of a guard without a
// person: developer may ask where they deny, but allows nothing of it.
func TestShippedPathsCorpus(t *testing.T) {
	files := shipped(t)
	set := loaded(t)
	files[execFilename] = testkit.Replace(t, files[execFilename], "profile: developer", "profile: strict", 1)
	strict, problems := Full.Load(files)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range testkit.Corpus[pathCase](t, "paths") {
		base, err := filepath.EvalSymlinks(t.TempDir())
		check(t, err)
		d := corpusDisk(base)
		d.make(t, d.at(c.Cwd), c.Setup)
		at := At{Now: corpusAt.Now, Links: workspace.Links{}, World: World{
			Cwd: d.at(c.Cwd), Home: d.at(c.Root.Home), Write: d.all(c.Root.Write), Read: d.all(c.Root.Read),
			ReadFiles: append([]string{}, c.Root.ReadFiles...),
		}}
		op, path := paths.Op(c.Op), d.at(c.Path)
		if lax := set.CheckPath(op, path, somebody, at); lax.Effect == policy.Allow &&
			!slices.Contains(c.Expect.Acceptable, policy.Allow) {
			t.Errorf("%s: developer allows it by %s (%s): %s %q", c.ID, lax.Rule, c.Expect.Why, c.Op, c.Path)
		}
		got := strict.CheckPath(op, path, somebody, at)
		if !slices.Contains(c.Expect.Acceptable, got.Effect) {
			t.Errorf("%s: %s by %s, acceptable %v (%s): %s %q", c.ID, got.Effect, got.Rule,
				c.Expect.Acceptable, c.Expect.Why, c.Op, c.Path)
		}
	}
}

// corpusDisk is a folder that stands for /: what the cases speak of is below it. Only the
// system's own folders are where they are.
type corpusDisk string

func (d corpusDisk) at(p string) string {
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		return "file://" + d.at(rest)
	}
	for _, top := range []string{"/srv", "/home", "/tmp"} {
		if strings.HasPrefix(p, top) {
			return string(d) + p
		}
	}
	return p
}

func (d corpusDisk) all(list []string) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = d.at(p)
	}
	return out
}

func (d corpusDisk) make(t *testing.T, cwd string, setup []map[string]string) {
	t.Helper()
	check(t, os.MkdirAll(cwd, 0o755))
	for _, s := range setup {
		for what, name := range s {
			p := filepath.Join(cwd, name)
			if what == "mkdir" || what == "file" || what == "symlink" || what == "hardlink" {
				check(t, os.MkdirAll(filepath.Dir(p), 0o755))
			}
			switch what {
			case "mkdir":
				check(t, os.MkdirAll(p, 0o755))
			case "file":
				check(t, os.WriteFile(p, []byte("x"), 0o644))
			case "symlink":
				check(t, os.Symlink(d.at(s["to"]), p))
			case "hardlink":
				check(t, os.Link(filepath.Join(cwd, s["to"]), p))
			}
		}
	}
}
