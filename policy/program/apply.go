package program

import (
	"path"
	"slices"
	"strings"
)

// apply adds what the options and operands do.
func (c *call) apply() {
	for i := range c.found {
		c.noteRemoved(c.found[i].tags)
	}
	c.noteRemoved(c.tags)
	c.mark(c.tags)
	for i := range c.found {
		f := &c.found[i]
		c.mark(f.tags)
		if f.kind == "folder" && f.given {
			c.touch("read", f.value, f.as)
			w := c.resolve(f.value)
			c.Folder = &w
		}
		c.lastOnly = c.lastOnly || f.kind == "target"
	}
	for i := range c.found {
		if f := &c.found[i]; f.given || f.kind == "code" {
			c.use(f.kind, f.value, f.as)
		}
	}
	n := len(c.Operands) + len(c.tail)
	if c.firstReplaced {
		n++
	}
	if short := slices.Contains(c.Flags, "-h") || slices.Contains(c.Flags, "-V"); n < max(c.Enough, 1) &&
		!short {
		c.mark(c.alone)
	}
	c.applyOperands()
	for _, w := range c.starred { // a file may stand in the place of a subcommand
		if at, out := firstOutside(w.Text); out {
			c.codeFile(withText(w, at), "argument")
		} else if w.Text == "-" {
			c.codeFile(w, "argument")
		}
	}
	c.Changes = c.Changes && !c.readOnly
}

// noteRemoved records tags and marks that are taken away: none if an option is unknown, since its effect is.
func (c *call) noteRemoved(list []string) {
	for _, t := range list {
		if name, away := strings.CutPrefix(t, "no-"); away && !c.unlisted {
			c.removed = append(c.removed, name)
		}
	}
}

// asksHelp reports whether the call only prints usage or version.
func (c *call) asksHelp() bool {
	return !c.unlisted && len(c.Operands) == 0 && len(c.Flags) == 1 && (c.Flags[0] == "--help" ||
		c.Flags[0] == "--version")
}

// mark adds tags and applies marks.
func (c *call) mark(list []string) {
	for _, t := range list {
		if slices.Contains(c.removed, t) || strings.HasPrefix(t, "no-") {
			continue
		}
		switch t {
		case "stdin-code":
			c.ReadsCode, c.ReadsIn = !c.Inline, c.ReadsIn || !c.Inline
		case "refers":
			c.Refers = true
		case "here":
			c.touch("read", Word{Text: ".", Begins: true}, "folder")
		case "recursive":
			c.Recursive = true
		case "follows":
			c.Follows = true
		case "changes":
			c.Changes = true
		case "stdin":
			c.ReadsIn = true
		case "patch":
			c.Patch = true
		case "looks":
			c.readOnly = !c.unlisted
		case "edits":
			c.inPlace = true
		case "leaves", "posts":
			c.uploads = true
		case "sends-stdin":
			c.ReadsIn, c.SendsIn = true, true
		case "clears":
			c.mirrors, c.Recursive = true, true
		case "removes":
			c.removes = true
		case "saves":
			c.saves = true
		case "fills-in":
			c.fillsIn = true
		default:
			if is("effects", t) {
				c.tag(t)
			} else {
				c.Marks = append(c.Marks, t)
			}
		}
	}
}

// maybeFile reports whether a filter of yq may be the name of a file.
func maybeFile(filter string) bool {
	return filter != "." && filter != ".." && !strings.ContainsAny(filter, " |()[]=\"")
}

