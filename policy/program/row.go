package program

import (
	"slices"
	"strings"
)

// Row is what a rule file says of a program, or of one of its subcommands. The zero row is
// a program that does nothing with its arguments.
type Row struct {
	Letters     string   // flags of one letter that do not matter: afv
	Flags       string   // others: --quiet, --color|--colour with all spellings of one, -NUMBER for head -5
	Values      string   // options whose value does not matter; --color? has it only after an equals sign
	Options     []Option // options that mean something
	Operands    string   // what the arguments that are no options are: read*, write
	Effects     string   // what it does beside its files: publish remote
	Enough      int      // as many operands as it needs; 0 is 1
	Alone       string   // what it does with fewer
	Style       string   // how options are written; see Styles
	Reader      string   // what reads the arguments, beside the row; see Readers
	OwnOptions  bool     // its options stand before a subcommand, and not after it
	StartsShell bool     // without a program to run it starts a shell
	Versioned   bool     // a version may follow the name: python3.11
	Usual       string   // an expression: values of a variable, or of kind setting, that are no question
	Subcommands []Named
}

// Option is an option and what it means: write, or plain? publish. Other spellings of it
// follow a bar, -o|--output. Several that mean the same have blanks between.
type Option struct{ Names, Means string }

// Named is a row for names with blanks between. For a subcommand, other spellings of the
// same one follow a bar, install|i, and a star at the end stands for any ending.
type Named struct {
	Names string
	Row
}

// meaning is what an option or operand means, taken apart.
type meaning struct {
	kind     string   // one of kindDocs; empty: an option without a value
	tags     []string // and marks; after no- one that is taken away
	optional bool     // the value is glued to the option, or there is none
	repeats  bool     // an operand that may stand more than once
	pair     bool     // a name stands between the option and its value
	first    bool     // the option stands in for the first operand
}

// means reads the words, and gives one that is unknown or stands in the wrong place.
func means(words string) (m meaning, bad string) {
	for _, w := range strings.Fields(words) {
		name := strings.TrimRight(w, "?*")
		switch {
		case kindDocs[name] != "" && m.kind == "":
			m.kind, m.optional, m.repeats = name, strings.HasSuffix(w, "?"), strings.HasSuffix(w, "*")
		case w == "pair":
			m.pair = true
		case w == "replaces-first":
			m.first = true
		case isTag(w) || markDocs[strings.TrimPrefix(w, "no-")] != "" || isTag(strings.TrimPrefix(w, "no-")):
			m.tags = append(m.tags, w)
		default:
			bad = w
		}
	}
	return m, bad
}

// isTag tells tags from marks and other words.
func isTag(t string) bool { return tagDocs[t] != "" }

// Flaw is what is wrong with a row.
type Flaw struct {
	Key   string // letters, flags, values, options, operands, effects, alone, usual, style, reader
	Entry int    // of options, from 0
	Word  string // as it stands there
	Msg   string
	Known []string // words that would have been right
}

// Check gives all that is wrong with a row, but not with its subcommands.
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
	if _, err := usual(r.Usual); err != nil {
		c.flaw("usual", 0, r.Usual, err.Error())
	}
	c.known("style", r.Style, Styles())
	c.known("reader", r.Reader, Readers())
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
	m, bad := means(words)
	known := slices.Concat(sorted(tagDocs), sorted(markDocs))
	switch {
	case bad != "" && key != "effects" && key != "alone":
		c.flaw(key, i, bad, bad+" is no kind of value, and no effect", append(Kinds(), known...)...)
	case bad != "" || m.kind != "" && (key == "effects" || key == "alone"):
		c.flaw(key, i, bad, bad+m.kind+" is no effect", known...)
	}
	return m
}

func (c *checker) known(key, word string, words []string) {
	if word != "" && !slices.Contains(words, word) {
		c.flaw(key, 0, word, "there is no "+key+" "+word, words...)
	}
}
