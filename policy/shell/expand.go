package shell

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// maxFields is how many words one word may become.
const maxFields = 4096

// expansion turns one word into those that a command gets, as bash does. The text of a dynamic word is a
// guess.
type expansion struct {
	sh        *shell
	outputs   map[*syntax.CmdSubst]*sink
	pipes     map[*syntax.ProcSubst]string
	split     bool // split into words, as arguments are; values of variables are not
	inner     bool // in the word of ${x:-word}, where literal text is split, too
	ambiguous bool // parser and bash may disagree about the end of ${}
	words     []word
	current   wordBuilder
}

// quoting is what stands around a part of a word.
type quoting uint8

const (
	unquoted quoting = iota
	quoted           // double quotes
	document         // a here-document
)

// fields returns the words that one word becomes.
func (sh *shell) fields(w *syntax.Word) []word {
	if s, ok := plainText(w); ok {
		return []word{literal(s)}
	}
	x := sh.expansion(w)
	x.split = true
	words, sure := braced(w)
	sure = sure && (len(words) < 2 || !sh.posix)
	if words == nil {
		sh.a.exceed()
		return nil
	}
	for i, w := range words {
		if !sh.a.spend(i / 16) {
			return nil
		}
		x.addParts(w.Parts, unquoted)
		x.endWord()
	}
	if len(x.words) > maxFields || !sh.a.spend(len(x.words)*len(x.words)/32) {
		sh.a.exceed()
		return nil
	}
	for i := range x.words {
		x.words[i].Dynamic = x.words[i].Dynamic || !sure || x.ambiguous
	}
	return x.words
}

// text expands a word that is not split: a here-string, the value of a variable.
func (sh *shell) text(w *syntax.Word) word {
	if s, ok := plainText(w); ok {
		return literal(s)
	}
	if w == nil {
		return word{}
	}
	x := sh.expansion(w)
	x.current.exists = true
	x.addParts(w.Parts, unquoted)
	x.endWord()
	x.words[0].Dynamic = x.words[0].Dynamic || x.ambiguous
	return x.words[0]
}

// document returns the text of a here-document. A quoted delimiter leaves it unexpanded.
func (sh *shell) document(r *syntax.Redirect) word {
	x := sh.expansion(r.Hdoc)
	x.current.exists = true
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, "\\") {
			for _, p := range r.Hdoc.Parts {
				l, ok := p.(*syntax.Lit)
				if !ok {
					return unknownWord("")
				}
				x.put(literal(l.Value), quoted)
			}
			x.endWord()
			return x.words[0]
		}
	}
	x.addParts(r.Hdoc.Parts, document)
	x.endWord()
	x.words[0].Dynamic = x.words[0].Dynamic || x.ambiguous
	return x.words[0]
}

func (x *expansion) addParts(list []syntax.WordPart, q quoting) {
	for i, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			last := i == len(list)-1
			// a $ that stands for itself
			x.ambiguous = x.ambiguous || strings.Contains(escaped.ReplaceAllString(p.Value, ""), "$") &&
				!(q == quoted && last)
			x.addLiteral(p.Value, q, i == 0, last)
		case *syntax.SglQuoted:
			s, ok := p.Value, true
			if p.Dollar {
				s, ok = unescape(s)
			}
			// else the shell does not take them as quotes
			ok = ok && q == unquoted && !(p.Dollar && x.sh.posix)
			x.put(word{Word: program.Word{Text: s, Dynamic: !ok}}, quoted)
		case *syntax.DblQuoted:
			if p.Dollar || q != unquoted || len(p.Parts) == 0 { // a translation; quotes in quotes
				x.put(word{Word: program.Word{Dynamic: p.Dollar || q != unquoted}}, quoted)
			}
			x.addParts(p.Parts, quoted)
		case *syntax.ParamExp:
			x.parameter(p, q)
		case *syntax.CmdSubst:
			x.put(x.outputOf(p), q)
		case *syntax.ArithmExp:
			x.put(unknownNumber().word, q)
		case *syntax.ProcSubst:
			x.put(literal(x.pipes[p]), quoted)
		default:
			x.put(unknownWord(""), quoted)
		}
	}
}

// addLiteral adds literal text. first and last tell its position in the word.
func (x *expansion) addLiteral(s string, q quoting, first, last bool) {
	if q == unquoted {
		s = x.tilde(s, first, last)
	}
	special := "$`\"\\\n"
	if q == document {
		special = "$`\\\n"
	}
	for s != "" {
		before, after, found := strings.Cut(s, "\\")
		switch {
		case q != unquoted || x.inner:
			x.put(literal(before), min(q, quoted))
		case before != "":
			x.current.mark(before)
			x.current.add(literal(before))
		}
		if !found {
			return
		}
		n := 0
		switch {
		case strings.HasPrefix(after, "\n"):
			n = 1
		case after == "" || q != unquoted && strings.IndexByte(special, after[0]) < 0:
			x.put(word{Word: program.Word{Text: `\`, Dynamic: x.inner}}, quoted)
		default:
			_, n = utf8.DecodeRuneInString(after)
			x.put(word{Word: program.Word{Text: after[:n], Dynamic: x.inner && q != unquoted}}, quoted)
		}
		s = after[n:]
	}
}

// tilde adds the folder of a leading ~ and returns the rest. Some shells also expand it behind : and =.
func (x *expansion) tilde(s string, first, last bool) string {
	if !strings.Contains(s, "~") {
		return s
	}
	x.current.Dynamic = x.current.Dynamic || strings.Contains(s, ":~") || strings.Contains(s, "=~") || !first
	name, rest, slash := strings.Cut(s, "/")
	x.current.Dynamic = x.current.Dynamic || strings.HasPrefix(s, "~") && strings.Contains(name, ":")
	if !first || s[0] != '~' || !slash && !last || strings.ContainsAny(name, "\\*?[:") {
		return s
	}
	x.put(x.sh.homeOf(name[1:]), quoted)
	if slash {
		return "/" + rest
	}
	return ""
}

// homeOf returns the folder of ~name.
func (sh *shell) homeOf(name string) word {
	switch name {
	case "":
		v, _ := sh.get("HOME")
		return v.word
	case "root":
		return literal("/root")
	case "+", "-":
		return unknownWord(sh.dir.path)
	}
	return unknownWord("/home/" + name)
}

// outputOf returns what a substitution has printed.
func (x *expansion) outputOf(c *syntax.CmdSubst) word {
	out := x.outputs[c]
	if out == nil {
		return unknownWord("")
	}
	w := literal(strings.TrimRight(out.text.String(), "\n"))
	w.Dynamic = !out.known || strings.Contains(w.Text, "\x00")
	w.from, w.number, w.Fits = out.from, out.number, out.fits
	return w
}

// plainText returns the text of a word without expansions.
func plainText(w *syntax.Word) (string, bool) {
	if w == nil || len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, "\\*?[{~")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	}
	return "", false
}

// onlyExpansions reports whether a word consists of unquoted expansions.
func onlyExpansions(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
		default:
			return false
		}
	}
	return true
}

// escaped matches a backslash and the character behind it.
var escaped = regexp.MustCompile(`(?s)\\.`)
