package program

import (
	"regexp"
	"slices"
	"strings"
)

// gitSetting adds a setting for one run. One that is not usual may run a program, or send something.
func (c *call) gitSetting(w Word, via string) {
	key, value, _ := strings.Cut(w.Text, "=")
	if _, out := firstOutside(value); c.isUsual(w) && !out {
		return
	}
	c.execFlag(via + " " + key)
	c.tag("opaque-exec")
	c.noteUnknown(w)
	if lower := strings.ToLower(key); strings.HasPrefix(lower, "http.") || strings.Contains(lower, "proxy") {
		c.tag("net-override")
		return
	}
	c.code(withText(w, strings.TrimPrefix(value, "!")), "git "+via+" "+key)
}

// revision adds a commit, a file of a commit, or a file.
func (c *call) revision(w Word) {
	_, file, inside := strings.Cut(w.Text, ":")
	_, out := firstOutside(w.Text)
	switch {
	case inside && file != "" && !strings.HasPrefix(w.Text, ":"):
		c.touch("read", withText(w, file), "revision")
	case out || c.has("--no-index") || strings.Contains(w.Text, ".") && !strings.Contains(w.Text, ".."):
		c.touch("read", w, "argument")
	}
}

// checkout discards changes of named files. A single name is a branch unless it is a file: on the disk, or by
// its look.
func (c *call) checkout() {
	if c.Sub == "restore" && c.has("-W") {
		c.tag("discard")
	}
	switch {
	case c.Sub != "checkout" || c.has("-b", "-B", "--orphan"):
		if len(c.Operands) > 0 && c.Sub == "checkout" {
			c.tag("brings") // it begins at another commit
		}
	case len(c.Operands) > 1, slices.ContainsFunc(c.args, func(w Word) bool { return w.Text == "--" }):
		c.tag("discard")
	case slices.ContainsFunc(c.Operands, func(w Word) bool { return looksLikeFile.MatchString(w.Text) }):
		c.tag("discard")
	case len(c.Operands) == 1:
		c.Spoils = c.Operands
		c.tag("brings")
	}
}

// looksLikeFile matches what no branch can be named: a folder, a pattern.
var looksLikeFile = regexp.MustCompile(`^\.{1,2}(/|$)|^[/:]|/$|[*?[]`)

// pathspec adds what git deletes: a file, a pattern whose * matches /, or one with magic in front. If
// everything is excluded, git deletes everything.
func (c *call) pathspec(w Word) {
	magic, text := pathMagic(w.Text)
	included := func(o Word) bool { other, _ := pathMagic(o.Text); return !excludes(other) }
	switch {
	case excludes(magic) && slices.ContainsFunc(c.Operands, included):
		return
	case excludes(magic) || strings.Contains(magic, "attr:") || text == "":
		text = "."
	}
	w = withText(w, text)
	w.Glob = w.Glob || strings.ContainsAny(text, "*?[") && !strings.Contains(magic, "literal")
	// from the top of the repository, wherever that is
	if (strings.Contains(magic, "/") || strings.Contains(magic, "top")) && !strings.HasPrefix(text, "/") {
		w = inFolder(Word{Text: ".", Dynamic: true, Begins: true}, w)
	}
	c.touch("delete", w, "argument")
}

// pathMagic splits the magic from a pathspec: :/ :! :(glob,top).
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

// excludes reports whether the magic of a pathspec excludes files.
func excludes(magic string) bool {
	return strings.ContainsAny(magic, "!^") || strings.Contains(magic, "exclude")
}

// refspec adds a branch that is pushed or fetched, as FROM:TO. With force it discards what the branch had,
// except for a tracking branch.
func (c *call) refspec(w Word, via string) {
	text, forced := strings.CutPrefix(w.Text, "+")
	_, to, _ := strings.Cut(text, ":")
	switch {
	case c.Sub == "push":
		if forced || strings.HasPrefix(text, ":") {
			c.tag("discard")
		}
		c.noteUnknown(w)
	case to != "" && !strings.HasPrefix(to, "refs/remotes/") && (forced || c.has("-f")):
		c.tag("discard")
		fallthrough
	default:
		c.plain(w, via)
	}
}
