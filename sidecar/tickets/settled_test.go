package tickets

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSettled: git leaves unconfined only where all that it runs is its own. Each change is one
// that a command in the workspace can have made, or a program in the settings of the user.
func TestSettled(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		want   bool
	}{
		"as it was cloned":           {"", true},
		"settings of a person":       {"git config user.name a; git config pull.rebase true; git remote add up https://example.com/a; git config branch.main.remote up", true},
		"on a commit":                {"git checkout -q --detach", true},
		"another store":              {"cp -r .git evil; echo ../evil > .git/commondir", false},
		"a store that is none":       {"rm .git/HEAD", false},
		"a HEAD that is none":        {"echo x > .git/HEAD", false},
		"no objects":                 {"mv .git/objects x", false},
		"a link to a store":          {"mv .git evil; ln -s evil .git", false},
		"a file that leads to one":   {"mv .git evil; echo gitdir: evil > .git", false},
		"stores of submodules":       {"mkdir -p .git/modules/x", false},
		"a hook":                     {"touch .git/hooks/post-merge", false},
		"hooks of the workspace":     {"git config core.hooksPath .husky", false},
		"a watcher":                  {"git config core.fsmonitor ./x", false},
		"a filter":                   {"git config filter.x.clean ./x", false},
		"another file":               {"git config include.path ../x", false},
		"settings of a worktree":     {"git config extensions.worktreeConfig true", false},
		"an alias":                   {"git config alias.fetch '!x'", false},
		"a program of a remote":      {"git config remote.origin.uploadpack ./x", false},
		"a helper":                   {"git config credential.helper ./x", false},
		"a value that goes on":       {`printf '[user]\n\tname = a\\\n[core]\n' >> .git/config`, false},
		"a section and a key in one": {`printf '[core] fsmonitor = x\n' >> .git/config`, false},
		"a section of the old kind":  {`printf '[remote.origin]\nuploadpack = x\n' >> .git/config`, false},
	} {
		work := t.TempDir()
		git := exec.Command("bash", "-ec", "git init -q .; git -c user.name=a -c user.email=a commit -q --allow-empty -m x; mkdir -p .git/hooks; "+c.change)
		git.Dir, git.Env = work, []string{"HOME=" + filepath.Join(work, "none"), "PATH=" + os.Getenv("PATH")}
		out, err := git.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if got := settled(work); got != c.want {
			doc, err := os.ReadFile(filepath.Join(work, ".git/config"))
			t.Errorf("%s: %v\n%s%v", name, got, doc, err)
		}
	}
}
