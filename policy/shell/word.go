package shell

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// word is an argument, with the programs that its text came from.
type word struct {
	program.Word
	from  []string
	start int  // how many bytes of Text surely stand at its beginning, where it is dynamic
	bare  bool // nothing is left of it where what it holds is empty
}

func literal(text string) word { return word{Word: program.Word{Text: text}} }

// vague tells whether a word can stand for any number of words.
func (w word) vague() bool { return w.Dynamic || w.Glob }

func (w word) value() value {
	v := known(w.Text)
	v.unknown, v.glob, v.from, v.fits = w.Dynamic, w.Glob, w.from, w.Fits
	return v
}

func (v value) word() word {
	return word{Word: program.Word{Text: v.Str, Dynamic: v.unknown, Glob: v.glob && strings.ContainsAny(v.Str, "*?["), Fits: v.fits}, from: v.from}
}

// anyOf is a word that can be any of a list.
func anyOf(list []word) word {
	w := word{Word: program.Word{Dynamic: true}}
	for _, x := range list {
		w.from = join(w.from, x.from)
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
	program bool // functions and builtins do not count: command, sudo, xargs
}

func (c call) args() []word { return c.words[1:] }
