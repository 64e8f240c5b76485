package program

import (
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

func (c *call) run(via string, argv []Word, wrapper string) {
	if len(argv) == 0 {
		return
	}
	c.Runs = append(c.Runs, Run{Via: via, Argv: argv, Wrapper: wrapper, Dir: c.Folder, Env: c.env, KeepStdin: wrapper != ""})
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
