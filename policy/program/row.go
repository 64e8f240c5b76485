package program

import (
	"slices"
	"strings"
)

// Row describes a program, or one of its subcommands, in a rule file. The zero row does nothing with its
// arguments.
type Row struct {
	Letters     string   // one-letter flags without effect: afv
	Flags       string   // others: --quiet, --color|--colour with all spellings of one, -NUMBER for head -5
	Values      string   // options whose value has no effect; --color? has one only after an equals sign
	Options     []Option // options with an effect
	Operands    string   // what the arguments other than options are: read*, write
	Effects     string   // effects beyond its files: publish remote
	Enough      int      // number of operands that it needs; 0 means 1
	Alone       string   // effects with fewer
	Style       string   // how options are written; see styles
	Reader      string   // see readers
	OwnOptions  bool     // its options stand before a subcommand only
	StartsShell bool     // it starts a shell if it has no program to run
	Versioned   bool     // a version may follow the name: python3.11
	Prints      []Option // what its output is, and expressions of its words for which it is so; see Prints
	Usual       string   // an expression: harmless values of a variable, or of kind setting
	Subcommands []Named
}

// Option is an option and its meaning: write, or plain? publish. A bar separates spellings, -o|--output;
// blanks separate options of the same meaning.
type Option struct{ Names, Means string }

// Named is a row for names separated by blanks. For a subcommand, a bar separates spellings, install|i, and *
// at the end matches any ending.
type Named struct {
	Names string
	Row
}

// meaning is the parsed meaning of an option or operand.
type meaning struct {
	kind     string   // a word of the list kinds; empty: an option without a value
	tags     []string // and marks; no- takes one away
	optional bool     // the value is glued to the option, or absent
	repeats  bool     // the operand may occur more than once
	pair     bool     // a name stands between the option and its value
	first    bool     // the option replaces the first operand
}

// parseMeaning parses the words, and returns one that is unknown or in the wrong place.
func parseMeaning(words string) (m meaning, bad string) {
	for _, w := range strings.Fields(words) {
		name := strings.TrimRight(w, "?*")
		switch {
		case is("kinds", name) && m.kind == "":
			m.kind, m.optional, m.repeats = name, strings.HasSuffix(w, "?"), strings.HasSuffix(w, "*")
		case w == "pair":
			m.pair = true
		case w == "replaces-first":
			m.first = true
		case is("effects", strings.TrimPrefix(w, "no-")) || is("marks", strings.TrimPrefix(w, "no-")):
			m.tags = append(m.tags, w)
		default:
			bad = w
		}
	}
	return m, bad
}

// Flaw is a mistake in a row.
type Flaw struct {
	Key   string // letters, flags, values, options, operands, effects, alone, usual, style, reader
	Entry int    // of options and prints, from 0
	Word  string // as written
	Msg   string
	Known []string // correct words
}

// Check returns all mistakes in a row, except those in its subcommands.
func (r Row) Check() []Flaw {
	c := checker{seen: map[string]bool{}}
	for _, b := range r.Letters {
		c.spelling("letters", 0, string(b), "-"+string(b))
	}
	for _, names := range strings.Fields(r.Flags) {
		c.option("flags", 0, names)
	}
	for _, names := range strings.Fields(r.Values) {
		c.option("values", 0, strings.TrimSuffix(names, "?"))
	}
	for i, o := range r.Options {
		for _, names := range strings.Fields(o.Names) {
			c.option("options", i, names)
		}
		c.means("options", i, o.Means)
	}
	repeated := 0
	for _, o := range strings.Split(r.Operands, ",") {
		if c.means("operands", 0, o).repeats {
			repeated++
		}
	}
	if repeated > 1 {
		c.flaw("operands", 0, r.Operands, "only one kind of operands can repeat")
	}
	c.means("effects", 0, r.Effects)
	c.means("alone", 0, r.Alone)
	if _, err := compileUsual(r.Usual); err != nil {
		c.flaw("usual", 0, r.Usual, err.Error())
	}
	for i, p := range r.Prints {
		if !is("prints", p.Names) {
			c.flaw("prints", i, p.Names, p.Names+" is no kind of output", sorted("prints")...)
		} else if _, err := compilePrint(p.Means); err != nil {
			c.flaw("prints", i, p.Means, err.Error())
		}
	}
	c.known("style", r.Style, styles())
	c.known("reader", r.Reader, readers())
	return c.flaws
}

type checker struct {
	flaws []Flaw
	seen  map[string]bool
}

func (c *checker) flaw(key string, entry int, word, msg string, known ...string) {
	c.flaws = append(c.flaws, Flaw{key, entry, word, msg, known})
}

func (c *checker) option(key string, i int, names string) {
	for _, name := range strings.Split(names, "|") {
		if len(name) < 2 && name != "+" || name[0] != '-' && name[0] != '+' {
			c.flaw(key, i, name, name+" is no option, as it begins with no dash")
			continue
		}
		c.spelling(key, i, name, name)
	}
}

func (c *checker) spelling(key string, i int, word, name string) {
	if c.seen[name] {
		c.flaw(key, i, word, name+" stands here twice")
	}
	c.seen[name] = true
}

func (c *checker) means(key string, i int, words string) meaning {
	m, bad := parseMeaning(words)
	switch {
	case bad != "" && key != "effects" && key != "alone":
		c.flaw(key, i, bad, bad+" is no kind of value, and no effect", sorted("kinds", "effects", "marks")...)
	case bad != "" || m.kind != "" && (key == "effects" || key == "alone"):
		c.flaw(key, i, bad, bad+m.kind+" is no effect", sorted("effects", "marks")...)
	}
	return m
}

func (c *checker) known(key, word string, words []string) {
	if word != "" && !slices.Contains(words, word) {
		c.flaw(key, 0, word, "there is no "+key+" "+word, words...)
	}
}
