package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

func remembered(t *testing.T) *RepoLog {
	t.Helper()
	m, err := OpenRepoLog(filepath.Join(t.TempDir(), "repositories"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A repository that was there before code ran, which nobody has read, is trusted; one that
// such code may have made is not, by the next process neither.
func TestMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repositories")
	m, err := OpenRepoLog(path)
	if err != nil {
		t.Fatal(err)
	}
	work := func(git bool) string {
		dir := t.TempDir()
		if git {
			if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for _, c := range []struct {
		name            string
		git, understood bool
		holds           bool
	}{{"a repository that was there", true, false, false}, {"a command that was read", false, true, false},
		{"code that nobody has read", false, false, true}} {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			t.Fatal(err)
		} else if _, err = f.WriteString("/torn"); err != nil ||
			f.Close() != nil { // a line that a full disk has cut
			t.Fatal(err)
		}
		dir := work(c.git)
		p := guard.Permit{Settings: c.understood, Roots: paths.Roots{Cwd: dir, Write: []string{dir}}}
		if err := m.add(p); err != nil || m.Contains(dir) != c.holds {
			t.Errorf("%s: %v, %v", c.name, m.Contains(dir), err)
		}
		again, err := OpenRepoLog(path)
		if err != nil || again.Contains(dir) != c.holds {
			t.Errorf("%s, after a restart: %v, %v", c.name, again.Contains(dir), err)
		}
	}
	other, err := OpenRepoLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.add(guard.Permit{Roots: paths.Roots{Cwd: "/theirs",
		Write: []string{"/theirs"}}}); err != nil || !m.Contains("/theirs") {
		t.Errorf("what another process notes meanwhile is not known: %v", err)
	}
	m.path = filepath.Join(path, "no", "folder")
	if err := m.add(guard.Permit{Roots: paths.Roots{Cwd: "/w", Write: []string{"/w"}}}); err == nil ||
		m.folders["/w"] {
		t.Errorf("what cannot be noted is let run: %v", err)
	}
}
