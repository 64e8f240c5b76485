package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// shop is a workspace with secrets.
func shop(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	ruletest.Must(t, err)
	work := base + "/shop"
	for name, text := range map[string]string{".env": "KEY=1", "web/.env.local": "KEY=2", "id_rsa": "RSA",
		"test/data.key": "TEST", "test/.aws/config": "AWS",
		"test/.aws/mine": "MINE", "forged.key": "FORGED", "old/credentials.json": "OLD", "a.txt": "plain"} {
		ruletest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o755))
		ruletest.Must(t, os.WriteFile(filepath.Join(work, name), []byte(text+"\n"), 0o644))
	}
	return work
}

func git(t *testing.T, work string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = work, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func permit(work string) guard.Permit {
	return guard.Permit{Command: "true", Who: policy.Subject{Agent: "main", Session: "s"},
		Roots: paths.Roots{Home: filepath.Dir(work), Write: []string{work}, Read: []string{"/usr", "/bin",
			"/lib"}}}
}

// Secrets are hidden, but what the command deletes, what its project needs, and what git keeps.
func TestHidden(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		work := shop(t)
		git(t, work, "init", "-q")
		git(t, work, "add", "test/data.key", "test/.aws/config", "forged.key", "a.txt")
		git(t, work, "update-index", "--index-version", version)
		ruletest.Must(t, os.WriteFile(work+"/forged.key", []byte("another text\n"), 0o644))
		has := ruleset.Confined{Secrets: []string{".env", ".env.*", "web/x"}}
		for _, c := range []struct {
			name string
			with func(*guard.Permit)
			want string
		}{
			{"any command", func(*guard.Permit) {}, ".env forged.key id_rsa old/credentials.json test/.aws/mine web/.env.local"},
			{"its project", func(p *guard.Permit) { p.Project = true }, "forged.key id_rsa old/credentials.json test/.aws/mine"},
			{"a removal beside code", func(p *guard.Permit) { p.Deletes = []string{work} }, ".env forged.key id_rsa old/credentials.json test/.aws/mine web/.env.local"},
			{"a removal", func(p *guard.Permit) { p.Understood, p.Deletes = true, []string{work + "/old", work + "/web/"} }, ".env forged.key id_rsa test/.aws/mine"},
		} {
			p := permit(work)
			c.with(&p)
			var got []string
			for _, secret := range hiddenPaths(p, findInside(p), has) {
				got = append(got, strings.TrimPrefix(secret, work+"/"))
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("%s, version %s: %s", c.name, version, diff)
			}
		}
	}
}

// An index of version 4, in which a few bytes stand for a long name, takes no more room than the bounds say.
func TestIndexIsBounded(t *testing.T) {
	for _, c := range []struct {
		what           string
		first          int // bytes of the first name
		drop           byte
		entries, names int
	}{
		{"each name is longer than the one before", 4, 0, maxName, maxName / 4},
		{"long names", maxName, 4, maxNames/maxName + 100, maxNames / maxName},
	} {
		doc := []byte("DIRC\x00\x00\x00\x04\x00\x01\x00\x00")
		entry := func(drop byte, add string) {
			doc = append(append(append(doc, make([]byte, indexName)...), drop), add+"\x00"...)
		}
		entry(0, strings.Repeat("a", c.first))
		for i := range c.entries {
			entry(c.drop, fmt.Sprintf("%04d", i))
		}
		if got := len(parseIndex(append(doc, make([]byte, indexName)...))); got != c.names {
			t.Errorf("%s: %d names are held, want %d", c.what, got, c.names)
		}
	}
}

