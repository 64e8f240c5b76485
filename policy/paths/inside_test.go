package paths_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Secrets are found by their names, wherever they lie, and templates, public keys and code are none.
func TestInside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	work := base + "/shop"
	for _, name := range []string{".env", ".env.example", "a/b/id_rsa", "a/b/id_rsa.pub",
		"a/.aws/credentials", "src/secrets.py", "node_modules/x/.env",
		".git/index", "lib/sub/.git/index", "plain", "other/x", ".npmrc", "../outside/config"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(work, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(work, name), nil, 0o644))
	}
	for link, to := range map[string]string{"id_ed25519": "plain", ".env.local": "../outside/config",
		"id_dsa": "other", ".env.prod": "nowhere"} {
		must(t, os.Symlink(to, filepath.Join(work, link)))
	}
	g := paths.Guard{Roots: paths.Roots{Home: "/home/agent", Write: []string{work}}, Links: workspace.Links{}}
	in := g.Inside(work)
	slices.Sort(in.Secrets)
	slices.Sort(in.Stores)
	var want []string
	for name := range strings.FieldsSeq("outside/config shop/.env shop/.npmrc shop/a/.aws shop/a/b/id_rsa shop/plain") {
		want = append(want, base+"/"+name)
	}
	if diff := cmp.Diff(want, in.Secrets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{work, work + "/lib/sub"}, in.Stores); diff != "" {
		t.Error(diff)
	}
	if in := (paths.Guard{Roots: g.Roots}).Inside(work); in.Secrets != nil {
		t.Errorf("nothing is looked at, and %q is found", in.Secrets)
	}
}
