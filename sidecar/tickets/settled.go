package tickets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// settled reports whether git, where it runs in a workspace, runs nothing that a confined command
// can have put there: its store is a whole one of its own, its settings name no program, and
// there are no hooks and no submodules.
func settled(work string) bool {
	git := filepath.Join(work, ".git")
	for _, name := range []string{"", "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(git, name)); err != nil || !info.IsDir() {
			return false // without one of them git looks for another store, such as the workspace itself
		}
	}
	for _, other := range []string{"commondir", "modules"} { // a store in another place; stores of submodules
		if _, err := os.Lstat(filepath.Join(git, other)); !os.IsNotExist(err) {
			return false
		}
	}
	hooks, err := os.ReadDir(filepath.Join(git, "hooks"))
	if err != nil && !os.IsNotExist(err) || slices.ContainsFunc(hooks, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") }) {
		return false
	}
	head, err := os.ReadFile(filepath.Join(git, "HEAD"))
	if err != nil || !headText().Match(head) {
		return false
	}
	config, err := os.ReadFile(filepath.Join(git, "config"))
	return err == nil && namesNothing(string(config))
}

var (
	headText    = lazyregexp.New(`^(ref: refs/\S+|[0-9a-f]{40}|[0-9a-f]{64})\n?$`)
	sectionLine = lazyregexp.New(`^\[([a-z0-9-]+)(?: "[^"\\]*")?\]$`)
	settingLine = lazyregexp.New(`^([a-z0-9-]+)(?:\s*=[^\\]*)?$`)
)

// harmlessSettings are those that name no program and no file, by their section. A star are all.
var harmlessSettings = map[string][]string{
	"core": {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
		"autocrlf", "eol", "safecrlf", "quotepath", "longpaths", "preloadindex", "untrackedcache"},
	"remote": {"url", "pushurl", "fetch", "tagopt", "prune"},
	"branch": {"*"}, "user": {"*"}, "color": {"*"}, "advice": {"*"}, "pull": {"*"}, "status": {"*"},
	"push": {"default", "autosetupremote", "followtags"}, "fetch": {"prune", "prunetags", "parallel"}, "merge": {"ff", "conflictstyle"},
	"rebase": {"autosquash", "autostash", "updaterefs"}, "init": {"defaultbranch"}, "rerere": {"enabled"}, "lfs": {"repositoryformatversion"},
	"commit": {"gpgsign", "verbose"}, "tag": {"gpgsign"}, "extensions": {"objectformat", "partialclone"},
}

// namesNothing reports whether all settings of a file are such. What git may read otherwise than
// we do is none.
func namesNothing(config string) bool {
	var keys []string
	for line := range strings.Lines(strings.ToLower(config)) {
		line = strings.TrimSpace(line)
		if m := sectionLine().FindStringSubmatch(line); m != nil {
			keys = harmlessSettings[m[1]]
			continue
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		m := settingLine().FindStringSubmatch(line)
		if m == nil || !slices.Contains(keys, m[1]) && !slices.Contains(keys, "*") {
			return false
		}
	}
	return true
}
