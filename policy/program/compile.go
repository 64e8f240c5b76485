package program

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// program is a compiled row.
type program struct {
	Row
	tags    []string
	alone   []string
	usual   *regexp.Regexp // nil: no value is usual
	prints  []printed
	readers []string // of the program, then of the subcommand
	options []option
	short   [128]uint16 // by letter: 1 + index in options
	long    []spelling  // sorted
	subs    map[string]subcommand
	stars   []subcommand // subcommands ending in *, without it
	before  []meaning    // of the first operands
	each    meaning      // of the repeated operand, or of those after before
	after   []meaning    // of the last operands
	repeats bool
	risky   bool // a word that turns out to be an option may do harm
	acts    bool // one more word may name a file, or do more
	stops   bool // options end at the first operand
	mixed   bool // words after one dash among letters: -fprint
	words   bool // options are words
	numbers bool // a number is an option: head -5
}

// printed is a kind of output, and the words of a call that has it.
type printed struct {
	kind  string
	words *regexp.Regexp
}

type option struct {
	meaning
	name string // its first spelling
}

type spelling struct {
	text   string
	option uint16
}

// subcommand is a row that is compiled on first use.
type subcommand struct {
	name  string // its first spelling
	star  bool
	ready func() *program
}

// build compiles a row. A subcommand inherits options and tags of its program.
func build(r Row, parent *program) *program {
	p := &program{Row: r, each: meaning{kind: "plain"}}
	effects, _ := parseMeaning(r.Effects)
	alone, _ := parseMeaning(r.Alone)
	p.tags, p.alone = effects.tags, alone.tags
	p.usual, _ = compileUsual(r.Usual) // what is wrong with it, Check has said
	for _, o := range r.Prints {
		if words, err := compilePrint(o.Means); err == nil {
			p.prints = append(p.prints, printed{o.Names, words})
		}
	}
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
	p.addOptions(r)
	if parent != nil && !parent.OwnOptions {
		p.inherit(parent)
	}
	p.acts = p.risky || slices.ContainsFunc(p.options, func(o option) bool { return hasEffect(o.meaning) })
	slices.SortFunc(p.long, func(a, b spelling) int { return strings.Compare(a.text, b.text) })
	p.operands()
	for _, s := range r.Subcommands {
		p.subcommands(s)
	}
	return p
}

// compileUsual compiles the expression for usual values, which must match in full.
func compileUsual(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	return regexp.Compile("^(?:" + pattern + ")$")
}

// compilePrint compiles an expression for the words of a call. A blank in it stands between two words.
func compilePrint(pattern string) (*regexp.Regexp, error) {
	return regexp.Compile("^(?:" + strings.ReplaceAll(pattern, " ", `\x00`) + ")$")
}

// isUsual reports whether a value is known and usual.
func (p *program) isUsual(w Word) bool {
	return !w.Dynamic && p.usual != nil && p.usual.MatchString(w.Text)
}

func (p *program) addOptions(r Row) {
	for _, c := range r.Letters {
		p.addOption(meaning{}, "-"+string(c))
	}
	for _, names := range strings.Fields(r.Flags) {
		p.addOption(meaning{}, names)
	}
	for _, names := range strings.Fields(r.Values) {
		names, optional := strings.CutSuffix(names, "?")
		p.addOption(meaning{kind: "plain", optional: optional}, names)
	}
	for _, o := range r.Options {
		m, _ := parseMeaning(o.Means)
		for _, names := range strings.Fields(o.Names) {
			p.addOption(m, names)
		}
	}
}

// inherit adds options of the program that a subcommand lacks.
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

// subcommands adds the subcommands of a row by all their spellings.
func (p *program) subcommands(s Named) {
	if p.subs == nil {
		p.subs = map[string]subcommand{}
	}
	child := sync.OnceValue(func() *program { return build(s.Row, p) })
	for _, names := range strings.Fields(s.Names) {
		spellings := strings.Split(names, "|")
		for _, name := range spellings {
			if begins, star := strings.CutSuffix(name, "*"); star {
				p.stars = append(p.stars, subcommand{begins, true, child})
			} else {
				p.subs[name] = subcommand{spellings[0], false, child}
			}
		}
	}
}

// sub finds a subcommand; its ready is nil if there is none.
func (p *program) sub(name string) subcommand {
	if s, listed := p.subs[name]; listed {
		return s
	}
	for _, s := range p.stars {
		if strings.HasPrefix(name, s.name) {
			return subcommand{name, true, s.ready}
		}
	}
	return subcommand{name: name}
}

// harmless are kinds of values that do not make a program risky.
var harmless = []string{"", "text", "plain", "read", "names", "pattern", "variable"}

// hasEffect reports whether a meaning is more than that of a text.
func hasEffect(m meaning) bool {
	return len(m.tags) > 0 || m.kind != "" && m.kind != "text" && m.kind != "plain"
}

// addOption adds an option with its spellings.
func (p *program) addOption(m meaning, spellings string) {
	names := strings.Split(spellings, "|")
	if names[0] == "-NUMBER" {
		p.numbers = true
		return
	}
	p.risky = p.risky || slices.ContainsFunc(m.tags, func(t string) bool { return is("effects", t) }) ||
		!slices.Contains(harmless, m.kind)
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
		m, _ := parseMeaning(field)
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
		p.acts = p.acts || hasEffect(m)
	}
}

// find returns the index of a long option, or where it would be.
func (p *program) find(text string) (i int, ok bool) {
	return slices.BinarySearchFunc(p.long, text,
		func(s spelling, t string) int { return strings.Compare(s.text, t) })
}

// exact finds a long option written in full, perhaps with =value.
func (p *program) exact(text string) *option {
	name, _, _ := strings.Cut(text, "=")
	if i, ok := p.find(name); ok {
		return &p.options[p.long[i].option]
	}
	return nil
}

// option finds a long option, perhaps abbreviated.
func (p *program) option(text string) *option {
	if i, _ := p.find(text); i < len(p.long) && (p.long[i].text == text || !p.words && len(text) > 2 &&
		strings.HasPrefix(p.long[i].text, text)) {
		return &p.options[p.long[i].option]
	}
	return nil
}
