package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

var (
	now   = time.Unix(1_000_000_000, 0)
	words = []string{"bash", "-c", "npm test"}
)

func issued(t *testing.T) (dir, path string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tickets")
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err = f.Issue(walls.Ticket{Box: walls.Box{Command: words, Write: []string{"/srv/project"}},
		Proxy: "http://a:b@127.0.0.1:1", Hide: []string{"*TOKEN*"}, Set: []string{"CI=1"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path
}

// A ticket is good once, for its command, for a while, and for its user alone.
func TestTake(t *testing.T) {
	_, path := issued(t)
	got, err := walls.TakeTicket(path, words, now.Add(time.Minute))
	if err != nil || got.Box.Write[0] != "/srv/project" {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := walls.TakeTicket(path, words, now); err == nil || !strings.Contains(err.Error(), "was used before") {
		t.Errorf("a second time: %v", err)
	}
	if left, err := os.ReadFile(path + ".spent"); err != nil || len(left) > 0 {
		t.Errorf("what is left holds %q, %v", left, err)
	}
	for want, take := range map[string]func(path string) error{
		"there is no ticket": func(string) error {
			_, err := walls.TakeTicket("/nonexistent/T", words, now)
			return err
		},
		"was good until": func(path string) error {
			_, err := walls.TakeTicket(path, words, now.Add(ticketLifetime+time.Second))
			return err
		},
		"and not for": func(path string) error {
			_, err := walls.TakeTicket(path, []string{"bash", "-c", "rm -r ."}, now)
			return err
		},
		"is no ticket: others": func(path string) error {
			if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			_, err := walls.TakeTicket(path, words, now)
			return err
		},
		".spent is no ticket": func(path string) error {
			if err := os.Rename(path, path+".spent"); err != nil { // as while another takes it
				return err
			}
			_, err := walls.TakeTicket(path+".spent", words, now)
			return err
		},
		"read the ticket": func(path string) error {
			if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
				return err
			}
			_, err := walls.TakeTicket(path, words, now)
			return err
		},
		`unknown field "forbid"`: func(path string) error { // that of a newer server
			if err := os.WriteFile(path, []byte(`{"forbid":["x"]}`), 0o600); err != nil {
				return err
			}
			_, err := walls.TakeTicket(path, words, now)
			return err
		},
	} {
		_, path := issued(t)
		if err := take(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Old tickets go when new ones come, and are looked for once a minute.
func TestSweep(t *testing.T) {
	dir, path := issued(t)
	if err := os.Chtimes(path, now, now.Add(-3*ticketLifetime)); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Time
		left int
	}{{now, 1}, {now.Add(sweepEvery / 2), 2}, {now.Add(sweepEvery), 1}, {now.Add(-time.Hour), 1}} {
		if _, err := f.Issue(walls.Ticket{}, c.at); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != c.left {
			t.Errorf("%v: %v %v", c.at, left, err)
		}
		for _, e := range left {
			if err := os.Chtimes(filepath.Join(dir, e.Name()), now, now.Add(-9*ticketLifetime)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := OpenFolder(path + "x/y"); err != nil {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	ticket := walls.Ticket{Hide: []string{"*TOKEN*"}, Set: []string{"CI=1"}, Proxy: "http://a:b@127.0.0.1:1"}
	env := ticket.Environ([]string{"PATH=/bin", "GITHUB_TOKEN=x", "CI=0", "HTTPS_PROXY=http://corp"})
	for _, want := range []string{"PATH=/bin", "CI=1", "HTTPS_PROXY=http://a:b@127.0.0.1:1"} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	for _, not := range []string{"GITHUB_TOKEN=x", "CI=0", "HTTPS_PROXY=http://corp"} {
		if slices.Contains(env, not) {
			t.Errorf("%s in %q", not, env)
		}
	}
}
