package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

type network struct{}

func (network) Admit(*ruleset.Set, guard.Permit) (string, error) {
	return "http://t:s@127.0.0.1:4711", nil
}

// A permit becomes a ticket for what it names: the folders of the agent, what the command
// names, what exec.yaml gives, and nothing else of the home folder.
func TestDesk(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(home, "shop")
	ruletest.Must(t, os.MkdirAll(filepath.Join(work, ".git"), 0o755))
	for _, file := range []string{"notes.md", "code/other/.env", "lists/a.txt", "lists/b.csv", "papers/p"} {
		ruletest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, file)), 0o755))
		ruletest.Must(t, os.WriteFile(filepath.Join(home, file), nil, 0o644))
	}
	folder, err := OpenFolder(filepath.Join(home, "state", "tickets"))
	ruletest.Must(t, err)
	d := Issuer{Folder: folder, Repos: remembered(t), Program: "/bin/gpt-oss-executor",
		Records: home + "/state/running", Missing: []walls.Part{walls.PartBelow}, Network: network{},
		Now: func() time.Time { return now }}
	p := guard.Permit{
		Command: "npm test", Who: policy.Subject{Agent: "main", Session: "s"},
		Reads: []string{home + "/notes.md", home + "/code", home + "/lists/*.txt"},
		Trees: []string{home + "/papers"},
		Roots: paths.Roots{Home: home, Write: []string{work, "/tmp"}, Read: []string{"/usr"},
			Own: []string{home + "/rules"}},
	}
	for _, understood := range []bool{false, true} {
		p.Understood, p.Settings = understood, understood
		w, err := d.Permit(ruletest.Shipped(t, Section()), p)
		ruletest.Must(t, err)
		ticket, err := walls.TakeTicket(w.Ticket, []string{"bash", "-c", "npm test"}, now)
		ruletest.Must(t, err)
		b := ticket.Box
		for _, want := range []struct {
			list []string
			path string
		}{
			{b.Write, work}, {b.Write, home + "/.cache/gpt-oss-executor/caches"}, {b.Read, home + "/notes.md"}, {b.List, home + "/code"}, {b.Read, home + "/lists/a.txt"}, {b.Read, home + "/papers"}, {b.Read, home + "/.rustup"}, {b.Read, "/etc"},
			{b.Deny, home + "/rules"}, {b.Fixed, work + "/.git/hooks"}, {ticket.Set, "GOCACHE=" + home + "/.cache/gpt-oss-executor/caches/go-build"}, {ticket.Hide, "*TOKEN*"},
		} {
			if !slices.Contains(want.list, want.path) {
				t.Errorf("no %s in %q", want.path, want.list)
			}
		}
		for _, not := range []string{home + "/code", home + "/lists", home + "/lists/b.csv"} {
			if slices.Contains(b.Read, not) {
				t.Errorf("%s may be read", not)
			}
		}
		if slices.Contains(b.Read, home) ||
			slices.ContainsFunc(b.Write,
				func(s string) bool { return s == home || strings.HasPrefix(s, home+"/state") }) {
			t.Errorf("too much: %+v", b)
		}
		if slices.Contains(b.Fixed, work+"/.git/config") == understood {
			t.Errorf("understood %v, and fixed is %q", understood, b.Fixed)
		}
		if b.Net != walls.NetProxy || b.Proxy != "127.0.0.1:4711" ||
			ticket.Proxy != "http://t:s@127.0.0.1:4711" || b.Limits.Processes != 512 ||
			b.Session != "main s" {
			t.Errorf("%+v", b)
		}
		if _, err := os.Stat(home + "/.cache/gpt-oss-executor/caches"); err != nil {
			t.Error(err)
		}
	}
}

// A pattern stands for what the shell makes of it, and is not followed into more folders than the bound.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	for i := range maxMatches + 1 {
		ruletest.Must(t, os.Mkdir(fmt.Sprintf("%s/%04d", dir, i), 0o700))
		ruletest.Must(t, os.WriteFile(fmt.Sprintf("%s/%04d.txt", dir, i), nil, 0o600))
	}
	for _, name := range []string{"/0001/a", "/0002/a", fmt.Sprintf("/%04d/last", maxMatches)} {
		ruletest.Must(t, os.WriteFile(dir+name, nil, 0o600))
	}
	ruletest.Must(t, os.Symlink("0001", dir+"/link"))
	for pattern, want := range map[string]int{
		"/*/a": 2, "/*.txt": maxMatches, "/[l]*/a": 1, "/0001/*": 1, "/*/last": 0, "/none/*": 0, "/[": 0,
		"/0001/a": 1,
	} {
		if got := expand(dir + pattern); len(got) != want {
			t.Errorf("%s: %d names, want %d: %.3q", pattern, len(got), want, got)
		}
	}
}
