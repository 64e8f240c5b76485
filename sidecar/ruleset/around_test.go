package ruleset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// Who reads a folder around the workspace as a whole is asked if a secret is in it; who
// lists it, names its files, or reads one without secrets, is not.
func TestReadBelow(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	for _, name := range []string{"shop/a.go", "other/README.md", "other/.env", "other/src/a.go",
		"clean/a.go", "bak/x/.ssh/id_ed25519", "docs/passwords.txt", "docs/letter.txt"} {
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755))
		check(t, os.WriteFile(filepath.Join(home, name), nil, 0o600))
	}
	check(t, os.MkdirAll(home+"/shop/evil", 0o755))
	check(t, os.MkdirAll(home+"/shop/fine", 0o755))
	check(t, os.Symlink("../../other/.env", home+"/shop/evil/x"))
	check(t, os.Symlink("../a.go", home+"/shop/fine/x"))
	at := At{Now: exampleTime, Links: workspace.Links{}, World: World{Cwd: home + "/shop", Home: home,
		Write: []string{home + "/shop"}}}
	set := loaded(t)
	for want, lines := range map[policy.Effect][]string{
		policy.Allow: {
			"grep -rn foo ~/clean", "rg foo ~/other/src", "cat ~/other/README.md", "cat ~/other/*",
			"ls -la ~/other", "ls -R ~", "find ~ -name '*.go'", "tree ~/other", "git -C ~/other log",
			"cd ~/other && git status",
			"find ~/clean -type f -exec cat {} +", "find ~/other -name '*.md' -exec head {} +",
			"cat ~/docs/l*", "cat ~/docs/letter.txt", "find fine -mtime -1 -exec wc -l {} +",
			"find . -type f -mtime -1 -exec wc -l {} +", "cd fine && ls | xargs cat",
			"cd fine; for f in $(ls); do cat $f; done", "wc -l ~/other/src/*.go",
			"grep -rn foo .", "cp -r evil copy", "tar cf x.tar evil", "rg foo evil", "grep -R foo fine",
			"cp -rL fine copy", "cat fine/*", "find -L evil", "fd -L foo evil", "ls -R evil",
		},
		policy.Ask: {
			"grep -rn foo ~/other", "rg foo ~/other", "cd ~/other && rg foo", "cd ~/other && grep -rn foo .",
			"grep -rn foo ~/other/src/..", "git grep --no-index foo ~/other",
			"cd ~/other && git grep --no-index foo",
			"git -C ~/other grep --no-index foo", "cp -r ~/bak /dev/null", "diff -r ~/bak .", "cat ~/docs/*",
			"cat ~/docs/p*", "for f in ~/docs/*; do cat $f; done", "find ~/bak -type f -exec cat {} +",
			"find ~/bak -newer a.go -exec cat {} +",
			"find ~/bak -name '*.md' -o -size -2k -exec cat {} +",
			`find ~/bak ! \( -name '*.md' \) -exec cat {} +`, "fd ed25 ~/bak -x cat",
			"find ~/docs -execdir cat {} +", "find ~ -name '*.md' -exec cat {} +", "cat ~/docs/passwords.txt",
			"grep -R foo .", "grep -R foo evil", "rg -L foo", "rg --follow foo evil", "cp -rL evil copy",
			"rsync -aL evil/ copy/", "tar chf x.tar evil", "zip -r x.zip evil",
			"find -L evil -type f -exec cat {} +", "fd -L . evil -x cat", "jar cf x.jar evil",
			"find . -mtime -1 -exec wc -l {} +", "find . -type l -exec cat {} +", "fd -X cat",
			"find . -path '*/evil/*' -exec cat {} +", "ls evil | xargs cat", "cat $(git ls-files)",
			"for f in $(ls); do cat $f; done", "diff -r evil fine",
		},
		policy.Deny: {"cat evil/x", "cat evil/*", "find . -name x -exec cat {} +", "grep foo */x",
			"for f in evil/*; do cat $f; done", "find ~/bak -name '*5519' -exec cat {} +",
			"find ~/bak -iname '*D25519' -exec cat {} +", "cat ~/bak/*/.s*/*", "cat ~/other/.*"},
	} {
		for _, line := range lines {
			if d := set.CheckCommand(line, somebody, at); d.Effect != want {
				t.Errorf("%s: %s by %s (%s), want %s", line, d.Effect, d.Rule, d.Why, want)
			}
		}
	}
	for path, want := range map[string]policy.Effect{"~/docs/passwords.txt": policy.Ask,
		"~/docs/letter.txt": policy.Allow, "~/bak": policy.Ask, "~/clean": policy.Allow} {
		if d := set.CheckPath("read", path, somebody, at); d.Effect != want {
			t.Errorf("%s: %s by %s, want %s", path, d.Effect, d.Rule, want)
		}
	}
}

