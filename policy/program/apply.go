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
			c.folder = &w
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
			c.Runs = append(c.Runs, Run{Via: c.name, Code: join(c.Operands[i:]), Dir: c.folder, Env: c.env, Wrapper: c.name, NewShell: true, KeepStdin: true})
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

// place is a file or a URL.
func (c *call) place(k kind, w Word, via string) {
	url := strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:")
	if _, path, ok := strings.Cut(w.Text, ":"); ok && !url { // file:x, png:x
		c.place(k, rest(w, path), via)
	}
	switch {
	case url && k == to:
		c.fetch(w, "PUT")
	case url:
		c.fetch(w, "GET")
	case k == to:
		c.use(write, w, via)
	default:
		c.touch("read", w, via)
	}
}

// sends adds the files in what is sent.
func (c *call) sends(k kind, w Word, via string) {
	text := w.Text
	if name, value, named := strings.Cut(text, "="); k == form && named && !strings.Contains(name, "@") {
		text = strings.Replace(value, "<", "@", 1)
	} else if i := strings.IndexByte(text, '@'); k == form && i > 0 {
		text = text[i:]
	}
	if files, ok := strings.CutPrefix(text, "@"); ok {
		files, _, _ = strings.Cut(files, ";")
		for _, name := range strings.Split(files, ",") {
			c.touch("read", rest(w, strings.Trim(name, `"`)), via)
		}
	}
	if k == header && w.Dynamic {
		c.tag("send")
	}
}

// fetch adds what is fetched or sent to.
func (c *call) fetch(w Word, method string) {
	c.Fetches = append(c.Fetches, Fetch{Word: w, Method: method})
}

// touch adds a file. Standard input is no file.
func (c *call) touch(op string, w Word, via string) {
	if w.Text == "-" && !w.Dynamic {
		c.ReadsIn = c.ReadsIn || op == "read"
		return
	}
	c.ReadsIn = c.ReadsIn || op == "read" && (w.Text == "/dev/stdin" || w.Text == "/dev/fd/0")
	c.Touches = append(c.Touches, Touch{Op: op, Word: c.at(w), Via: via})
}

// codeFile adds the file whose code is run.
func (c *call) codeFile(w Word, via string) {
	if w.Text == "-" && !w.Dynamic || w.Text == "/dev/stdin" || w.Text == "/dev/fd/0" {
		c.ReadsCode, c.ReadsIn = true, true
		return
	}
	if strings.Contains(w.Text, "://") {
		c.CodeFile = w
		c.tag("opaque-exec")
		c.fetch(w, "GET")
		return
	}
	c.CodeFile = c.at(w)
	c.touch("read", w, via)
}

func (c *call) run(via string, argv []Word, wrapper string) {
	if len(argv) == 0 {
		return
	}
	c.Runs = append(c.Runs, Run{Via: via, Argv: argv, Wrapper: wrapper, Dir: c.folder, Env: c.env, KeepStdin: wrapper != ""})
}

func (c *call) code(w Word, via string) {
	if w.Text != "" || w.Dynamic {
		c.Runs = append(c.Runs, Run{Via: via, Code: w, Dir: c.folder, Env: c.env, NewShell: true})
	}
}

func (c *call) execFlag(name string) { c.ExecFlags = append(c.ExecFlags, name) }

func (c *call) tag(tags ...string) { c.Tags = append(c.Tags, tags...) }

func (c *call) untag(tag string) {
	c.Tags = slices.DeleteFunc(c.Tags, func(t string) bool { return t == tag })
}

// has says whether an option of the row was given, by its first spelling.
func (c *call) has(names ...string) bool {
	for i := range c.found {
		for _, name := range names {
			if c.found[i].name == name {
				return true
			}
		}
	}
	return false
}

// value is that of an option by its first spelling; the last one counts.
func (c *call) value(name string) (w Word, ok bool) {
	for i := range c.found {
		if c.found[i].name == name && c.found[i].given {
			w, ok = c.found[i].value, true
		}
	}
	return w, ok
}

// values are all those of options by their first spelling.
func (c *call) values(names ...string) (list []Word) {
	for i := range c.found {
		if c.found[i].given && slices.Contains(names, c.found[i].name) {
			list = append(list, c.found[i].value)
		}
	}
	return list
}

// at is a file as seen from where the program was started, if options of kind dir say
// that it works elsewhere.
func (c *call) at(w Word) Word {
	if c.folder == nil {
		return w
	}
	return in(*c.folder, w)
}

// in is a file in a folder.
func in(folder, w Word) Word {
	if strings.HasPrefix(w.Text, "/") && (!w.Dynamic || w.Begins) {
		return w
	}
	if folder.Text == "" && !folder.Dynamic {
		return w
	}
	if w.Text == "" && !w.Dynamic {
		return folder
	}
	w.Text, w.Fits = strings.TrimSuffix(folder.Text, "/")+"/"+w.Text, ""
	w.Dynamic, w.Glob = w.Dynamic || folder.Dynamic, w.Glob || folder.Glob
	w.Begins = folder.Begins || !folder.Dynamic
	return w
}

// split takes a word apart as a shell would, where a program does so itself.
func split(w Word) []Word {
	var list []Word
	var b strings.Builder
	quote, inside := byte(0), false
	for i := 0; i < len(w.Text); i++ {
		switch x := w.Text[i]; {
		case x == '\\' && quote != '\'' && i+1 < len(w.Text):
			i++
			inside = true
			b.WriteByte(w.Text[i])
		case quote != 0 && x == quote:
			quote = 0
		case quote == 0 && (x == '\'' || x == '"'):
			quote, inside = x, true
		case quote == 0 && (x == ' ' || x == '\t' || x == '\n'):
			if inside {
				list = append(list, Word{Text: b.String(), Dynamic: w.Dynamic})
			}
			b.Reset()
			inside = false
		default:
			inside = true
			b.WriteByte(x)
		}
	}
	if inside || w.Dynamic {
		list = append(list, Word{Text: b.String(), Dynamic: w.Dynamic})
	}
	return list
}

// join makes a shell line of words, as ssh and watch do.
func join(list []Word) Word {
	if len(list) == 1 {
		return list[0]
	}
	var b strings.Builder
	var all Word
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
		all.Dynamic, all.Glob = all.Dynamic || w.Dynamic, all.Glob || w.Glob
	}
	all.Text = b.String()
	return all
}
