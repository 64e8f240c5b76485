package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// Where the disk shows the folder, it decides whether a name may be an option, whether cd
// arrives, and whether git finds a repository in a plain folder.
func TestFound(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"plain/a.txt", "dashed/-e1ls", "bare/HEAD", "bare/refs/x", "bare/sub/x",
		"repo/.git/HEAD", "repo/.git/refs/x"} {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := World{Programs: world.Programs, Guard: paths.Guard{Roots: paths.Roots{Cwd: folder, Home: "/home/dev",
		Write: []string{folder}, Read: []string{"/usr"}}, Links: workspace.Links{}}}
	for text, want := range map[string]string{
		"cd plain && sed -n 1p *":                             "",
		"cd dashed && sed -n 1p *":                            "may be an option",
		"cd dashed && sed -n 1p ./*":                          "",
		"cd dashed && sed -n 1p -- *":                         "",
		"cd dashed && cat *":                                  "",
		"cd dashed && sed -n 1p *.txt":                        "",
		"cd plain && > -n && awk 1 *":                         "may be an option",
		"cd none && sort *":                                   "may be an option",
		"ls | xargs sed -n 1p":                                "may be an option",
		"ls | xargs wc -l":                                    "",
		"ls | while read -r f; do sed -n 1p \"$f\"; done":     "may be an option",
		"git -C bare status":                                  "plain folder",
		"cd bare/sub && git log":                              "plain folder",
		"cd repo && git status":                               "",
		"tar xf a.tar && cd a && git log":                     "archive",
		"tar czf a.tgz b; cd repo && git log":                 "",
		"git status":                                          "",
		"mkdir -p x/refs; > x/HEAD; cd x && git status":       "plain folder",
		"./tool src/a.txt /usr/share/x --out=build/x":         "",
		"./tool ../x":                                         "path outside",
		"python3 x.py --keys=~/.ssh/id_rsa":                   "path outside",
		"make -j4 all":                                        "",
		"cd plain; rm -rf *":                                  "",
		"set -e\ncd none\nrm -rf *":                           "",
		"if cd none; then rm -rf *; fi; cd none || exit; pwd": "",
	} {
		s := Analyze(text, w)
		if got := strings.Join(s.Dynamic, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		for _, c := range s.Commands {
			for _, u := range c.Deletes {
				if u.Class != paths.Workspace {
					t.Errorf("%s deletes %s: %s", text, u.Path, u.Class)
				}
			}
		}
	}
	harm := "cd /usr; cd " + folder + "/none; rm -rf *"
	for text, want := range map[string]bool{ // whether the rm may still run in /usr
		"%": true, "set -e; %": false, "set -e; set +e; %": true,
		"set -e; { %; } || true": true, "set -e; f() { %; }; f || true": true, "set -e; f() { %; }; f": false,
		"set -e; x=$(%)": true, "set -e; echo `%`": true, "set -e; f() { %; }; x=$(f)": true,
		"set -e; x=$(set -e; %)": false, "set -e; cat <(%)": false, "set -e; (%)": false, "set -e; { %; } | cat": false,
		"set -e; ! { %; }": true, "set -e; ! (%)": true, "set -e; f() { %; }; ! f": true, "set -e; ! f; %": false,
		"set -e; bash -c '%'": true, "set -e; ls | xargs bash -c '%'": true, "set -e; eval '%'": false,
	} {
		s := Analyze(strings.ReplaceAll(text, "%", harm), w)
		got := slices.ContainsFunc(find(t, s, "rm").Deletes, func(u paths.Use) bool { return u.Class != paths.Workspace })
		if got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if s := Analyze("rm plain/a.txt; cd plain; rm -rf *", w); len(find(t, s, "rm").Deletes) < 2 {
		t.Error("a folder that may not be there is taken for one that is")
	}
}