// A command that runs confined with its ticket reads no secret of the workspace, by any way, and works with
// all else. Hundreds of decoys in front of them uncover none.
func TestHiddenRuns(t *testing.T) {
	offer := walls.Probe()
	if !offer.Has(walls.PartFiles) || !offer.Has(walls.PartBelow) {
		t.Skip("this machine cannot hide what lies below a folder")
	}
	work := shop(t)
	git(t, work, "init", "-q")
	git(t, work, "add", "test/data.key", "a.txt")
	for i := range 600 {
		decoy := fmt.Sprintf("%s/!%03d", work, i)
		ruletest.Must(t, os.Mkdir(decoy, 0o755))
		ruletest.Must(t, os.WriteFile(decoy+"/id_rsa", nil, 0o600))
	}
	dir := filepath.Join(filepath.Dir(work), "state")
	folder, err := OpenFolder(dir + "/tickets")
	ruletest.Must(t, err)
	d := Issuer{Folder: folder, Repos: remembered(t), Program: "/bin/gpt-oss-executor",
		Records: dir + "/running", Now: time.Now}
	p := permit(work)
	p.Command = `cat .env id_rsa web/.env.local test/.aws/mine old/credentials.json a.txt test/data.key; mv web web2; cat web2/.env.local
		ln id_rsa x && cat x; cp -r old new; cat new/*; git status --porcelain -uno; echo KEY=3 > web/.env.test && cat web/.env.test; rm -f id_rsa; mv id_rsa y && cat y`
	run := func() string {
		w, err := d.Permit(ruletest.Shipped(t, Section()), p)
		ruletest.Must(t, err)
		ticket, err := walls.TakeTicket(w.Ticket, []string{"bash", "-c", p.Command}, time.Now())
		ruletest.Must(t, err)
		ticket.Box.Dir, ticket.Box.Env = work, []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
		var out bytes.Buffer
		_, err = walls.Run(ticket.Box, walls.Streams{Out: &out, Err: os.Stderr})
		ruletest.Must(t, err)
		return out.String()
	}
	if diff := cmp.Diff("plain\nTEST\nA  a.txt\nA  test/data.key\nKEY=3\n", run()); diff != "" {
		t.Error(diff)
	}
	p.Command, p.Project = "cat .env web/.env.local id_rsa", true
	if got := run(); got != "KEY=1\nKEY=2\n" {
		t.Errorf("the project reads %q", got)
	}
}

// What git would run later is fixed, also where it is not there yet, and in repositories that lie in the
// workspace. A command that is understood may change settings, and remove such repositories.
func TestFixed(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	ruletest.Must(t, err)
	work := base + "/work"
	for _, dir := range []string{".git", "a/.git/hooks", "b/c/.git", "d/e/f/.git"} {
		ruletest.Must(t, os.MkdirAll(filepath.Join(work, dir), 0o755))
	}
	ruletest.Must(t, os.Mkdir(work+"/tree", 0o755))
	ruletest.Must(t, os.WriteFile(work+"/tree/.git", []byte("gitdir: /nowhere\n"), 0o644))
	for want, understood := range map[string]bool{
		".git/hooks": true,
		".git/config .git/hooks a/.git/config a/.git/hooks b/c/.git/config b/c/.git/hooks tree/.git": false,
	} {
		p := permit(work)
		p.Settings = understood
		var got []string
		for _, path := range fixedPaths(p, findInside(p)) {
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			got = append(got, strings.TrimPrefix(path, work+"/"))
		}
		slices.Sort(got)
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("understood %v: %s", understood, diff)
		}
	}
}

// Settings of npm and its like are hidden only if a token can stand in them.
func TestHarmlessSettings(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]bool{
		"cafile=ca.pem\nregistry=https://npm.example.com/\n": true, "": true,
		"//npm.example.com/:_authToken=npm_x\n": false, "_password=eA==\n": false,
		"proxy=http://sam:x@proxy:3128\n": false, "always-auth=true\n": false,
	} {
		file := filepath.Join(dir, ".npmrc")
		ruletest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		if got := hasNoToken(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	ruletest.Must(t, os.Remove(filepath.Join(dir, ".npmrc")))
	ruletest.Must(t, os.Symlink("/etc/passwd", filepath.Join(dir, ".npmrc")))
	for _, name := range []string{".npmrc", ".env"} {
		if hasNoToken(filepath.Join(dir, name)) {
			t.Errorf("%s is taken for harmless", name)
		}
	}
}
