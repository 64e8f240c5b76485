package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is in how many braces a word may be expanded.
const maxBraces = 64

// braced are the words that braces make of one; nil: too many. It is not sure where bash
// may see other braces, or takes $x{a,b} as the variables xa and xb.
func braced(w *syntax.Word) (list []*syntax.Word, sure bool) {
	opened, closed, short, lists := 0, 0, false, false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			opened += strings.Count(p.Value, "{")
			closed += strings.Count(p.Value, "}")
			lists = lists || strings.Contains(p.Value, ",") || strings.Contains(p.Value, "..")
			short = short || strings.Contains(p.Value, "$")
		case *syntax.ParamExp:
			short = short || p.Short
		}
	}
	switch {
	case opened == 0 || !lists:
		return []*syntax.Word{w}, true
	case opened > maxBraces:
		return nil, false
	}
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, false
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if list = append(list, one); err != nil || len(list) > maxFields {
			return nil, false
		}
	}
	first, _ := split.Parts[0].(*syntax.Lit)
	tilde := first != nil && strings.HasPrefix(first.Value, "~") && !strings.Contains(first.Value, "/")
	return list, opened == closed && !short && !tilde && plainBraces(split)
}

// plainBraces tells whether all braces are lists of words, or sequences such as {1..9}.
func plainBraces(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\{}`) {
				return false
			}
		case *syntax.BraceExp:
			for _, e := range p.Elems {
				s := e.Lit()
				if p.Sequence && (len(p.Elems) > 2 || len(s) > 1 && strings.ContainsAny(s[:1], "0-+") || len(s) == 1 && (s[0] >= 'a') != (p.Elems[0].Lit() >= "a")) || !plainBraces(e) || strings.Contains(written(e.Parts), "~") {
					return false
				}
			}
		}
	}
	return true
}
