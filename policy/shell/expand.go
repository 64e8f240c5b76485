package shell

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// maxFields bounds how many words one word may become.
const maxFields = 4096

// expansion turns one word into those that a command gets. Each is what bash makes of it,
// or it is unknown; then its text is a guess.
type expansion struct {
	sh      *shell
	outputs map[*syntax.CmdSubst]*sink
	pipes   map[*syntax.ProcSubst]string
	split   bool // into words, as arguments are; values of variables are not
	inner   bool // inside of ${x:-word}, where what is written is split, too
	odd     bool // parser and bash may see the end of ${} elsewhere
	done    []word
	now     field
}

// quoting is what stands around a part of a word.
type quoting uint8

const (
	unquoted quoting = iota
	quoted           // double quotes
	document         // a here-document
)

// fields are the words that one word becomes.
func (sh *shell) fields(w *syntax.Word) []word {
	if s, ok := plain(w); ok {
		return []word{literal(s)}
	}
	x := sh.expansion(w)
	x.split = true
	words, sure := braced(w)
	sure = sure && (len(words) < 2 || !sh.plain)
	if words == nil {
		sh.a.script.OverBudget = true
		return nil
	}
	for i, w := range words {
		if !sh.a.spend(i / 16) {
			return nil
		}
		x.parts(w.Parts, unquoted)
		x.end()
	}
	if len(x.done) > maxFields || !sh.a.spend(len(x.done)*len(x.done)/32) {
		sh.a.script.OverBudget = true
		return nil
	}
	for i := range x.done {
		x.done[i].Dynamic = x.done[i].Dynamic || !sure || x.odd
	}
	return x.done
}

// text is a word that is not split: a here-string, the value of a variable.
func (sh *shell) text(w *syntax.Word) word {
	if s, ok := plain(w); ok {
		return literal(s)
	}
	if w == nil {
		return word{}
	}
	x := sh.expansion(w)
	x.now.some = true
	x.parts(w.Parts, unquoted)
	x.end()
	x.done[0].Dynamic = x.done[0].Dynamic || x.odd
	return x.done[0]
}

// document is the text of a here-document. With a quoted delimiter it is taken as it is.
func (sh *shell) document(r *syntax.Redirect) word {
	x := sh.expansion(r.Hdoc)
	x.now.some = true
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, "\\") {
			for _, p := range r.Hdoc.Parts {
				l, ok := p.(*syntax.Lit)
				if !ok {
					return guessed("")
				}
				x.put(literal(l.Value), quoted)
			}
			x.end()
			return x.done[0]
		}
	}
	x.parts(r.Hdoc.Parts, document)
	x.end()
	x.done[0].Dynamic = x.done[0].Dynamic || x.odd
	return x.done[0]
}

// parts adds parts of a word.
func (x *expansion) parts(list []syntax.WordPart, q quoting) {
	for i, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			last := i == len(list)-1
			// a $ that stands for itself
			x.odd = x.odd || strings.Contains(escaped.ReplaceAllString(p.Value, ""), "$") &&
				!(q == quoted && last)
			x.written(p.Value, q, i == 0, last)
		case *syntax.SglQuoted:
			s, ok := p.Value, true
			if p.Dollar {
				s, ok = unescape(s)
			}
			// else the shell does not take them as quotes
			ok = ok && q == unquoted && !(p.Dollar && x.sh.plain)
			x.put(word{Word: program.Word{Text: s, Dynamic: !ok}}, quoted)
		case *syntax.DblQuoted:
			if p.Dollar || q != unquoted || len(p.Parts) == 0 { // a translation; quotes in quotes
				x.put(word{Word: program.Word{Dynamic: p.Dollar || q != unquoted}}, quoted)
			}
			x.parts(p.Parts, quoted)
		case *syntax.ParamExp:
			x.parameter(p, q)
		case *syntax.CmdSubst:
			x.put(x.output(p), q)
		case *syntax.ArithmExp:
			x.put(counted().word, q)
		case *syntax.ProcSubst:
			x.put(literal(x.pipes[p]), quoted)
		default:
			x.put(guessed(""), quoted)
		}
	}
}

// written adds what is written out. First and last tell where it stands in its word.
func (x *expansion) written(s string, q quoting, first, last bool) {
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
			x.now.mark(before)
			x.now.add(literal(before))
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

// tilde adds the folder that ~ at the start of a text stands for, and gives the rest.
// Behind : and = it may be expanded as well.
func (x *expansion) tilde(s string, first, last bool) string {
	if !strings.Contains(s, "~") {
		return s
	}
	x.now.Dynamic = x.now.Dynamic || strings.Contains(s, ":~") || strings.Contains(s, "=~") || !first
	name, rest, slash := strings.Cut(s, "/")
	x.now.Dynamic = x.now.Dynamic || strings.HasPrefix(s, "~") && strings.Contains(name, ":")
	if !first || s[0] != '~' || !slash && !last || strings.ContainsAny(name, "\\*?[:") {
		return s
	}
	x.put(x.sh.homeOf(name[1:]), quoted)
	if slash {
		return "/" + rest
	}
	return ""
}

// homeOf is the folder that ~ with a name stands for.
func (sh *shell) homeOf(name string) word {
	switch name {
	case "":
		v, _ := sh.get("HOME")
		return v.word
	case "root":
		return literal("/root")
	case "+", "-":
		return guessed(sh.dir.path)
	}
	return guessed("/home/" + name)
}

// output is what a substitution has printed.
func (x *expansion) output(c *syntax.CmdSubst) word {
	out := x.outputs[c]
	if out == nil {
		return guessed("")
	}
	w := literal(strings.TrimRight(out.text.String(), "\n"))
	w.Dynamic = !out.known || strings.Contains(w.Text, "\x00")
	w.from, w.number, w.Fits = out.from, out.number, out.fits
	return w
}

// plain is the text of a word in which there is nothing to expand.
func plain(w *syntax.Word) (string, bool) {
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

// bare tells whether a word consists of unquoted expansions only.
func bare(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
		default:
			return false
		}
	}
	return true
}

// escaped is what stands behind a backslash, with it.
var escaped = regexp.MustCompile(`(?s)\\.`)
