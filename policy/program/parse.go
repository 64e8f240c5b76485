package program

import (
	"slices"
	"strings"
)

// call is one list of arguments during parsing. Its Effect is the result.
type call struct {
	Effect
	*program                          // of the subcommand, once that is known
	name                       string // of the program
	args                       []Word
	found                      []found
	lastOnly                   bool     // an option of kind target was given: no operand is the target
	firstReplaced              bool     // an option replaces the first operand
	readOnly, inPlace, fillsIn bool     // by the marks looks, edits and fills-in
	unlisted                   bool     // an option or subcommand is unknown
	uploads                    bool     // text of this machine leaves in a request
	mirrors                    bool     // what is gone from the source is deleted from the target
	removes                    bool     // operands that are read are deleted
	saves                      bool     // what is fetched is saved under its own name
	removed                    []string // tags and marks that options take away
	env                        []string
	assignments                []Word // NAME=value for env
	table                      *Table
	starred                    []Word // subcommands in the place of a star
	tail                       []Word // a program with its arguments, after an option of kind rest
}

// found is an option in the arguments.
type found struct {
	*option
	as    string // full spelling
	value Word
	given bool // it has a value
}

// parse splits the arguments into options and operands, as getopt_long does.
func (c *call) parse() {
	n := len(c.args)
	c.Flags, c.Operands, c.found = make([]string, 0, n+1), make([]Word, 0, n), make([]found, 0, n+1)
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		text := w.Text
		if c.Style == "operands" && text != "--help" && text != "--version" {
			c.Operands = append(c.Operands, c.args[i:]...)
			return
		}
		switch {
		case len(text) > 1 && text[0] == '+' && c.exact("+") != nil:
			c.Flags = append(c.Flags, text)
			c.add(found{option: c.exact("+"), as: "+", value: withText(w, text[1:]), given: true})
		case w.Dynamic && c.risky && (text == "-" || !w.Begins && !strings.HasPrefix(text, "-")):
			c.unsure("an argument that may turn out to be an option")
			fallthrough
		case len(text) < 2 || text[0] != '-':
			if i == 0 && c.Style == "bundle" && text != "" && !w.Dynamic {
				i = c.oldBundle(text)
				continue
			}
			if c.operand(w) {
				c.Operands = append(c.Operands, c.args[i+1:]...)
				return
			}
		case text == "--" && !w.Dynamic:
			if c.subs != nil {
				continue
			}
			c.Operands = append(c.Operands, c.args[i+1:]...)
			return
		case c.words:
			i = c.wordOption(i)
		case text[1] == '-':
			i = c.longOption(i, w)
		default:
			i = c.letters(i, w)
		}
	}
}

// operand adds an operand and reports whether the rest are operands, too.
func (c *call) operand(w Word) (last bool) {
	if c.subs != nil {
		c.subcommand(w)
		return false
	}
	c.Operands = append(c.Operands, w)
	first := len(c.before)
	if c.firstReplaced && first > 0 {
		first--
	}
	return c.stops && len(c.Operands) >= max(first, 1)
}

// subcommand switches to the row of a subcommand.
func (c *call) subcommand(w Word) {
	if w.Dynamic {
		c.unsure("dynamic subcommand")
	}
	s := c.sub(w.Text)
	if s.ready != nil {
		if s.star {
			c.starred = append(c.starred, w)
		}
		c.program = s.ready()
	} else {
		c.Tags = append(c.Tags, "unlisted-sub")
		parent := *c.program
		parent.subs, parent.stars = nil, nil
		c.program, c.unlisted = &parent, true
	}
	if c.Sub != "" {
		c.Sub += " "
	}
	c.Sub += s.name
}

func (c *call) longOption(i int, w Word) int {
	name, value, glued := strings.Cut(w.Text, "=")
	o := c.option(name)
	if before, after, colon := strings.Cut(name, ":"); o == nil && colon && c.words {
		o = c.exact(before) // -c:v of ffmpeg
		if o != nil && o.optional {
			value, glued = after, true // -javaagent:x.jar
		}
	}
	if o == nil {
		c.Flags = append(c.Flags, name)
		switch {
		case w.Dynamic:
			c.unsure("dynamic option " + name)
		case c.negates(name) || name == "--help" || name == "--version":
		default:
			c.unknown(name)
		}
		return i
	}
	if c.exact(name) == nil && !c.words { // it may stand for one that another version has
		c.unsure("abbreviated option " + name)
		name = o.name
	}
	c.Flags = append(c.Flags, name)
	if w.Dynamic && !glued && c.risky {
		c.unsure("dynamic option " + name)
	}
	f := found{option: o, as: name}
	switch {
	case glued && o.kind == "":
		c.unknown(name + "=" + value)
	case glued:
		f.value, f.given = withText(w, value), true
	default:
		i = c.valueAfter(i, &f)
	}
	c.add(f)
	if c.words && f.kind == "script" && f.given { // java -jar x.jar --its-own
		c.Operands = append(c.Operands, c.args[i+1:]...)
		i = len(c.args)
	}
	return i
}

