package harmony

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// entities are the names of signs in HTML.
var entities = [...]struct {
	name string
	sign byte
}{{"lt", '<'}, {"gt", '>'}, {"vert", '|'}, {"verbar", '|'}, {"VerticalLine", '|'}, {"LT", '<'}, {"GT", '>'}}

// char is the ASCII character that s begins with, in whatever spelling, and its bytes. more
// says that s is too short to tell. It is 0 where that is none.
func (a *Alphabet) char(s string) (b byte, n int, more bool) {
	if s == "" {
		return 0, 0, true
	}
	switch c := s[0]; {
	case c == '&':
		return entity(s)
	case c == '\\':
		return escape(s)
	case c == '%':
		return number(s, 1, 2)
	case c < utf8.RuneSelf:
		return c, 1, false
	case !utf8.FullRuneInString(s):
		return 0, 0, true
	}
	r, size := utf8.DecodeRuneInString(s)
	if wide := '！'; r >= wide && r <= '～' { // the full-width forms of ! to ~
		return byte(r-wide) + '!', size, false
	}
	return a.alike[r], size, false
}

// entity reads &lt; &#60; &#x3c; and the same with the & as &amp;
func entity(s string) (b byte, n int, more bool) {
	rest := s[1:]
	if strings.HasPrefix(rest, "amp;") {
		rest = rest[len("amp;"):]
	} else if strings.HasPrefix("amp;", rest) {
		return 0, 0, true
	}
	skipped := len(s) - len(rest)
	const longest = 12
	end := strings.IndexByte(rest[:min(len(rest), longest)], ';')
	if end < 0 {
		return 0, 0, len(rest) < longest && entityLike(rest)
	}
	name := rest[:end]
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if hex := strings.TrimLeft(digits, "xX"); hex != digits {
			digits, base = hex, 16
		}
		code, err := strconv.ParseUint(digits, base, 7)
		if err != nil {
			return 0, 0, false
		}
		return byte(code), skipped + end + 1, false
	}
	for _, e := range entities {
		if e.name == name {
			return e.sign, skipped + end + 1, false
		}
	}
	return 0, 0, false
}

// entityLike says that s may go on as an entity does.
func entityLike(s string) bool {
	if strings.HasPrefix(s, "#") {
		return strings.Trim(s[1:], "xX0123456789abcdefABCDEF") == ""
	}
	for _, e := range entities {
		if strings.HasPrefix(e.name, s) {
			return true
		}
	}
	return false
}

// escape reads \u003c, \x3c, and a sign that a backslash stands before; both also behind a
// second backslash.
func escape(s string) (b byte, n int, more bool) {
	i := 1
	if len(s) > 1 && s[1] == '\\' {
		i = 2
	}
	switch {
	case len(s) == i:
		return 0, 0, true
	case s[i] == 'u':
		return number(s, i+1, 4)
	case s[i] == 'x':
		return number(s, i+1, 2)
	case strings.IndexByte("<|>", s[i]) >= 0:
		return s[i], i + 1, false
	}
	return 0, 0, false
}

// number reads a character's number in hexadecimal digits at s[i:].
func number(s string, i, digits int) (b byte, n int, more bool) {
	end := i + digits
	if len(s) < end {
		return 0, 0, strings.Trim(s[i:], "0123456789abcdefABCDEF") == ""
	}
	code, err := strconv.ParseUint(s[i:end], 16, 16)
	if err != nil || code >= utf8.RuneSelf {
		return 0, 0, false
	}
	return byte(code), end, false
}
