package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// maxBraces is in how many braces a word may be expanded.
const maxBraces = 64

// clear are braces of which bash and the library surely make the same.
var clear = lazyregexp.New(`\{([\w/@%+:-]*(,[\w/@%+:-]*)+|[1-9]\d*\.\.[1-9]\d*|[a-z]\.\.[a-z])\}`)

// braced are the words that braces make of one; nil: too many. It is not sure where bash
// may see other braces, or takes $x{a,b} as the variables xa and xb.
func braced(w *syntax.Word) (list []*syntax.Word, sure bool) {
	opened, lists := 0, false
	sure = true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			opened += strings.Count(p.Value, "{")
			lists = lists || strings.Contains(p.Value, ",") || strings.Contains(p.Value, "..")
			text := strings.TrimPrefix(p.Value, "~/")
			sure = sure && !strings.ContainsAny(clear().ReplaceAllString(text, ""), `{}$\~`)
		case *syntax.ParamExp:
			sure = sure && !p.Short
		}
	}
	switch {
	case opened == 0 || !lists:
		return []*syntax.Word{w}, true
	case opened > maxBraces:
		return nil, false
	}
	split := &syntax.Word{Parts: append([]syntax.WordPart{}, w.Parts...)}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, false
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if list = append(list, one); err != nil || len(list) > maxFields {
			return nil, false
		}
	}
	return list, sure
}
