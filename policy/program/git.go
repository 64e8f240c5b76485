package program

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	gitExecKey  = regexp.MustCompile(`(?i)^(alias\.|core\.(pager|sshcommand|alternaterefscommand|fsmonitor|hookspath|editor|askpass|gitproxy|attributesfile|worktree)|pager\.|diff\..*(external|textconv|command)|diff\.external|difftool\.|mergetool\.|merge\..*driver|filter\..*\.(clean|smudge|process)|credential|gpg\.|sequence\.editor|protocol\.|remote\..*\.(uploadpack|receivepack|vcs|url|pushurl)|branch\..*\.remote|safe\.|ssh\.|browser\.|web\.|man\.|help\.|interactive\.difffilter|url\.|include|init\.templatedir|uploadpack\.|submodule\..*\.update|trailer\..*\.(command|cmd)|tar\.|sendemail\.|instaweb\.|guitool\.)`)
	gitFileKey  = regexp.MustCompile(`(?i)^(core\.excludesfile|commit\.template|blame\.ignorerevsfile|log\.mailmap|mailmap\.file|gc\.logexpiry|core\.attributesfile)`)
	gitProxyKey = regexp.MustCompile(`(?i)^(http\..*(proxy|sslverify)|remote\..*\.proxy|http\.(proxy|sslverify))`)
	gitCode     = []string{"alias.", "core.pager", "core.sshcommand", "core.editor", "core.fsmonitor", "core.askpass", "pager.", "diff.", "difftool.", "mergetool.", "merge.", "filter.", "credential", "gpg.", "sequence.editor", "interactive."}
	harmless    = []string{"", "cat", "true", "false", ":", "less", "more"}
)

// Subcommands of git that change nothing, and words behind others by which these do not.
var (
	gitLooks = strings.Fields(`log show shortlog whatchanged reflog range-diff rev-list diff-tree diff-index diff-files diff blame annotate cat-file
		grep status describe ls-files ls-tree ls-remote rev-parse show-ref for-each-ref name-rev merge-base merge-tree var version help count-objects
		check-ignore check-attr check-mailmap archive bundle fast-export push clone verify-commit verify-tag fsck
		cherry show-branch get-tar-commit-id interpret-trailers stripspace patch-id diff-pairs mktree config credential`)
	gitListing = strings.Fields("list show status get get-url view summary log visualize ls-files env version")
	gitLists   = strings.Fields("-l --list -a --all -v -vv -r --remotes --show-current --contains --merged --no-merged --points-at --sort")
)

// gitChanges says whether git changes files that its arguments do not name.
func gitChanges(c *call) bool {
	words := strings.Fields(c.Sub)
	for _, w := range c.Operands {
		words = append(words, w.Text)
	}
	if len(words) == 0 || c.looks || slices.Contains(gitLooks, words[0]) {
		return false
	}
	listed := len(words) > 1 && slices.Contains(gitListing, words[1])
	switch words[0] {
	case "format-patch":
		return !c.has("--stdout", "-o")
	case "hash-object":
		return c.has("-w")
	case "stash", "notes", "submodule", "worktree", "bisect", "lfs":
		return !listed
	case "branch", "tag", "remote":
		lists := slices.ContainsFunc(c.Flags, func(f string) bool { return slices.Contains(gitLists, f) })
		return len(words) > 1 && !listed && !lists
	}
	return true
}

// gitConfig looks at -c name=value of git itself.
func gitConfig(c *call) {
	c.Changes = gitChanges(c)
	if c.has("-P") {
		c.untag("pager")
	}
	for i := range c.found {
		if f := &c.found[i]; f.name == "-c" && f.given && f.as != "--reedit-message" && (strings.Contains(f.value.Text, "=") || f.value.Dynamic) {
			c.gitSets(f.value)
		}
	}
}

// gitSets is a setting that holds for one run.
func (c *call) gitSets(w Word) {
	key, value, _ := strings.Cut(w.Text, "=")
	if gitProxyKey.MatchString(key) {
		c.tag("net-override")
	}
	if strings.HasPrefix(strings.ToLower(key), "http.") && strings.Contains(value, "/") || gitFileKey.MatchString(key) {
		c.touch("read", rest(w, value), "-c "+key)
	}
	program := strings.Contains(strings.ToLower(key), "pager") || strings.Contains(strings.ToLower(key), "editor")
	if program && slices.Contains(harmless, value) && !w.Dynamic || !gitExecKey.MatchString(key) && !(w.Dynamic && !w.Begins) {
		return
	}
	c.execFlag("-c " + key)
	c.tag("opaque-exec")
	c.gitValue(key, rest(w, value))
}

