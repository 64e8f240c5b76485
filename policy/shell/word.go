package shell

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// word is an argument, with the programs that its text came from.
type word struct {
	program.Word
	from   []string
	start  int  // how many bytes of Text surely stand at its beginning, where it is dynamic
	number bool // it surely is one
	splits bool // an expansion in it can become several words
}

func literal(text string) word { return word{Word: program.Word{Text: text}} }

// guessed is a word of which nothing is known. It may be the text.
func guessed(text string) word { return word{Word: program.Word{Text: text, Dynamic: true}} }

// vague tells whether a word can stand for any number of words.
func (w word) vague() bool { return w.Dynamic || w.Glob }

// blurred is a word of which nothing is certain any more.
func (w word) blurred() word {
	w.Dynamic, w.Begins, w.start, w.Fits, w.number = true, false, 0, "", false
	return w
}

// isNumber tells whether arithmetic may take a word: it is a number, or made of numbers.
func (w word) isNumber() bool { return w.number || !w.vague() && sums.MatchString(w.Text) }

var sums = regexp.MustCompile(`^[-0-9+*/%()<>=!&|^~?: #]*$`)

// value is what a variable holds, and what is known of its name.
type value struct {
	word
	set   bool
	array bool
	list  []word // of an array
	traits
}

// traits are what export and declare say of a name. They stay when it gets another value.
type traits struct {
	fixed   bool // readonly
	integer bool // what is assigned is evaluated
	keyed   bool // an associative array
	odd     bool // what is assigned is changed, or goes elsewhere: declare -u -n
}

func known(s string) value { return value{word: literal(s), set: true} }

func unknown(guess string) value { return value{word: guessed(guess), set: true} }

// counted is a number that is not known.
func counted() value {
	v := unknown("")
	v.number, v.Fits = true, "*"
	return v
}

// same tells whether two values are surely the same.
func (v value) same(w value) bool {
	if v.set != w.set || v.array != w.array || v.traits != w.traits || v.Word != w.Word ||
		len(v.list) != len(w.list) || v.Dynamic {
		return false
	}
	for i := range v.list {
		if v.list[i].Dynamic || v.list[i].Word != w.list[i].Word {
			return false
		}
	}
	return true
}

// anyOf is a word that can be any of a list.
func anyOf(list []word) word {
	w := word{Word: program.Word{Dynamic: true}, number: len(list) > 0}
	for _, x := range list {
		w.from = join(w.from, x.from)
		w.number = w.number && x.isNumber()
	}
	return w
}

// joined is the text that eval and its like make of words.
func joined(words []word) word {
	var w word
	texts := make([]string, len(words))
	for i, x := range words {
		texts[i] = x.Text
		w.Dynamic = w.Dynamic || x.Dynamic
		w.from = join(w.from, x.from)
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

// withOrigin gives words of the table their origin back: that of all arguments, which
// they were taken from.
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
	program bool // functions and builtins do not count: command, sudo, xargs
}

func (c call) args() []word { return c.words[1:] }
