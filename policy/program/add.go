package program

import (
	"path"
	"slices"
	"strings"
)

// touch adds a file. Standard input is no file.
func (c *call) touch(op string, w Word, via string) {
	if w.Text == "-" && !w.Dynamic {
		c.ReadsIn = c.ReadsIn || op == "read"
		return
	}
	c.ReadsIn = c.ReadsIn || op == "read" && (w.Text == "/dev/stdin" || w.Text == "/dev/fd/0")
	c.Touches = append(c.Touches, Touch{Op: op, Word: c.at(w), Via: via})
}

// plain adds what looks like a file elsewhere, or like a URL. What happens to it is unknown.
func (c *call) plain(w Word, via string) {
	switch {
	case strings.Contains(w.Text, "://"):
		c.place("from", w, via)
	default:
		for _, at := range outside(w.Text) {
			c.guess(func() {
				c.touch("read", rest(w, at), via)
				c.touch("write", rest(w, at), via)
			})
		}
	}
}

// guess marks the files that are added meanwhile as guesses.
func (c *call) guess(add func()) {
	from := len(c.Touches)
	add()
	for i := range c.Touches[from:] {
		c.Touches[from+i].Guess = true
	}
}

// elsewhere gives the first path in a name that may lead out of a folder.
func elsewhere(text string) (at string, out bool) {
	if list := outside(text); len(list) > 0 {
		return list[0], true
	}
	return "", false
}

// outside are the paths in a name, or behind an equals sign, a quote and such in it, that may
// lead out of a folder.
func outside(text string) (list []string) {
	for i := 0; i < len(text); i++ {
		at := text[i:]
		up := at == ".." || strings.HasPrefix(at, "../")
		switch starts := i == 0 || strings.IndexByte(pathStarts, text[i-1]) >= 0; {
		case starts && at[0] == '~' && i > 0 && text[i-1] == '@' && (len(at) == 1 ||
			strings.IndexByte("0123456789^~:.", at[1]) >= 0): // @~1 of git
		case starts && (up || at[0] == '/' || at[0] == '~'):
			if i > 0 && strings.IndexByte(`'"`, text[i-1]) >= 0 {
				at, _, _ = strings.Cut(at, text[i-1:i])
			}
			list = append(list, at)
		case up && !starts && text[i-1] == '/' && len(list) == 0:
			list = append(list, text)
		}
	}
	return list
}

const pathStarts = `=,@:|;[('"`

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

// place is a file or a URL.
func (c *call) place(kind string, w Word, via string) {
	switch url := strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:"); {
	case url && kind == "to":
		c.fetch(w, "PUT")
	case url:
		c.fetch(w, "GET")
	case kind == "to":
		c.use("write", rest(w, strings.TrimPrefix(w.Text, "file:")), via)
	default:
		c.touch("read", rest(w, strings.TrimPrefix(w.Text, "file:")), via)
	}
	for _, at := range outside(w.Text) { // concat:/a, movie='/a'
		if at != w.Text && !strings.Contains(w.Text, "://") {
			c.touch("read", rest(w, at), via)
		}
	}
}

// fetch adds what is fetched or sent to.
func (c *call) fetch(w Word, method string) {
	c.Fetches = append(c.Fetches, Fetch{Word: w, Method: method})
}

func (c *call) run(via string, argv []Word, wrapper string) {
	if len(argv) == 0 {
		return
	}
	c.Runs = append(c.Runs, Run{Via: via, Argv: argv, Wrapper: wrapper, Dir: c.Folder, Env: c.env,
		KeepStdin: wrapper != ""})
}

func (c *call) code(w Word, via string) {
	if w.Text != "" || w.Dynamic {
		c.Runs = append(c.Runs, Run{Via: via, Code: w, Dir: c.Folder, Env: c.env, NewShell: true})
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
	if c.Folder == nil {
		return w
	}
	return in(*c.Folder, w)
}

// target is where operands go, perhaps on another machine.
func (c *call) target(w Word, via string) {
	if remoteName(w.Text) {
		c.tag("remote")
		return
	}
	c.use("write", w, via)
	if c.clears {
		c.touch("delete", w, via)
	}
}

// arrivals adds the files that arrive in a folder. Where one operand is copied to
// another one, that may be the folder or the file itself.
func (c *call) arrivals() {
	from := c.Operands
	var to Word
	for i := range c.found {
		if c.found[i].kind == "target" {
			to = c.found[i].value
		}
	}
	if n := len(from) - 1; !c.lastOnly {
		if n < 1 { // ln -s ../a
			for _, w := range from {
				c.touch("read", w, "argument")
				c.touch("write", rest(w, path.Base(w.Text)), "argument")
			}
			return
		}
		from, to = from[:n], from[n]
		if n == 1 && !strings.HasSuffix(to.Text, "/") && to.Text != "." && to.Text != ".." ||
			remoteName(to.Text) {
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
