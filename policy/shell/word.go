package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// word is an argument, with the programs that wrote its text.
type word struct {
	program.Word
	from   []string
	start  int  // how many leading bytes of a dynamic Text are certain
	number bool // it is surely a number
	splits bool // an expansion in it can become several words
}

func literal(text string) word { return word{Word: program.Word{Text: text}} }

// unknownWord returns a word of which nothing is certain; text is a guess.
func unknownWord(text string) word { return word{Word: program.Word{Text: text, Dynamic: true}} }

// vague reports whether a word can stand for any number of words.
func (w word) vague() bool { return w.Dynamic || w.Glob }

// asUnknown returns a word of which nothing is certain any more.
func (w word) asUnknown() word {
	w.Dynamic, w.Begins, w.start, w.Fits, w.number = true, false, 0, "", false
	return w
}

// isNumber reports whether arithmetic may take a word: it is a number, or an expression of numbers.
func (w word) isNumber() bool { return w.number || !w.vague() && numberExpression.MatchString(w.Text) }

var numberExpression = regexp.MustCompile(`^[-0-9+*/%()<>=!&|^~?: #]*$`)

// value is what a variable holds, and what is known of its name.
type value struct {
	word
	set   bool
	array bool
	list  []word // of an array
	traits
}

// traits are attributes of a name from export and declare. They outlast its value.
type traits struct {
	readonly    bool
	transformed bool // what is assigned may be lost, or another value may come back
}

func known(s string) value { return value{word: literal(s), set: true} }

func unknown(guess string) value { return value{word: unknownWord(guess), set: true} }

func unknownNumber() value {
	v := unknown("")
	v.number, v.Fits = true, "*"
	return v
}

// equal reports whether two values are certainly the same.
func (v value) equal(w value) bool {
	return v.set == w.set && v.array == w.array && v.traits == w.traits && v.Word == w.Word && !v.Dynamic &&
		slices.EqualFunc(v.list, w.list, func(x, y word) bool { return !x.Dynamic && x.Word == y.Word })
}

// anyOf returns a word that can be any of a list.
func anyOf(list []word) word {
	w := word{Word: program.Word{Dynamic: true}, number: len(list) > 0}
	for _, x := range list {
		w.from = union(w.from, x.from)
		w.number = w.number && x.isNumber()
	}
	return w
}

// joinWords returns the text that eval makes of words.
func joinWords(words []word) word {
	var w word
	texts := make([]string, len(words))
	for i, x := range words {
		texts[i] = x.Text
		w.Dynamic = w.Dynamic || x.Dynamic
		w.from = union(w.from, x.from)
	}
	w.Text = strings.Join(texts, " ")
	return w
}

func texts(list []word) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.Text
	}
	return out
}

func programWords(list []word) []program.Word {
	out := make([]program.Word, len(list))
	for i, w := range list {
		out[i] = w.Word
		out[i].Many = w.splits && w.Dynamic && !w.number && w.Fits == ""
	}
	return out
}

func touched(e program.Effect, op paths.Op) (out []word) {
	for _, t := range e.Touches {
		if t.Op == string(op) {
			out = append(out, word{Word: t.Word})
		}
	}
	return out
}

// withOrigin gives words of the table an origin: that of all arguments, from which they were taken.
func withOrigin(list []program.Word, from []string) []word {
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = word{Word: w}
		if w.Dynamic || len(from) > 0 && strings.ContainsAny(w.Text, " \n;") {
			out[i].from = from
		}
	}
	return out
}

// call is a command with its words expanded, the name first.
type call struct {
	words   []word
	used    redirected
	listed  bool // its operands are names that another program has written
	program bool // functions and builtins do not count, as behind command, sudo and xargs
}

func (c call) args() []word { return c.words[1:] }