// gitValue is the value of a setting, which may be a shell line.
func (c *call) gitValue(key string, w Word) {
	key = strings.ToLower(key)
	if text, ok := strings.CutPrefix(w.Text, "!"); ok {
		c.code(rest(w, text), "git "+key)
		return
	}
	if strings.HasPrefix(key, "alias.") {
		return
	}
	if slices.ContainsFunc(gitCode, func(k string) bool { return strings.HasPrefix(key, k) }) {
		c.code(w, "git -c "+key)
	}
}

// gitHistory may compare files that are in no repository.
func gitHistory(c *call) {
	if c.Sub == "grep" && c.has("--no-index") && len(c.Operands) < 2 {
		c.touch("read", Word{Text: ".", Begins: true}, "folder")
	}
	for _, w := range c.Operands {
		if _, file, ok := strings.Cut(w.Text, ":"); ok && file != "" {
			c.touch("read", rest(w, file), "revision")
		} else if strings.Contains(w.Text, ".") && !strings.Contains(w.Text, "..") {
			c.touch("read", w, "argument")
		}
		if c.Sub == "reflog" && (w.Text == "expire" || w.Text == "delete") {
			c.tag("discard")
		}
		if c.has("--no-index") || strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../") || strings.HasPrefix(w.Text, "~") {
			c.touch("read", w, "argument")
		}
	}
}

// repository is a place to fetch from or push to.
func (c *call) repository(w Word) {
	for _, scheme := range []string{"ext::", "fd::"} {
		if line, ok := strings.CutPrefix(w.Text, scheme); ok {
			c.tag("opaque-exec")
			c.code(rest(w, line), "git "+scheme)
			return
		}
	}
	switch {
	case strings.HasPrefix(w.Text, "ssh://") || strings.HasPrefix(w.Text, "git+ssh://"):
		c.tag("remote")
	case strings.Contains(w.Text, "://"):
		c.fetch(w, "GIT")
	case strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "../"):
		c.touch("read", w, "repository")
	case remoteName(w.Text):
		c.tag("remote")
	}
}

// gitClone: without a folder, one is made that is named as the repository.
func gitClone(c *call) {
	if len(c.Operands) != 1 {
		return
	}
	name := strings.TrimSuffix(strings.TrimRight(c.Operands[0].Text, "/"), ".git")
	if name = name[strings.LastIndexAny(name, "/:")+1:]; name != "" {
		c.touch("write", rest(c.Operands[0], path.Base(name)), "clone")
	}
}

// gitPush: a plus sign forces, and nothing before a colon deletes.
func gitPush(c *call) {
	for _, w := range c.Operands[min(1, len(c.Operands)):] {
		if strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":") {
			c.tag("discard")
		}
	}
}

// gitSetting is git config: with a value, it changes the settings.
func gitSetting(c *call) {
	words := c.Operands
	first := ""
	if len(words) > 0 {
		first = words[0].Text
	}
	switch {
	case c.looks || first == "get" || first == "list":
		return
	case first == "edit":
		c.tag("editor")
	case slices.Contains([]string{"set", "unset", "rename-section", "remove-section"}, first):
		words = words[1:]
	case len(words) < 2 && !slices.Contains(c.Tags, "config-or-install"):
		return
	}
	c.tag("config-or-install")
	if f, ok := c.value("-f"); ok {
		c.touch("write", f, "-f")
	}
	if len(words) > 1 && gitExecKey.MatchString(words[0].Text) {
		c.execFlag(words[0].Text)
		c.gitValue(words[0].Text, words[1])
	}
}

// ghAPI sends something, if it has fields, or a method that does.
func ghAPI(c *call) {
	method, given := c.value("-X")
	if given && method.Text != "GET" && method.Text != "HEAD" || !given && c.has("-f", "-F", "--input") {
		c.tag("publish")
	}
	for _, w := range c.values("-F") {
		if _, name, ok := strings.Cut(w.Text, "=@"); ok {
			c.touch("read", rest(w, name), "-F")
		}
	}
}

// gitCheckout discards changes where files are named.
func gitCheckout(c *call) {
	paths := slices.ContainsFunc(c.args, func(w Word) bool { return w.Text == "--" || w.Text == "." })
	if (paths || len(c.Operands) > 1) && !c.has("-b", "-B") {
		c.tag("discard")
	}
}

// gitClean: without names all is deleted in the folder that it works in.
func gitClean(c *call) {
	if len(c.Operands) == 0 && c.Folder != nil && !c.looks {
		c.Touches = append(c.Touches, Touch{Op: "delete", Word: *c.Folder, Via: "git clean"})
	}
}
