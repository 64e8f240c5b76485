package shell

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
)

// TestPatched: the files that a patch changes are known where its text stands in the script.
func TestPatched(t *testing.T) {
	const ours = "*** Begin Patch\n*** Add File: sub/a\n+x\n*** Update File: b\n*** End Patch\n"
	const hook, plain = "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\nE", "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\nE"
	world := World{Programs: testkit.ShippedPrograms(),
		Guard: paths.Guard{Roots: paths.Roots{Cwd: "/w", Home: "/home/a", Write: []string{"/w"}}}}
	for script, want := range map[string]string{
		"patch -p1 <<'E'\n" + hook: "/w/b/.git/hooks/x persist, /w/.git/hooks/x persist",
		"git apply <<'E'\n" + hook: "/w/b/.git/hooks/x persist, /w/.git/hooks/x persist",
		"git am <<'E'\n" + hook:    "/w/b/.git/hooks/x persist, /w/.git/hooks/x persist",
		"patch -d sub -p1 <<'E'\n" +
			hook: "/w/sub/b/.git/hooks/x persist, /w/sub/.git/hooks/x persist",
		"cat > x.patch <<'E'\n" + hook +
			"\ngit apply x.patch": "/w/x.patch workspace, /w/b/.git/hooks/x persist, /w/.git/hooks/x persist",
		"patch -p1 <<'E'\n" + plain:  "/w/a/x.go workspace, /w/x.go workspace, /w/b/x.go workspace, /w/x.go workspace",
		"patch -p1 < x.patch":        "",
		"git apply --check x.patch":  "",
		"patch f <<'E'\n1c\nb\n.\nE": "/w/f workspace",
		"patch f x.patch":            "/w/f workspace",

		"apply_patch <<'E'\n" + ours + "E":              "/w/sub/a workspace, /w/b workspace",
		"cd /opt && applypatch <<'E'\n" + ours + "E":    "/opt/sub/a outside, /opt/b outside",
		"cd $X && apply_patch <<'E'\n" + ours + "E":     " dynamic,  dynamic",
		"apply_patch '" + ours + "'":                    "/w/sub/a workspace, /w/b workspace",
		"apply_patch \"$(cat <<'E'\n" + ours + "E\n)\"": "/w/sub/a workspace, /w/b workspace",
		"echo '" + ours + "' | apply_patch":             "/w/sub/a workspace, /w/b workspace",
		"apply_patch <<E\n" + ours + "$X\nE":            "/w/sub/a workspace, /w/b workspace,  dynamic",
		"apply_patch \"$X\"":                            " dynamic",
		"apply_patch < x.patch":                         " dynamic",
		"apply_patch":                                   " dynamic",
		"apply_patch x.patch":                           " dynamic",
		"apply_patch '" + ours + "' x":                  "/w/sub/a workspace, /w/b workspace,  dynamic",
	} {
		var got []string
		for _, c := range Analyze(script, world).Commands {
			for _, u := range c.Writes {
				got = append(got, u.Resolved+" "+u.Class)
			}
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s: %q, want %q", script, all, want)
		}
	}
}

// disk has some files and folders.
type disk []string

func (d disk) Look(p string) (paths.Entry, error) {
	if !slices.Contains(d, p) {
		return paths.Entry{}, fs.ErrNotExist
	}
	return paths.Entry{Names: 1}, nil
}
func (disk) Readlink(string) (string, error)         { return "", fs.ErrInvalid }
func (disk) List(string, int) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