// wordOption is longOption for programs whose options are words after one or two dashes.
func (c *call) wordOption(i int) int {
	w := c.args[i]
	if strings.HasPrefix(w.Text, "--") {
		w.Text = w.Text[1:]
	}
	return c.longOption(i, w)
}

// letters parses -rf, -ofile and -o file.
func (c *call) letters(i int, w Word) int {
	text := w.Text
	if c.mixed && c.exact(text) != nil {
		return c.longOption(i, w)
	}
	for j := 1; j < len(text); j++ {
		o := c.letter(text[j])
		if o == nil {
			if j == 1 && c.numbers && text[1] >= '0' && text[1] <= '9' {
				c.Flags = append(c.Flags, text) // head -5
				return i
			}
			c.Flags = append(c.Flags, "-"+text[j:j+1])
			if text[j] != 'h' && text[j] != 'V' {
				c.unknown("-" + text[j:j+1])
			}
			continue
		}
		f := found{option: o, as: c.flagName(text[j], o)}
		c.Flags = append(c.Flags, f.as)
		if o.kind != "" && j+1 < len(text) {
			value := text[j+1:]
			if f.value = withText(w, value); takesRest(o.kind) {
				c.tail = append([]Word{f.value}, c.args[i+1:]...)
				i = len(c.args)
			} else {
				f.given = true
			}
			c.add(f)
			return i
		}
		if o.kind != "" && w.Dynamic {
			f.value, f.given = withText(w, ""), true
			if w.Begins && w.Fits != "" { // all of the rest is the value: -j$(nproc)
				c.add(f)
				return i
			}
		} else {
			i = c.valueAfter(i, &f)
		}
		c.add(f)
	}
	if w.Dynamic && c.risky {
		c.unsure("dynamic option " + text)
	}
	return i
}

// oldBundle parses letters without a dash, whose values follow in order: tar xfC a b.
func (c *call) oldBundle(text string) int {
	i := 0
	for j := range len(text) {
		o := c.letter(text[j])
		if o == nil {
			c.Flags = append(c.Flags, "-"+text[j:j+1])
			c.unknown("-" + text[j:j+1])
			continue
		}
		f := found{option: o, as: c.flagName(text[j], o)}
		c.Flags = append(c.Flags, f.as)
		i = c.valueAfter(i, &f)
		c.add(f)
	}
	return i
}

// valueAfter takes the value of an option from the following words, and returns the index of the last word
// taken.
func (c *call) valueAfter(i int, f *found) int {
	if f.pair {
		i++
	}
	if f.kind == "" || f.optional || i+1 >= len(c.args) {
		return i
	}
	if takesRest(f.kind) {
		c.tail = c.args[i+1:]
		return len(c.args)
	}
	f.value, f.given = c.args[i+1], true
	return i + 1
}

func (c *call) letter(b byte) *option {
	if b >= 128 || c.short[b] == 0 {
		return nil
	}
	return &c.options[c.short[b]-1]
}

// flagName returns -x, without a new string if the name has that spelling.
func (c *call) flagName(b byte, o *option) string {
	if len(o.name) == 2 && o.name[1] == b {
		return o.name
	}
	return string([]byte{'-', b})
}

func (c *call) add(f found) {
	c.firstReplaced = c.firstReplaced || f.first
	c.found = append(c.found, f)
}

// negates reports whether an option is --no-x, and --x is a flag without effect.
func (c *call) negates(name string) bool {
	flag, is := strings.CutPrefix(name, "--no-")
	o := c.exact("--" + flag)
	return is && o != nil && (o.kind == "" || o.kind == "plain") && len(o.tags) == 0
}

func (c *call) unknown(name string) {
	c.unlisted = true
	c.unsure("unknown option " + name)
}

// checkSplitting records a word that may become several: options, files, actions of find.
func (c *call) checkSplitting() {
	if i := slices.IndexFunc(c.args, func(w Word) bool { return w.Many }); i >= 0 &&
		(c.acts || len(c.readers) > 0) {
		c.unsure("this may become several words: " + c.args[i].Text)
	}
}

func (c *call) unsure(why string) { c.Unsure = append(c.Unsure, why) }

func takesRest(kind string) bool { return kind == "rest" || kind == "module" }
