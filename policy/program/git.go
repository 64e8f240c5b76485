package program

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// gitPlain are settings of git that only change what it prints and how it merges. Those of
// gitTools name a program.
var (
	gitPlain = lazyregexp.New(`(?i)^(color|column|advice|status|user|author|committer|rerere|pack|index|stash|blame|format|fetch|push|pull|rebase|merge|diff|log|grep|tag|branch|commit|init|core|http|gc|submodule|protocol|feature|checkout|clone|i18n|apply|notes|worktree|versionsort|am|help|interactive|transfer)\.` +
		`([a-z-]+\.)?(ui|branch|status|diff|pager|interactive|decorate|showbranch|short|relativepaths|showuntrackedfiles|submodulesummary|name|email|useconfigonly|enabled|autoupdate|threads|version|showpatch|showstat|date|coloring|pretty|signoff|prune|prunetags|parallel|all|default|followtags|autosetupremote|rebase|ff|autostash|autosquash|updaterefs|stat|abbreviatecommands|conflictstyle|renames|renamelimit|log|algorithm|mnemonicprefix|noprefix|context|interhunkcontext|colormoved|colormovedws|wserrorhighlight|wordregex|relative|submodule|follow|showroot|showsignature|abbrevcommit|linenumber|fullname|patterntype|column|extendedregexp|sort|gpgsign|autosetupmerge|autosetuprebase|verbose|cleanup|defaultbranch|defaultobjectformat|quotepath|autocrlf|safecrlf|eol|filemode|ignorecase|precomposeunicode|abbrev|commentchar|whitespace|preloadindex|untrackedcache|fscache|longpaths|symlinks|compression|bigfilethreshold|warnambiguousrefs|logallrefupdates|lowspeedlimit|lowspeedtime|postbuffer|auto|autodetach|recurse|fetchjobs|manyfiles|guess|defaultremotename|commitencoding|logoutputencoding|ignorewhitespace|guessremote|threeway|keepcr|singlekey|fsckobjects|[a-z]+hint|detachedhead|addemptypathspec)$`)
	gitTools = lazyregexp.New(`(?i)^(core\.(pager|editor)|pager\.[a-z]+|sequence\.editor)$`)
)

// gitSetting is a setting that holds for one run. What is not known to be plain may run a
// program, or send something.
func (c *call) gitSetting(w Word, via string) {
	key, value, _ := strings.Cut(w.Text, "=")
	_, out := elsewhere(value)
	switch {
	case gitTools().MatchString(key) && !w.Dynamic && slices.Contains([]string{"", "cat", "true", "false", ":", "less", "more", "less -FRX"}, value):
		return
	case gitPlain().MatchString(key) && !gitTools().MatchString(key) && !w.Dynamic && !out && !strings.ContainsAny(value, "|!$`"):
		return
	}
	c.execFlag(via + " " + key)
	c.tag("opaque-exec")
	c.sends(w)
	if lower := strings.ToLower(key); strings.HasPrefix(lower, "http.") || strings.Contains(lower, "proxy") {
		c.tag("net-override")
		return
	}
	c.code(rest(w, strings.TrimPrefix(value, "!")), "git "+via+" "+key)
}

// revision is a commit, a file of a commit, or a file.
func (c *call) revision(w Word) {
	_, file, inside := strings.Cut(w.Text, ":")
	_, out := elsewhere(w.Text)
	switch {
	case inside && file != "" && !strings.HasPrefix(w.Text, ":"):
		c.touch("read", rest(w, file), "revision")
	case out || c.has("--no-index") || strings.Contains(w.Text, ".") && !strings.Contains(w.Text, ".."):
		c.touch("read", w, "argument")
	}
}

// checkout discards changes where files are named.
func (c *call) checkout() {
	if c.Sub == "restore" && c.has("-W") {
		c.tag("discard")
	}
	files := slices.ContainsFunc(c.args, func(w Word) bool { return w.Text == "--" || w.Text == "." })
	if c.Sub == "checkout" && (files || len(c.Operands) > 1) && !c.has("-b", "-B", "--orphan") {
		c.tag("discard")
	}
}
