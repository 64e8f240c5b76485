package program

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// program is a row, ready for use.
type program struct {
	Row
	tags    []string
	alone   []string
	usual   *regexp.Regexp // nil: no value is
	readers []string       // of the program, then of the subcommand
	options []option
	short   [128]uint16 // by letter: 1 + the index in options
	long    []spelling  // sorted
	subs    map[string]named
	stars   []named   // subcommands with a star, which their name lacks
	before  []meaning // of operands at the start
	each    meaning   // of the repeated ones, or of those after the others
	after   []meaning // at the end
	repeats bool
	risky   bool // a word that turns out to be an option may do harm
	acts    bool // one more word may name a file, or do more
	stops   bool // options end at the first operand
	mixed   bool // words after one dash among letters: -fprint
	words   bool
	numbers bool // head -5
}

type option struct {
	meaning
	name string // its first spelling
}

type spelling struct {
	text   string
	option uint16
}

// named is a subcommand. Its row is made ready when it is first asked for.
type named struct {
	name  string // the first of its spellings
	star  bool
	ready func() *program
}

// build makes a row ready. The options and tags of the program it is a subcommand of
// hold for it, too.
func build(r Row, parent *program) *program {
	p := &program{Row: r, each: meaning{kind: "plain"}}
	effects, _ := means(r.Effects)
	alone, _ := means(r.Alone)
	p.tags, p.alone = effects.tags, alone.tags
	p.usual, _ = usual(r.Usual) // what is wrong with it, Check has said
	if parent != nil {
		if r.Usual == "" {
			p.usual = parent.usual
		}
		p.readers = slices.Clone(parent.readers)
		p.tags = append(p.tags, parent.tags...)
		if p.Style == "" {
			p.Style = parent.Style
		}
	}
	p.words, p.stops = p.Style == "words", p.Style == "first" || len(r.Subcommands) > 0
	if r.Reader != "" {
		p.readers = append(p.readers, r.Reader)
	}
	p.risky = slices.Contains(p.tags, "wrapper")
	p.allOptions(r)
	if parent != nil && !parent.OwnOptions {
		p.inherit(parent)
	}
	p.acts = p.risky || slices.ContainsFunc(p.options, func(o option) bool { return acts(o.meaning) })
	slices.SortFunc(p.long, func(a, b spelling) int { return strings.Compare(a.text, b.text) })
	p.operands()
	for _, s := range r.Subcommands {
		p.subcommands(s)
	}
	return p
}

// usual makes the expression for usual values ready, which they fit in full.
func usual(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	return regexp.Compile("^(?:" + pattern + ")$")
}

// isUsual tells whether a value is known, and no question.
func (p *program) isUsual(w Word) bool {
	return !w.Dynamic && p.usual != nil && p.usual.MatchString(w.Text)
}

func (p *program) allOptions(r Row) {
	for _, c := range r.Letters {
		p.enter(meaning{}, "-"+string(c))
	}
	for _, names := range strings.Fields(r.Flags) {
		p.enter(meaning{}, names)
	}
	for _, names := range strings.Fields(r.Values) {
		names, optional := strings.CutSuffix(names, "?")
		p.enter(meaning{kind: "plain", optional: optional}, names)
	}
	for _, o := range r.Options {
		m, _ := means(o.Means)
		for _, names := range strings.Fields(o.Names) {
			p.enter(m, names)
		}
	}
}

// inherit adds the options of the program that a subcommand lacks.
func (p *program) inherit(parent *program) {
	p.numbers = p.numbers || parent.numbers
	from := len(p.options)
	p.options = append(p.options, parent.options...)
	p.risky, p.mixed = p.risky || parent.risky, p.mixed || parent.mixed
	for letter, i := range parent.short {
		if p.short[letter] == 0 && i != 0 {
			p.short[letter] = uint16(from) + i
		}
	}
	for _, s := range parent.long {
		if !slices.ContainsFunc(p.long, func(own spelling) bool { return own.text == s.text }) {
			p.long = append(p.long, spelling{s.text, uint16(from) + s.option})
		}
	}
}

// subcommands adds those that share a row, by all their spellings.
func (p *program) subcommands(s Named) {
	if p.subs == nil {
		p.subs = map[string]named{}
	}
	child := sync.OnceValue(func() *program { return build(s.Row, p) })
	for _, names := range strings.Fields(s.Names) {
		spellings := strings.Split(names, "|")
		for _, name := range spellings {
			if begins, star := strings.CutSuffix(name, "*"); star {
				p.stars = append(p.stars, named{begins, true, child})
			} else {
				p.subs[name] = named{spellings[0], false, child}
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
			return named{name, true, s.ready}
		}
	}
	return named{name: name}
}

// harmless are the kinds of values that a program may have without being risky.
var harmless = []string{"", "text", "plain", "read", "names", "pattern", "variable"}

// acts reports whether a meaning is more than that of a text.
func acts(m meaning) bool {
	return len(m.tags) > 0 || m.kind != "" && m.kind != "text" && m.kind != "plain"
}

// enter adds an option with its spellings.
func (p *program) enter(m meaning, spellings string) {
	names := strings.Split(spellings, "|")
	if names[0] == "-NUMBER" {
		p.numbers = true
		return
	}
	p.risky = p.risky || slices.ContainsFunc(m.tags, isTag) || !slices.Contains(harmless, m.kind)
	p.options = append(p.options, option{m, names[0]})
	index := uint16(len(p.options) - 1)
	for _, name := range names {
		if p.words && strings.HasPrefix(name, "--") {
			name = name[1:] // one dash or two are the same
		}
		if len(name) == 2 && !p.words && name[1] < 128 {
			p.short[name[1]] = index + 1
		} else {
			p.long = append(p.long, spelling{name, index})
			p.mixed = p.mixed || !strings.HasPrefix(name, "--")
		}
	}
}

func (p *program) operands() {
	for _, field := range strings.Split(p.Operands, ",") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		m, _ := means(field)
		switch {
		case m.repeats:
			p.each, p.repeats = m, true
		case p.repeats:
			p.after = append(p.after, m)
		default:
			p.before = append(p.before, m)
		}
		if m.kind == "run" || m.kind == "line" || m.kind == "package" && p.words { // go run . --its-own
			p.stops, p.risky = true, true
		}
		p.risky = p.risky || m.kind == "script" || m.kind == "main"
		p.acts = p.acts || acts(m)
	}
}

// find is where a long one stands, or would.
func (p *program) find(text string) (i int, ok bool) {
	return slices.BinarySearchFunc(p.long, text,
		func(s spelling, t string) int { return strings.Compare(s.text, t) })
}

// exact finds a long one that is written in full, perhaps with =value.
func (p *program) exact(text string) *option {
	name, _, _ := strings.Cut(text, "=")
	if i, ok := p.find(name); ok {
		return &p.options[p.long[i].option]
	}
	return nil
}

// option finds a long one, which may be abbreviated.
func (p *program) option(text string) *option {
	if i, _ := p.find(text); i < len(p.long) && (p.long[i].text == text || !p.words && len(text) > 2 &&
		strings.HasPrefix(p.long[i].text, text)) {
		return &p.options[p.long[i].option]
	}
	return nil
}
