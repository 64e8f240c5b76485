package shell

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces is how many braces of a word are expanded.
const maxBraces = 64

// clearBraces matches braces that the library and each bash from 3.2 on expand alike: no leading zeros, no
// steps.
var clearBraces = regexp.MustCompile(`\{([\w./@%+:*?=-]*(,[\w./@%+:*?=-]*)+|` +
	`(0|-?[1-9]\d{0,8})\.\.(0|-?[1-9]\d{0,8})|[a-z]\.\.[a-z]|[A-Z]\.\.[A-Z])\}`)

// braced returns the words that braces make of one; nil: too many. sure is false where bash may see other
// braces, or takes $x{a,b} as the variables xa and xb.
func braced(w *syntax.Word) (list []*syntax.Word, sure bool) {
	opened, lists := 0, false
	sure = true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			opened += strings.Count(p.Value, "{")
			lists = lists || strings.Contains(p.Value, ",") || strings.Contains(p.Value, "..")
			text := strings.TrimPrefix(p.Value, "~/")
			for clearBraces.MatchString(text) { // the innermost first
				text = clearBraces.ReplaceAllString(text, "")
			}
			sure = sure && !strings.ContainsAny(text, `{}$\~`)
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

var escapes = regexp.MustCompile(`(?s)\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.|$)`)

// unescape returns the text of $'…'. ok is false where that depends on the locale or the version of bash.
func unescape(s string) (text string, ok bool) {
	ok = true
	text = escapes.ReplaceAllStringFunc(s, func(e string) string {
		if i := strings.Index(`abeEfnrtv\'"?`, e[1:]); i >= 0 && len(e) == 2 {
			return "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[i : i+1]
		}
		digits, base := e[1:], 8
		if after, hex := strings.CutPrefix(digits, "x"); hex {
			digits, base = after, 16
		}
		n, err := strconv.ParseUint(digits, base, 16)
		ok = ok && err == nil && n > 0 && n < 0x7f
		return string(rune(n))
	})
	return text, ok
}
