package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// TestRemotes: remotes are what the settings of the workspace say, word by word. There are none where a
// confined command can have written them.
func TestRemotes(t *testing.T) {
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("HOME", t.TempDir())
	base := t.TempDir()
	git(t, base, "init", "-q", "--bare", "other.git")
	work := filepath.Join(base, "work")
	git(t, base, "init", "-q", "work")
	roots := paths.Roots{Cwd: work, Home: base, Write: []string{work}}
	config := work + "/.git/config"
	ruletest.Must(t, os.WriteFile(config, []byte(`[remote "origin"]
	url = git@github.com:a/b.git
	pushurl = `+base+`/other.git
[Remote "up"]
	URL = https://example.com/a/b
	uploadpack = x
[remote "ext"]
	url = ext::sh -c x
[remote "no"]
	url = /
[submodule "n"]
	url = git@github.com:a/module.git
[include]
	path = /nowhere
[url "git@evil.example.com:"]
	insteadOf = git@github.com:
`), 0o600))
	d := &Issuer{Repos: remembered(t)}
	all := func() (out []string) {
		for _, r := range d.Remotes(roots) {
			out = append(out, r.URL.String())
		}
		return out
	}
	want := []string{"ssh://git@github.com/a/b.git", "file://" + base + "/other.git",
		"https://example.com/a/b"}
	if diff := cmp.Diff(want, all()); diff != "" {
		t.Error(diff)
	}
	d.Missing = []walls.Part{walls.PartBelow}
	if got := all(); got != nil {
		t.Errorf("where settings cannot be kept: %q", got)
	}
	d.Missing = nil
	ruletest.Must(t, os.Rename(work+"/.git", base+"/away"))
	ruletest.Must(t, os.Symlink(base+"/away", work+"/.git"))
	if got := all(); got != nil {
		t.Errorf("another store: %q", got)
	}
	ruletest.Must(t, os.Remove(work+"/.git"))
	ruletest.Must(t, d.Repos.add(guard.Permit{Roots: roots, Understood: true})) // such as tar
	ruletest.Must(t, os.Rename(base+"/away", work+"/.git"))
	if got := all(); got != nil {
		t.Errorf("a repository that a command may have made: %q", got)
	}
}

// TestReach: a folder is given, with its hooks and settings kept from pushes; of what is elsewhere git is
// told where to ask.
func TestReach(t *testing.T) {
	store := t.TempDir() + "/a.git"
	git(t, filepath.Dir(store), "init", "-q", "--bare", "a.git")
	remote := func(text string, push bool) guard.Remote {
		u, _ := guard.ParseRemote(text)
		return guard.Remote{Text: text, URL: u, Push: push}
	}
	d := &Issuer{Program: "/it's/gpt-oss-executor"}
	var fetch, push walls.Ticket
	d.addRemotes(&fetch, []guard.Remote{remote(store, false), remote("h:a", false),
		remote("https://u@h/a", false), remote("https://h/b", false)})
	d.addRemotes(&push, []guard.Remote{remote(store, true)})
	if want := []string{store, d.Program}; !slices.Equal(fetch.Box.Read, want) || fetch.Box.Write != nil {
		t.Errorf("%+v", fetch.Box)
	}
	want := `GIT_SSH_COMMAND='/it'\''s/gpt-oss-executor' git-ssh|GIT_SSH_VARIANT=ssh|GIT_CONFIG_KEY_0=url.http://h/a.insteadOf|GIT_CONFIG_VALUE_0=https://u@h/a|` +
		`GIT_CONFIG_KEY_1=url.http://h/b.insteadOf|GIT_CONFIG_VALUE_1=https://h/b|GIT_CONFIG_COUNT=2`
	if got := strings.Join(fetch.Set, "|"); got != want {
		t.Errorf("%s", got)
	}
	if !slices.Equal(push.Box.Write, []string{store}) ||
		!slices.Equal(push.Box.Fixed, []string{store + "/hooks", store + "/config"}) {
		t.Errorf("%+v", push.Box)
	}
}
