package program

import (
	"path"
	"slices"
	"strings"
)

// apply adds what the options and operands do, by their kinds.
func (c *call) apply() {
	c.mark(c.without(c.program.tags))
	for i := range c.found {
		f := &c.found[i]
		c.mark(f.tags)
		if f.kind == dir && f.given {
			c.touch("read", f.value, f.as)
			w := c.at(f.value)
			c.Folder = &w
		}
		c.lastOnly = c.lastOnly || f.kind == target
	}
	for i := range c.found {
		if f := &c.found[i]; f.given || f.kind == inline {
			c.use(f.kind, f.value, f.as)
		}
	}
	if len(c.Operands) < c.program.stdin {
		c.ReadsIn = true
	}
	c.applyOperands()
	if len(c.Operands)+len(c.tail) == 0 && !c.replaced && !c.asksHelp() {
		c.mark(c.without(c.bare))
	}
}

// without is a list of the row without what options take away. Nobody knows what an
// option does that is not listed where all are.
func (c *call) without(list []string) []string {
	for i := range c.found {
		for _, t := range c.found[i].tags {
			if name, away := strings.CutPrefix(t, "!"); away && !c.unlisted && slices.Contains(list, name) {
				list = slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == name })
			}
		}
	}
	return list
}

// asksHelp tells whether all it does is to say how it is used, or its version.
func (c *call) asksHelp() bool {
	return slices.ContainsFunc(c.Flags, func(f string) bool { return f == "--help" || f == "--version" || f == "-h" || f == "-V" })
}

// mark adds tags, and takes note of marks.
func (c *call) mark(list []string) {
	for _, t := range list {
		switch t {
		case "code":
			c.ReadsCode, c.ReadsIn = !c.Inline, c.ReadsIn || !c.Inline
		case "recursive":
			c.Recursive = true
		case "follows":
			c.Follows = true
		case "changes":
			c.Changes = true
		case "stdin":
			c.ReadsIn = true
		case "looks":
			c.looks = !c.unlisted
		case "edits":
			c.edits = true
		default:
			if t[0] != '!' {
				c.Tags = append(c.Tags, t)
			}
		}
	}
}

// applyOperands gives each operand its kind.
func (c *call) applyOperands() {
	before, after := c.before, c.after
	if c.replaced && len(before) > 0 {
		before = before[1:]
	}
	if c.lastOnly {
		after = nil
	}
	n := len(c.Operands)
	for i := 0; i < n; i++ {
		o := c.each
		switch {
		case i < len(before):
			o = before[i]
		case i >= n-len(after) && n-i <= len(after):
			o = after[len(after)-(n-i)]
		case !c.repeats && !c.open:
			continue
		}
		k := c.meant(o.kind)
		if k == o.kind {
			c.mark(o.tags)
		}
		if w := c.Operands[i]; k == skip && c.open && strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "//") && slices.Contains(c.program.tags, "workspace-code") {
			c.codeFile(w, "argument") // what it is told to run may be anywhere
			continue
		}
		switch k {
		case run:
			c.run(c.name, c.Operands[i:], c.name)
			return
		case line:
			c.Runs = append(c.Runs, Run{Via: c.name, Code: join(c.Operands[i:]), Dir: c.Folder, Env: c.env, Wrapper: c.name, NewShell: true, KeepStdin: true})
			return
		}
		c.use(k, c.Operands[i], "argument")
	}
	if len(c.after) == 1 && c.after[0].kind == target {
		c.arrivals()
	}
}

// meant is what the kind of an operand comes to where the program has its code from an
// option, changes what it else reads, or only looks.
func (c *call) meant(k kind) kind {
	switch {
	case c.Inline && (k == script || k == main):
		return from
	case c.edits && k == read:
		return change
	case !c.looks:
	case k == change || k == move:
		return read
	case k != read && k != list:
		return skip
	}
	return k
}

// arrivals adds the files that arrive in a folder. Where one operand is copied to
// another one, that may be the folder or the file itself.
func (c *call) arrivals() {
	from := c.Operands
	var to Word
	for i := range c.found {
		if c.found[i].kind == target {
			to = c.found[i].value
		}
	}
	if n := len(from) - 1; !c.lastOnly {
		if n < 1 {
			return
		}
		from, to = from[:n], from[n]
		if n == 1 && !strings.HasSuffix(to.Text, "/") && to.Text != "." && to.Text != ".." {
			return
		}
	}
	for _, w := range from {
		if remoteName(w.Text) {
			_, w.Text, _ = strings.Cut(w.Text, ":")
		}
		c.touch("write", in(to, rest(w, path.Base(w.Text))), "argument")
	}
}

// use adds what one operand or value does.
func (c *call) use(k kind, w Word, via string) {
	switch k {
	case read:
		c.touch("read", w, via)
	case write, target:
		if w.Text != "-" || w.Dynamic {
			c.touch("write", w, via)
		}
	case remove:
		c.touch("delete", w, via)
	case move:
		c.touch("read", w, via)
		c.touch("delete", w, via)
	case change:
		c.touch("read", w, via)
		c.touch("write", w, via)
	case list:
		c.touch("read", w, via)
		c.touch("read", Word{Dynamic: true}, via)
	case sshOption:
		c.sshOption(w)
	case repo:
		c.repository(w)
	case args:
		c.touch("read", w, via)
		if name, is := strings.CutPrefix(w.Text, "@"); is {
			c.touch("read", rest(w, name), "@file")
			c.unsure("options in a file")
		}
	case url:
		c.fetch(w, "GET")
	case sh:
		c.execFlag(via)
		c.code(w, c.name+" "+via)
	case exec:
		c.execFlag(via)
		c.run(c.name+" "+via, split(w), "")
	case load:
		c.execFlag(via)
		c.touch("read", w, via)
	case conf:
		if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "..") || strings.HasPrefix(w.Text, "~") || w.Dynamic && !w.Begins {
			c.execFlag(via)
		}
		c.touch("read", w, via)
	case inline:
		c.Inline = true
	case main, script:
		c.codeFile(w, via)
		if k == main && c.CodeFile != (Word{}) {
			c.tag("workspace-code")
		}
	case setenv:
		c.sets(w)
	case from, to:
		c.place(k, w, via)
	case data, form, header:
		c.sends(k, w, via)
	case out:
		if text := strings.TrimLeft(w.Text, "|!"); text != w.Text {
			c.use(sh, rest(w, text), via)
		} else {
			c.use(write, w, via)
		}
	}
}
