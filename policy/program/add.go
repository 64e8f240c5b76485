package program

import (
	"path"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// touch adds a file; - is standard input.
func (c *call) touch(op string, w Word, via string) {
	if w.Text == "-" && !w.Dynamic {
		c.ReadsIn = c.ReadsIn || op == "read"
		return
	}
	c.ReadsIn = c.ReadsIn || op == "read" && (w.Text == "/dev/stdin" || w.Text == "/dev/fd/0")
	c.Touches = append(c.Touches, Touch{Op: op, Word: c.resolve(w), Via: via})
}

// plain adds what looks like a file elsewhere or a URL, with unknown use.
func (c *call) plain(w Word, via string) {
	switch {
	case strings.Contains(w.Text, "://"):
		c.fileOrURL("from", w, via)
	default:
		for _, at := range outsidePaths(w.Text) {
			c.guess(func() {
				c.touch("read", withText(w, at), via)
				c.touch("write", withText(w, at), via)
			})
		}
	}
}

// guess marks the files that add adds as guesses.
func (c *call) guess(add func()) {
	from := len(c.Touches)
	add()
	for i := range c.Touches[from:] {
		c.Touches[from+i].Guess = true
	}
}

// firstOutside returns the first path in a name that may lead out of a folder.
func firstOutside(text string) (at string, out bool) {
	if list := outsidePaths(text); len(list) > 0 {
		return list[0], true
	}
	return "", false
}

// outsidePaths returns the paths in a name that may lead out of a folder, also behind an equals sign, a quote
// and such.
func outsidePaths(text string) (list []string) {
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
	c.CodeFile = c.resolve(w)
	c.touch("read", w, via)
}

func (c *call) fileOrURL(kind string, w Word, via string) {
	switch url := strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "file:"); {
	case url && kind == "to":
		c.fetch(w, "PUT")
	case url:
		c.fetch(w, "GET")
	case kind == "to":
		c.use("write", withText(w, strings.TrimPrefix(w.Text, "file:")), via)
	default:
		c.touch("read", withText(w, strings.TrimPrefix(w.Text, "file:")), via)
	}
	for _, at := range outsidePaths(w.Text) { // concat:/a, movie='/a'
		if at != w.Text && !strings.Contains(w.Text, "://") {
			c.touch("read", withText(w, at), via)
		}
	}
}

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

// has reports whether one of the options was given, by first spelling.
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

// value returns the last value of an option, by its first spelling.
func (c *call) value(name string) (w Word, ok bool) {
	for i := range c.found {
		if c.found[i].name == name && c.found[i].given {
			w, ok = c.found[i].value, true
		}
	}
	return w, ok
}

// values returns all values of options, by first spelling.
func (c *call) values(names ...string) (list []Word) {
	for i := range c.found {
		if c.found[i].given && slices.Contains(names, c.found[i].name) {
			list = append(list, c.found[i].value)
		}
	}
	return list
}

// resolve returns a file as seen from where the program was started, if an option of kind folder changes the
// folder.
func (c *call) resolve(w Word) Word {
	if c.Folder == nil {
		return w
	}
	return inFolder(*c.Folder, w)
}

// target adds where operands are written, perhaps on another machine.
func (c *call) target(w Word, via string) {
	if urls.IsRemote(w.Text) {
		c.tag("remote")
		return
	}
	c.use("write", w, via)
	if c.mirrors {
		c.touch("delete", w, via)
	}
}

// copiedFiles adds the files that operands become in a folder. Of two operands, the second may be the folder
// or the file itself.
func (c *call) copiedFiles() {
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
				c.touch("write", withText(w, path.Base(w.Text)), "argument")
			}
			return
		}
		from, to = from[:n], from[n]
		if n == 1 && !strings.HasSuffix(to.Text, "/") && to.Text != "." && to.Text != ".." ||
			urls.IsRemote(to.Text) {
			return
		}
	}
	for _, w := range from {
		if urls.IsRemote(w.Text) {
			_, w.Text, _ = strings.Cut(w.Text, ":")
		}
		c.touch("write", inFolder(to, withText(w, path.Base(w.Text))), "argument")
	}
}
