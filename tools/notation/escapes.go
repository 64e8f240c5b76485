package notation

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// escapes reads the characters that JavaScript and Rust write \u{1F680}, and Python \U0001F634. Behind a
// quote in a text they may be those of a program that the text is: there it is unclear.
func escapes(s string) []string {
	if !strings.Contains(s, `\u{`) && !strings.Contains(s, `\U`) {
		return nil
	}
	text, ok := split(s, same, codePoints)
	return only(text, s, ok)
}

func codePoints(text string) (string, bool) {
	var b strings.Builder
	from, quoted := 1, false
	for i := 0; i < len(text); {
		quoted = quoted || from < i && strings.ContainsAny(text[from:i], "\"'`")
		from = max(from, i)
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		n, r, ok := codePoint(text[i:])
		switch {
		case !ok:
			b.WriteString(text[i : i+2])
			i += 2
		case quoted:
			return "", false
		default:
			b.WriteRune(r)
			i += n
		}
	}
	return b.String(), true
}

// codePoint is the character that an escape at the beginning of s stands for, and the length of the
// escape. Below a blank it is none: JSON has escapes for those.
func codePoint(s string) (n int, r rune, ok bool) {
	var digits string
	switch {
	case strings.HasPrefix(s, `\u{`):
		end := strings.IndexByte(s[:min(len(s), len(`\u{10FFFF}`))], '}')
		if end < 0 {
			return 0, 0, false
		}
		digits, n = s[3:end], end+1
	case strings.HasPrefix(s, `\U`) && len(s) >= len(`\U00000000`):
		digits, n = s[2:10], len(`\U00000000`)
	default:
		return 0, 0, false
	}
	code, err := strconv.ParseUint(digits, 16, 32)
	r = rune(code)
	return n, r, err == nil && code <= utf8.MaxRune && utf8.ValidRune(r) && r > ' ' && r != '"' && r != '\\'
}