// applyOperands gives each operand its meaning.
func (c *call) applyOperands() {
	if len(c.Operands) > 1 && c.name == "yq" && slices.Contains([]string{"e", "eval", "ea", "eval-all"},
		c.Operands[0].Text) {
		c.Operands = c.Operands[1:]
	}
	if len(c.Operands) > 0 && c.name == "yq" && maybeFile(c.Operands[0].Text) {
		c.use("read", c.Operands[0], "argument") // yq takes its first operand for a file if there is one
	}
	before, after := c.before, c.after
	if c.firstReplaced && len(before) > 0 {
		before = before[1:]
	}
	if c.lastOnly {
		after = nil
	}
	n := len(c.Operands)
	for i := 0; i < n; i++ {
		o, w := c.each, c.Operands[i]
		switch {
		case i < len(before):
			o = before[i]
		case i >= n-len(after) && n-i <= len(after):
			o = after[len(after)-(n-i)]
		}
		k := c.effectiveKind(o.kind)
		if k == o.kind {
			c.mark(o.tags)
		}
		switch at, out := firstOutside(w.Text); {
		case k == "run" && strings.Contains(w.Text, "://"):
			c.codeFile(w, "argument")
			return
		case k == "run":
			c.run(c.name, c.variables(c.Operands[i:]), c.name)
			return
		case k == "line":
			c.Runs = append(c.Runs, Run{Via: c.name, Code: join(c.Operands[i:]), Dir: c.Folder, Env: c.env,
				Wrapper: c.name, NewShell: true, KeepStdin: true})
			return
		case k == "plain" && out && slices.Contains(c.tags, "workspace-code"):
			// what it is told to run may be anywhere
			c.guess(func() { c.codeFile(withText(w, at), "argument") })
		default:
			c.use(k, w, "argument")
		}
		if k == "main" {
			c.addScript(path.Base(w.Text), c.Operands[i+1:])
		}
	}
	if len(c.after) == 1 && c.after[0].kind == "target" {
		c.copiedFiles()
	}
}

// addScript adds what a script with a row does with its arguments: python manage.py shell -c x.
func (c *call) addScript(name string, args []Word) {
	if c.table.row(name) != nil {
		e := c.table.effect(name, args)
		c.Inline, c.Tags, c.Unsure = c.Inline || e.Inline, append(c.Tags, e.Tags...), append(c.Unsure,
			e.Unsure...)
	}
}

// effectiveKind returns the kind of an operand if the program has its code from an option, changes what it
// would read, or only reads.
func (c *call) effectiveKind(kind string) string {
	switch {
	case c.Inline && (kind == "script" || kind == "main"):
		return "from"
	case c.inPlace && kind == "read":
		return "change"
	case !c.readOnly:
	case kind == "change" || kind == "move":
		return "read"
	case kind != "read" && kind != "names" && kind != "plain" && kind != "options":
		return "text"
	}
	return kind
}

// use adds what an operand or value does, by its kind.
func (c *call) use(kind string, w Word, via string) {
	switch kind {
	case "plain":
		c.plain(w, via)
	case "read":
		c.touch("read", w, via)
		if c.removes && via == "argument" {
			c.touch("delete", w, via)
		}
	case "write":
		if w.Text != "-" || w.Dynamic {
			c.touch("write", w, via)
		}
	case "delete":
		c.touch("delete", w, via)
	case "move":
		c.touch("read", w, via)
		c.touch("delete", w, via)
	case "change":
		c.touch("read", w, via)
		c.use("write", w, via)
	case "names":
		c.touch("read", w, via)
		c.touch("read", Word{Dynamic: true}, via)
	case "options":
		c.use("read", w, via)
		if name, is := strings.CutPrefix(w.Text, "@"); is {
			c.touch("read", withText(w, name), "@file")
			c.unsure("options in a file")
		}
	case "pattern":
		if !strings.HasPrefix(w.Text, "!") {
			w.Glob = strings.ContainsAny(w.Text, "*?[")
			c.touch("read", w, via)
		}
	case "from", "to":
		c.fileOrURL(kind, w, via)
	case "backup":
		if !strings.Contains(w.Text, "*") {
			w.Text = "*" + w.Text
		}
		w.Glob = true
		c.touch("write", w, via)
	case "output":
		if text := strings.TrimLeft(w.Text, "|!"); text != w.Text {
			c.use("shell", withText(w, text), via)
		} else {
			c.use("write", w, via)
		}
	case "command":
		c.execFlag(via)
		c.run(c.name+" "+via, split(w), "")
	case "shell":
		if via != "argument" {
			c.execFlag(via)
		}
		w.Dynamic = w.Dynamic || c.fillsIn && strings.Contains(w.Text, "{")
		c.code(w, c.name+" "+via)
	case "load":
		c.execFlag(via)
		c.touch("read", w, via)
	case "config":
		if _, out := firstOutside(w.Text); out || w.Dynamic && !w.Begins {
			c.execFlag(via)
		}
		c.touch("read", w, via)
	case "main", "script":
		c.codeFile(w, via)
		if kind == "main" && c.CodeFile != (Word{}) {
			c.tag("workspace-code")
		}
	case "variable":
		c.setVariable(w)
	case "patch-text":
		c.Patches = append(c.Patches, w)
	case "target":
		c.target(w, via)
	default:
		c.language(kind, w, via)
	}
}