// TestGuesses: a name that only looks like a path is judged as one where the disk has its folder, or
// where it is an argument that the program surely takes for a file.
func TestGuesses(t *testing.T) {
	roots := paths.Roots{Cwd: "/w", Home: "/home/a", Write: []string{"/w"}}
	world := World{Programs: testkit.ShippedPrograms(), Guard: paths.Guard{Roots: roots,
		Links: disk{"/w", "/opt", "/opt/a"}}}
	for script, want := range map[string]string{
		"make ROUTE=/api test":                             paths.Dynamic,
		"make OUT=/opt/a test":                             paths.Outside,
		"make OUT=/opt/new/x test":                         paths.Outside,
		"npm run build -- --base=/app/":                    paths.Dynamic,
		"npm run build -- --out=/opt/new":                  paths.Outside,
		"npm run a:/b":                                     paths.Dynamic,
		"npm run a /opt/a":                                 paths.Outside,
		"bazel test //foo:bar //...":                       "",
		"bazel test //opt/a:bar":                           "",
		"bazel test //foo:bar -- /opt/a":                   paths.Outside,
		"npx jest --testPathPattern=/foo/":                 paths.Dynamic,
		"npx jest --outputFile=/opt/new":                   paths.Outside,
		"uvicorn app:app --root-path /api":                 paths.Dynamic,
		"pytest -k /x":                                     paths.Dynamic,
		"pytest /opt/a":                                    paths.Outside,
		"gh api /repos/a/b":                                paths.Dynamic,
		`sqlite3 a.db "select * from t where p = '/x'"`:    paths.Dynamic,
		`duckdb a.db "select * from '/opt/a'"`:             paths.Outside,
		"cat /api":                                         paths.Outside,
		"cp a /api":                                        paths.Outside,
		"make -C /api":                                     paths.Outside,
		"make > /api":                                      paths.Outside,
		"python3 /api/x.py":                                paths.Outside,
		"curl -o /api/x https://example.com/":              paths.Outside,
		"npm --prefix /opt/a run build":                    paths.Outside,
		"cd /w; mkdir /api && npm run build -- --out=/api": paths.Outside,
	} {
		got := ""
		for _, c := range Analyze(script, world).Commands {
			for _, u := range slices.Concat(c.Reads, c.Writes, c.Deletes) {
				if u.Class == paths.Dynamic && u.Resolved != "" {
					t.Errorf("%s: %+v", script, u)
				}
				if u.Class == paths.Outside || u.Class == paths.Dynamic && got == "" {
					got = u.Class
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// TestInstalled: npx runs what stands in node_modules, and installs the rest.
func TestInstalled(t *testing.T) {
	roots := paths.Roots{Cwd: "/w", Home: "/home/a", Write: []string{"/w"}}
	there := disk{"/w", "/w/sub", "/w/node_modules", "/w/node_modules/.bin", "/w/node_modules/.bin/tsx",
		"/node_modules", "/node_modules/.bin", "/node_modules/.bin/up"}
	for script, installs := range map[string]bool{
		"npx tsx a.ts":                         false,
		"npx -y tsx a.ts":                      false,
		"cd sub && npx tsx ../a.ts":            false,
		"npm exec -- tsx a.ts":                 false,
		"pnpm exec tsx a.ts":                   false,
		"npx other a.ts":                       true,
		"npx tsx@4 a.ts":                       true,
		"npx up":                               true, // outside of the workspace
		"npx ../tsx":                           true,
		"npx $X":                               true,
		"npx -p x tsx":                         true,
		"npx --registry=https://a.com tsx":     true,
		"pnpx tsx":                             true,
		"npm -w a exec tsx":                    true,
		"npm --prefix sub exec tsx":            true,
		"cd / && npx tsx":                      true,
		"cd $X; npx tsx":                       true,
		"rm -rf node_modules; npx tsx":         true,
		"mv node_modules old && npx tsx":       true,
		"npm install other && npx other":       true,
		"ln -s /opt/x node_modules && npx tsx": true,
	} {
		s := Analyze(script, World{Programs: testkit.ShippedPrograms(), Guard: paths.Guard{Roots: roots,
			Links: there}})
		got := slices.ContainsFunc(s.Commands,
			func(c Command) bool { return slices.Contains(c.Tags, "config-or-install") })
		ran := slices.ContainsFunc(s.Commands, func(c Command) bool {
			return c.Path == "/w/node_modules/.bin/tsx" && slices.Contains(c.Tags, "workspace-program")
		})
		if got != installs || ran == installs {
			t.Errorf("%s: installs %v, runs %v", script, got, ran)
		}
	}
	s := Analyze("npx tsx a.ts", World{Programs: testkit.ShippedPrograms(), Guard: paths.Guard{Roots: roots}})
	if !slices.Contains(find(t, s, "npx").Tags, "config-or-install") {
		t.Error("without a look at the disk nothing is installed")
	}
}

// TestSpoiled: git checkout of one name throws away changes where that is a file.
func TestSpoiled(t *testing.T) {
	world := World{Programs: testkit.ShippedPrograms(),
		Guard: paths.Guard{Roots: paths.Roots{Cwd: "/w", Home: "/home/a", Write: []string{"/w"}}}}
	// on a disk that cannot be seen, and on one with /w/src, /w/sub/b and /w/v1
	for script, want := range map[string][2]bool{
		"git checkout src":              {false, true},
		"git checkout a.go":             {true, false}, // nothing is there that could be lost
		"git checkout feature/x":        {false, false},
		"git checkout main":             {false, false},
		"git checkout v1.2.x":           {false, false},
		"git checkout -":                {false, false},
		"git -C sub checkout b":         {false, true},
		"cd sub && git checkout b":      {false, true},
		"echo > a; git checkout a":      {false, true},
		"git checkout -b src":           {false, false},
		"git checkout src/":             {true, true},
		"git checkout '*.go'":           {true, true},
		"git switch src":                {false, false},
		"git checkout README.md && ls":  {true, false},
		"git checkout origin/main -- x": {true, true},
	} {
		for i, links := range []paths.Links{nil, disk{"/w", "/w/src", "/w/sub", "/w/sub/b", "/w/v1"}} {
			world.Guard.Links = links
			got := slices.ContainsFunc(Analyze(script, world).Commands,
				func(c Command) bool { return slices.Contains(c.Tags, "discard") })
			if got != want[i] {
				t.Errorf("%s, disk %d: %v", script, i, got)
			}
		}
	}
}
