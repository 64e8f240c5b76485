package program

import (
	"regexp"
	"slices"
	"strings"
)

// gitPlain are settings of git that only change what it prints and how it merges. Those of
// gitTools name a program.
var (
	gitPlain = regexp.MustCompile(`(?i)^(color|column|advice|status|user|author|committer|rerere|pack|index|stash|blame|format|fetch|push|pull|rebase|merge|diff|log|grep|tag|branch|commit|init|core|http|gc|submodule|protocol|feature|checkout|clone|i18n|apply|notes|worktree|versionsort|am|help|interactive|transfer)\.` +
		`([a-z-]+\.)?(ui|branch|status|diff|pager|interactive|decorate|showbranch|short|relativepaths|showuntrackedfiles|submodulesummary|name|email|useconfigonly|enabled|autoupdate|threads|version|showpatch|showstat|date|coloring|pretty|signoff|prune|prunetags|parallel|all|default|followtags|autosetupremote|rebase|ff|autostash|autosquash|updaterefs|stat|abbreviatecommands|conflictstyle|renames|renamelimit|log|algorithm|mnemonicprefix|noprefix|context|interhunkcontext|colormoved|colormovedws|wserrorhighlight|wordregex|relative|submodule|follow|showroot|showsignature|abbrevcommit|linenumber|fullname|patterntype|column|extendedregexp|sort|gpgsign|autosetupmerge|autosetuprebase|verbose|cleanup|defaultbranch|defaultobjectformat|quotepath|autocrlf|safecrlf|eol|filemode|ignorecase|precomposeunicode|abbrev|commentchar|whitespace|preloadindex|untrackedcache|fscache|longpaths|symlinks|compression|bigfilethreshold|warnambiguousrefs|logallrefupdates|lowspeedlimit|lowspeedtime|postbuffer|auto|autodetach|recurse|fetchjobs|manyfiles|guess|defaultremotename|commitencoding|logoutputencoding|ignorewhitespace|guessremote|threeway|keepcr|singlekey|fsckobjects|[a-z]+hint|detachedhead|addemptypathspec)$`)
	gitTools = regexp.MustCompile(`(?i)^(core\.(pager|editor)|pager\.[a-z]+|sequence\.editor)$`)
)

// gitSetting is a setting that holds for one run. What is not known to be plain may run a
// program, or send something.
func (c *call) gitSetting(w Word, via string) {
	key, value, _ := strings.Cut(w.Text, "=")
	_, out := elsewhere(value)
	switch {
	case gitTools.MatchString(key) && !w.Dynamic &&
		slices.Contains([]string{"", "cat", "true", "false", ":", "less", "more", "less -FRX"}, value):
		return
	case gitPlain.MatchString(key) && !gitTools.MatchString(key) && !w.Dynamic && !out &&
		!strings.ContainsAny(value, "|!$`"):
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

// checkout discards changes where files are named. One name alone is a branch, unless it is a
// file: on the disk or by its look.
func (c *call) checkout() {
	if c.Sub == "restore" && c.has("-W") {
		c.tag("discard")
	}
	switch {
	case c.Sub != "checkout" || c.has("-b", "-B", "--orphan"):
	case len(c.Operands) > 1, slices.ContainsFunc(c.args, func(w Word) bool { return w.Text == "--" }):
		c.tag("discard")
	case slices.ContainsFunc(c.Operands, func(w Word) bool { return fileLook.MatchString(w.Text) }):
		c.tag("discard")
	case len(c.Operands) == 1:
		c.Spoils = c.Operands
	}
}

// fileLook is how no branch looks: a folder, a pattern.
var fileLook = regexp.MustCompile(`^\.{1,2}(/|$)|^[/:]|/$|[*?[]`)

// pathspec is what git deletes: a file, a pattern whose star also fits slashes, or one with
// magic in front. What is left out of all is all.
func (c *call) pathspec(w Word) {
	magic, text := pathMagic(w.Text)
	others := func(o Word) bool { other, _ := pathMagic(o.Text); return !excludes(other) }
	switch {
	case excludes(magic) && slices.ContainsFunc(c.Operands, others):
		return
	case excludes(magic) || strings.Contains(magic, "attr:") || text == "":
		text = "."
	}
	w = rest(w, text)
	w.Glob = w.Glob || strings.ContainsAny(text, "*?[") && !strings.Contains(magic, "literal")
	// from the top of the repository, wherever that is
	if (strings.Contains(magic, "/") || strings.Contains(magic, "top")) && !strings.HasPrefix(text, "/") {
		w = in(Word{Text: ".", Dynamic: true, Begins: true}, w)
	}
	c.touch("delete", w, "argument")
}

// pathMagic takes what stands in front of a pathspec off it: :/ :! :(glob,top).
func pathMagic(spec string) (magic, text string) {
	behind, is := strings.CutPrefix(spec, ":")
	if !is {
		return "", spec
	}
	if long, is := strings.CutPrefix(behind, "("); is {
		magic, text, _ = strings.Cut(long, ")")
		return magic, text
	}
	text = strings.TrimLeft(behind, "/!^")
	return behind[:len(behind)-len(text)], strings.TrimPrefix(text, ":")
}

// excludes reports whether the magic of a pathspec leaves files out.
func excludes(magic string) bool {
	return strings.ContainsAny(magic, "!^") || strings.Contains(magic, "exclude")
}

// refspec is a branch that is pushed or fetched, as FROM:TO. By force it throws away what the
// branch had, but for the copy that is kept of a branch elsewhere.
func (c *call) refspec(w Word, via string) {
	text, forced := strings.CutPrefix(w.Text, "+")
	_, to, _ := strings.Cut(text, ":")
	switch {
	case c.Sub == "push":
		if forced || strings.HasPrefix(text, ":") {
			c.tag("discard")
		}
		c.sends(w)
	case to != "" && !strings.HasPrefix(to, "refs/remotes/") && (forced || c.has("-f")):
		c.tag("discard")
		fallthrough
	default:
		c.plain(w, via)
	}
}