// Who may look at a folder may neither change it nor run its code, wherever a command says
// that it works.
func TestWorkElsewhere(t *testing.T) {
	at := At{Now: exampleTime, World: World{Cwd: "/home/sam/shop", Home: "/home/sam",
		Write: []string{"/home/sam/shop", "/tmp"}}}
	set := loaded(t)
	for effect, lines := range map[policy.Effect][]string{
		policy.Allow: {"log --oneline", "status", "diff HEAD~1", "show HEAD:a.go", "branch", "branch -a",
			"tag -l", "remote -v", "stash list", "worktree list", "blame a.go", "ls-files",
			"submodule status", "format-patch --stdout -1", "format-patch -o /tmp/p -1", "hash-object a.go"},
		policy.Ask: {
			"commit -am x", "checkout main", "switch main", "stash", "add -A", "pull", "fetch", "merge x",
			"tag v1", "branch x", "apply /tmp/x.patch", "am /tmp/x.patch", "init", "gc", "rebase main",
			"cherry-pick abc", "restore --staged a",
			"submodule update", "bisect start", "worktree prune", "update-index --refresh",
			"sparse-checkout set a", "notes add -m x", "lfs pull", "format-patch -1", "hash-object -w a.go",
		},
	} {
		for _, line := range lines {
			for _, elsewhere := range []string{"git -C ~/other " + line, "git -C ../other " + line,
				"cd ~/other && git " + line, "cd ..; cd other; git " + line, "env -C ../other git " + line,
				"(cd ~/other; git " + line + ")"} {
				if d := set.CheckCommand(elsewhere, somebody,
					at); (d.Effect == policy.Allow) != (effect == policy.Allow) {
					t.Errorf("%s: %s by %s, want %s", elsewhere, d.Effect, d.Rule, effect)
				}
			}
			for _, here := range []string{"git " + line, "git -C sub " + line, "cd sub && git " + line,
				"cd /tmp/x && git " + line} {
				if d := set.CheckCommand(here, somebody, at); d.Rule == "write-elsewhere" {
					t.Errorf("%s: %s (%s)", here, d.Effect, d.Why)
				}
			}
		}
	}
	for line, elsewhere := range map[string]policy.Effect{
		"go fmt ./...": policy.Ask, "go mod tidy": policy.Ask, "tsc": policy.Ask,
		"tsc --noEmit": policy.Allow, "ruff check --fix": policy.Ask, "ruff check": policy.Allow,
		"terraform fmt": policy.Ask, "terraform fmt -check": policy.Allow,
		"uv lock": policy.Ask, "uv tree": policy.Allow, "gh repo clone x/y": policy.Ask,
		"gh pr checkout 1": policy.Ask, "go list ./...": policy.Allow,
	} {
		if d := set.CheckCommand("cd ../other && "+line, somebody, at); d.Effect != elsewhere {
			t.Errorf("%s: %s by %s, want %s", line, d.Effect, d.Rule, elsewhere)
		}
		if d := set.CheckCommand(line, somebody, at); d.Effect != policy.Allow {
			t.Errorf("%s in the workspace: %s by %s", line, d.Effect, d.Rule)
		}
	}
	for _, line := range []string{"make", "npm test", "go test ./...", "cargo build", "pnpm test"} {
		name, rest, _ := strings.Cut(line, " ")
		flag := map[string]string{"npm": "--prefix"}[name]
		if flag == "" {
			flag = "-C"
		}
		for folder, effect := range map[string]policy.Effect{"../other": policy.Ask, "~/other": policy.Ask,
			"sub": policy.Allow, ".": policy.Allow} {
			command := strings.TrimSpace(name + " " + flag + " " + folder + " " + rest)
			if d := set.CheckCommand(command, somebody, at); d.Effect != effect {
				t.Errorf("%s: %s by %s, want %s", command, d.Effect, d.Rule, effect)
			}
		}
	}
	for _, line := range []string{"cd ~ && git apply /tmp/x.patch", "git -C ~ init", "cd / && git init"} {
		if d := set.CheckCommand(line, somebody, at); d.Effect != policy.Deny {
			t.Errorf("%s: %s by %s", line, d.Effect, d.Rule)
		}
	}
}
