package program

import (
	"slices"
	"strings"
	"sync"
)

// program is a row, ready for use.
type program struct {
	row
	tags    []string
	thens   []func(*call) // of the program, then of the subcommand
	options []option
	short   [128]uint16 // by letter: 1 + the index in options
	long    []spelling  // sorted
	bare    []string
	subs    map[string]named
	stars   []named   // subcommands with a star, which their name lacks
	before  []operand // at the start
	each    operand   // the repeated ones
	repeats bool
	after   []operand // at the end
	risky   bool      // an option that is not understood may do harm
	stops   bool      // options end at the first operand
	mixed   bool      // words after one dash among letters: -fprint
}

type option struct {
	operand
	name     string // its first spelling
	value    byte   // 0 none, '=' needed, '?' optional, '+' needed, after a name
	replaces bool   // it stands in for the first operand
}

// operand is what an operand or the value of an option is.
type operand struct {
	kind kind
	tags []string // and marks
}

type spelling struct {
	text   string
	option uint16
}

// named is a subcommand. Its row is made ready when it is first asked for, too.
type named struct {
	name  string // the first of its spellings
	ready func() *program
}

// programs is the table. A row is made ready when it is first asked for: a few of the
// many are ever used, and all of them would be most of our memory.
type programs map[string]func() *program

// compile makes the table out of its parts.
func compile(families ...family) programs {
	table := programs{}
	for _, f := range families {
		for names, r := range f {
			ready := sync.OnceValue(func() *program { return build(r, nil) })
			for _, name := range strings.Fields(names) {
				table[name] = ready
			}
		}
	}
	return table
}

// row finds a row by its exact name; nil: there is none.
func (t programs) row(name string) *program {
	if ready := t[name]; ready != nil {
		return ready()
	}
	return nil
}

// build makes a row ready. The options and tags of the program it is a subcommand of
// hold for it, too.
func build(r row, parent *program) *program {
	p := &program{row: r, tags: strings.Fields(r.tags), bare: strings.Fields(r.bare)}
	if parent != nil {
		p.thens = slices.Clone(parent.thens)
		p.tags = append(p.tags, parent.tags...)
		p.style, p.open = max(p.style, parent.style), p.open || parent.open
		if !parent.own {
			p.opts += " " + parent.opts
		}
	}
	if r.then != nil {
		p.thens = append(p.thens, r.then)
	}
	p.risky = slices.Contains(p.tags, "wrapper")
	p.stops = p.style == stop || len(r.subs) > 0
	for _, field := range strings.Fields(p.opts) {
		p.add(field)
	}
	slices.SortFunc(p.long, func(a, b spelling) int { return strings.Compare(a.text, b.text) })
	p.operandKinds()
	for _, s := range r.subs {
		p.subcommands(s)
	}
	return p
}

// subcommands adds those that share a row, by all their spellings.
func (p *program) subcommands(s sub) {
	if p.subs == nil {
		p.subs = map[string]named{}
	}
	for _, names := range strings.Fields(s.names) {
		spellings := strings.Split(names, "|")
		child := sync.OnceValue(func() *program { return build(s.row, p) })
		for _, name := range spellings {
			if begins, star := strings.CutSuffix(name, "*"); star {
				p.stars = append(p.stars, named{begins, child})
			} else {
				p.subs[name] = named{spellings[0], child}
			}
		}
	}
}

// sub finds a subcommand; not listed: ready is nil.
func (p *program) sub(name string) named {
	if s, listed := p.subs[name]; listed {
		return s
	}
	for _, s := range p.stars {
		if strings.HasPrefix(name, s.name) {
			return named{name, s.ready}
		}
	}
	return named{name: name}
}

// add takes one field of row.opts.
func (p *program) add(field string) {
	var o option
	if letters, ok := strings.CutPrefix(field, "-["); ok {
		letters, tags, _ := strings.Cut(letters, "]")
		o.tags = marks(strings.TrimPrefix(tags, ":"))
		for _, c := range letters {
			o.name = "-" + string(c)
			p.enter(o, o.name)
		}
		return
	}
	field, tags, _ := strings.Cut(field, ":")
	o.tags = marks(tags)
	field, o.replaces = strings.CutSuffix(field, "!")
	names := field
	if i := 1 + strings.IndexAny(field[1:], "=?+"); i > 0 {
		names, o.value, o.kind = field[:i], field[i], kinds[field[i+1:]]
	}
	p.risky = p.risky || slices.ContainsFunc(o.tags, isTag) || o.kind != skip && o.kind != read && o.kind != list && o.kind != setenv
	o.name, _, _ = strings.Cut(names, "|")
	p.enter(o, strings.Split(names, "|")...)
}

// marks are the tags and marks after a colon.
func marks(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

// isTag tells tags from marks.
func isTag(t string) bool {
	return t[0] != '!' && !slices.Contains(markNames, t)
}

// enter adds an option with its spellings. The first one of a spelling counts.
func (p *program) enter(o option, names ...string) {
	p.options = append(p.options, o)
	index := uint16(len(p.options) - 1)
	for _, name := range names {
		if p.style == words && strings.HasPrefix(name, "--") {
			name = name[1:] // one dash or two are the same
		}
		if len(name) == 2 && p.style != words {
			if p.short[name[1]] == 0 {
				p.short[name[1]] = index + 1
			}
		} else if !slices.ContainsFunc(p.long, func(s spelling) bool { return s.text == name }) {
			p.long = append(p.long, spelling{name, index})
			p.mixed = p.mixed || !strings.HasPrefix(name, "--")
		}
	}
}

func (p *program) operandKinds() {
	for _, field := range strings.Fields(p.operands) {
		field, star := strings.CutSuffix(field, "*")
		name, tags, _ := strings.Cut(field, ":")
		o := operand{kinds[name], marks(tags)}
		switch {
		case star:
			p.each, p.repeats = o, true
		case p.repeats:
			p.after = append(p.after, o)
		default:
			p.before = append(p.before, o)
		}
		if o.kind == run || o.kind == line {
			p.stops, p.risky = true, true
		}
		p.risky = p.risky || o.kind == script || o.kind == main
	}
}

// find is where a long one stands, or would.
func (p *program) find(text string) (i int, ok bool) {
	return slices.BinarySearchFunc(p.long, text, func(s spelling, t string) int { return strings.Compare(s.text, t) })
}

// exact finds a long one that is written in full, perhaps with =value.
func (p *program) exact(text string) *option {
	name, _, _ := strings.Cut(text, "=")
	if i, ok := p.find(name); ok {
		return &p.options[p.long[i].option]
	}
	return nil
}

// option finds a long one, which may be abbreviated. It is nil where there is none, and
// where several fit.
func (p *program) option(text string) (o *option, full string, several bool) {
	i, ok := p.find(text)
	if ok {
		return &p.options[p.long[i].option], text, false
	}
	if p.style == words || len(text) < 3 {
		return nil, "", false
	}
	for ; i < len(p.long) && strings.HasPrefix(p.long[i].text, text); i++ {
		x := &p.options[p.long[i].option]
		if o != nil && x != o {
			return nil, "", true
		}
		o, full = x, p.long[i].text
	}
	return o, full, false
}
