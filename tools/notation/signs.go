package notation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// signs reads the punctuation of other scripts where JSON has its own: full-width brackets, 「quotes」,
// blanks that cannot be seen, and template literals of JavaScript.
func signs(s string) []string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch closers := closersOf(r); {
		case r == '"':
			end := stringEnd(s, i)
			if end < 0 {
				return nil
			}
			out = append(out, s[i:end]...)
			i = end
		case closers != "":
			body, n, ok := quoted(s[i+size:], r, closers)
			if !ok {
				return nil
			}
			out = jsontext.AppendString(out, body)
			i += size + n
		default:
			out = append(out, signOf(r)...)
			i += size
		}
	}
	return only(string(out), s, true)
}

// closersOf is what can close a text that r opens; it is empty where r opens none. Each pair has
// marks of its own, but for ' and its relatives: they stand in words, too.
func closersOf(r rune) string {
	switch r {
	case '“', '”':
		return "”"
	case '„', '‟':
		return "“”‟"
	case '〝':
		return "〞〟"
	case '「':
		return "」"
	case '『':
		return "』"
	case '｢':
		return "｣"
	case '«':
		return "»"
	case '»':
		return "«"
	case '‹':
		return "›"
	case '《':
		return "》"
	case '❝':
		return "❞"
	case '＂':
		return "＂"
	case '`':
		return "`"
	}
	return ""
}

// quoted returns the text up to the first closing mark of s, and the length of both. It is false
// where a mark in it could be another end, or where a backslash may be an escape or not.
func quoted(s string, open rune, closers string) (body string, n int, ok bool) {
	end := strings.IndexAny(s, closers)
	if end < 0 {
		return "", 0, false
	}
	_, size := utf8.DecodeRuneInString(s[end:])
	body = s[:end]
	if strings.ContainsRune(body, open) || strings.Contains(body, `\`) {
		return "", 0, false
	}
	if open == '`' {
		// In one line they may be a shell's: what they enclose is run.
		return body, end + size, strings.Contains(body, "\n") && !strings.Contains(body, "${")
	}
	return body, end + size, !strings.ContainsAny(body, `"“”„＂`)
}

// signOf is the sign of JSON that r stands for, or r itself.
func signOf(r rune) string {
	switch r {
	case '｛':
		return "{"
	case '｝':
		return "}"
	case '［', '【':
		return "["
	case '］', '】':
		return "]"
	case '：', '︰', '﹕':
		return ":"
	case '，', '、', '､', '﹐', '،', ';', '；', '؛', '﹔':
		return ","
	case '－', '−':
		return "-"
	case '．', '٫':
		return "."
	}
	if n, ok := jsontext.Digit(r); ok {
		return string('0' + rune(n))
	}
	if isBlank(r) && !strings.ContainsRune(" \n\t\r", r) {
		return " "
	}
	return string(r)
}

// isBlank reports whether r is a blank, or cannot be seen. What begins a colour can.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) && r != '\x1b' || unicode.Is(unicode.Cf, r)
}
