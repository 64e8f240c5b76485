package shell

import (
	"errors"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/policy/program"
)

// maxFields bounds how many words one word may become, and maxBraces in how many braces:
// each of the words costs the square of them.
const (
	maxFields = 4096
	maxBraces = 64
)

// fields are the words that one word becomes.
func (sh *shell) fields(w *syntax.Word) []word {
	if s, ok := plain(w); ok {
		return []word{literal(s)}
	}
	x := sh.expansion(w)
	if braces(w) > maxBraces {
		sh.a.script.OverBudget = true
		return nil
	}
	bare, pattern := bare(w), patterned(w)
	var texts []string
	x.try(w, func(cfg *expand.Config) error {
		seq := expand.FieldsSeq(cfg, w)
		x.unknown, x.glob = false, false // it has asked for IFS and PWD for its own use
		for s, err := range seq {
			if err != nil {
				return err
			}
			if texts = append(texts, s); len(texts) > maxFields || !sh.a.spend(len(texts)/16) {
				sh.a.script.OverBudget = true
				return errors.New("too many words")
			}
		}
		return nil
	})
	if len(texts) == 1 && texts[0] == "" && sh.noArguments(w) {
		texts = nil // "$@" is no word at all
	}
	if len(texts) == 0 && x.unknown {
		texts = []string{""}
	}
	out := make([]word, len(texts))
	for i, s := range texts {
		out[i] = word{Word: program.Word{Text: s, Dynamic: x.unknown, Glob: (pattern || x.glob) && strings.ContainsAny(s, "*?[")}, from: x.from, bare: bare}
	}
	if x.unknown && len(out) == 1 {
		out[0].start = sh.beginning(w.Parts, out[0].Text)
		out[0].Begins = out[0].start > 0
		sh.shape(&out[0], w, x)
	}
	return out
}

// noArguments tells whether a word is "$@", where there are none.
func (sh *shell) noArguments(w *syntax.Word) bool {
	if len(w.Parts) != 1 || len(sh.args) > 0 || sh.open {
		return false
	}
	q, ok := w.Parts[0].(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Short && p.Param != nil && p.Param.Value == "@"
}

// braces is how many braces a word opens outside of quotes.
func braces(w *syntax.Word) (n int) {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			n += strings.Count(l.Value, "{")
		}
	}
	return n
}

// text is a word that is not split: the value of an assignment, the target of a
// redirection.
func (sh *shell) text(w *syntax.Word) word {
	if s, ok := plain(w); ok {
		return literal(s)
	}
	if w == nil {
		return word{}
	}
	x := sh.expansion(w)
	var s string
	x.try(w, func(cfg *expand.Config) (err error) {
		s, err = expand.Literal(cfg, unescaped(w))
		return err
	})
	glob := (patterned(w) || x.glob) && strings.ContainsAny(s, "*?[")
	out := word{Word: program.Word{Text: s, Dynamic: x.unknown, Glob: glob}, from: x.from}
	if x.unknown {
		out.start = sh.beginning(w.Parts, s)
		sh.shape(&out, w, x)
	}
	return out
}

// unescaped is a word with quotes in the place of its backslashes, which the expansion
// of a word that is not split leaves in.
func unescaped(w *syntax.Word) *syntax.Word {
	out := &syntax.Word{}
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(l.Value, "\\") {
			out.Parts = append(out.Parts, p)
			continue
		}
		rest := l.Value
		for {
			before, after, found := strings.Cut(rest, "\\")
			if before != "" {
				out.Parts = append(out.Parts, &syntax.Lit{Value: before})
			}
			if !found {
				break
			}
			r, size := utf8.DecodeRuneInString(after)
			if r != '\n' {
				out.Parts = append(out.Parts, &syntax.SglQuoted{Value: after[:size]})
			}
			rest = after[size:]
		}
	}
	return out
}

// beginning is how many bytes of the text of a word come before all that is unknown.
func (sh *shell) beginning(parts []syntax.WordPart, text string) int {
	s, _ := sh.certain(parts)
	if !strings.HasPrefix(text, s) {
		return 0
	}
	return len(s)
}

// certain is what is known of parts, up to the first that is not.
func (sh *shell) certain(parts []syntax.WordPart) (text string, all bool) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			s, all := sh.certain(p.Parts)
			if text += s; !all {
				return text, false
			}
		case *syntax.ParamExp:
			if !p.Short || p.Param == nil {
				return text, false
			}
			v, ok := sh.get(p.Param.Value)
			if !ok || v.unknown || v.Kind != expand.String {
				return text, false
			}
			text += v.Str
		default:
			return text, false
		}
	}
	return text, true
}

// document is the text of a here-document. With a quoted delimiter it is taken as it is.
func (sh *shell) document(r *syntax.Redirect) word {
	quoted := false
	for _, p := range r.Word.Parts {
		l, ok := p.(*syntax.Lit)
		quoted = quoted || !ok || strings.Contains(l.Value, "\\")
	}
	var s strings.Builder
	if quoted {
		for _, p := range r.Hdoc.Parts {
			l, ok := p.(*syntax.Lit)
			if !ok {
				return word{Word: program.Word{Dynamic: true}}
			}
			s.WriteString(l.Value)
		}
		return literal(s.String())
	}
	x := sh.expansion(r.Hdoc)
	x.try(r.Hdoc, func(cfg *expand.Config) error {
		t, err := expand.Document(cfg, r.Hdoc)
		s.WriteString(t)
		return err
	})
	return word{Word: program.Word{Text: s.String(), Dynamic: x.unknown}, from: x.from}
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
		return p.Value, !p.Dollar && !subscript().MatchString(p.Value)
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

// patterned tells whether a word holds a pattern, or a variable that could, unquoted.
func patterned(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				switch p.Value[i] {
				case '\\':
					i++
				case '*', '?', '[':
					return p.Value != "["
				}
			}
		case *syntax.ExtGlob, *syntax.ParamExp, *syntax.CmdSubst:
			return true
		}
	}
	return false
}
