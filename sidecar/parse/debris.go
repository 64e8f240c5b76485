package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Debris is the sign that s ends with; false where it ends a sentence, quotes, or is a letter.
func Debris(s string) (n int, ok bool) {
	r, n := utf8.DecodeLastRuneInString(s)
	return n, r != utf8.RuneError && !unicode.IsLetter(r) && !unicode.IsSpace(r) &&
		!strings.ContainsRune(".,;!?`\"'“”„«»{}()。，；！？", r)
}

// Trail is the end of the debris behind v[:end]: strange signs, up to the end of the line, and fewer bytes
// than most.
func Trail(v string, end, most int, eof bool) (behind int, is scan.Verdict) {
	i := end
	for i < len(v) && i-end < most {
		r, n := utf8.DecodeRuneInString(v[i:])
		switch {
		case !utf8.FullRuneInString(v[i:]) && !eof:
			return 0, scan.Wait
		case r == '\n' || r == '\r':
			return i, scan.Yes
		case r == '<' || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,;!?\"'`{(", r):
			return end, scan.Yes
		}
		i += n
	}
	if i == len(v) {
		if !eof {
			return 0, scan.Wait
		}
		return i, scan.Yes
	}
	return end, scan.Yes
}
