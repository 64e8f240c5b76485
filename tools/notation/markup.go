package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Begins reports whether text begins as markup does: a tag, a comment, a mark of a tokenizer, a brace
// of another script, or a key in quotes of any kind with its colon. So it is no text that a tool takes.
func Begins(text string) bool {
	text = strings.TrimLeftFunc(text, isBlank)
	r, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	switch {
	case r == '<':
		next, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsLetter(next) || strings.ContainsRune("/!?|｜", next) || strings.HasPrefix(rest, "0x")
	case strings.ContainsRune("▁ĠĊ｛［", r), strings.HasPrefix(text, "&lt;"), strings.HasPrefix(text, `\u003c`):
		return true
	case r == '{' || r == '[':
		inner := strings.TrimLeftFunc(rest, isBlank)
		return r == '{' && strings.HasPrefix(inner, `"`) || strings.HasPrefix(inner, "{")
	case isKeyMark(r):
		text = rest
	}
	n := strings.IndexFunc(text, func(r rune) bool { return !isWord(string(r)) })
	if n <= 0 {
		return false
	}
	r, size = utf8.DecodeRuneInString(text[n:])
	behind := strings.TrimLeftFunc(text[n+size:], isBlank)
	return isKeyMark(r) && (strings.HasPrefix(behind, ":") || strings.HasPrefix(behind, "：") ||
		strings.HasPrefix(behind, "=>"))
}

// isKeyMark reports whether r can stand around a key.
func isKeyMark(r rune) bool { return strings.ContainsRune("\"'`“”„＂「」『』«»", r) }

// Tagged reports whether text holds a tag that names a parameter: <parameter name="path">, <path>.
func Tagged(text string, isParam func(name string) bool) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "<")
		if !found {
			return false
		}
		head := after[:min(len(after), 128)]
		if m := namedTag.FindStringSubmatch("<" + head); m != nil && isParam(m[2]) {
			return true
		}
		if name, _, ok := openTag("<" + head); ok && isParam(name) {
			return true
		}
		rest = after
	}
}
