package parse

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a text in quotes. Escapes mean the same in each language, or stop it. It ends in its line.
func (p *reader) text() string {
	from, quote := p.i, p.s[p.i]
	i := p.i + 1
	plain := i
	var b []byte
	for i < len(p.s) {
		switch c := p.s[i]; {
		case c == quote:
			p.i = i + 1
			if b == nil {
				return p.s[plain:i]
			}
			return string(append(b, p.s[plain:i]...))
		case c == '\n':
			p.fail(from)
			return ""
		case c == '\\':
			b = append(b, p.s[plain:i]...)
			r, n, ok := escape(p.s[i:])
			if !ok {
				if len(p.s)-i < maxEscape && !p.eof {
					p.short = true
				}
				p.fail(from)
				return ""
			}
			b = utf8.AppendRune(b, r)
			i += n
			plain = i
			continue
		}
		i++
	}
	p.short = true
	return ""
}

// maxEscape is how long an escape may be: two halves of a character.
const maxEscape = 12

// escape is the character that an escape stands for, and its length.
func escape(s string) (r rune, n int, ok bool) {
	if len(s) < 2 {
		return 0, 0, false
	}
	if i := strings.IndexByte(`"'\/nrtbfav0e`, s[1]); i >= 0 {
		if s[1] == '0' && len(s) > 2 && s[2] >= '0' && s[2] <= '7' { // octal: a byte, or a character
			return 0, 0, false
		}
		return rune("\"'\\/\n\r\t\b\f\a\v\x00\x1b"[i]), 2, true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if braced := strings.HasPrefix(s[1:], "u{"); braced {
		end := strings.IndexByte(s[:min(len(s), maxEscape)], '}')
		if end < 0 {
			return 0, 0, false
		}
		r, ok = hex(s[3:end])
		return r, end + 1, ok
	}
	if digits == 0 || len(s) < 2+digits {
		return 0, 0, false
	}
	r, ok = hex(s[2 : 2+digits])
	if n = 2 + digits; s[1] == 'u' && utf16.IsSurrogate(r) {
		low, is := rune(0), len(s) >= 2*n && s[n:n+2] == `\u`
		if is {
			low, is = hex(s[n+2 : 2*n])
		}
		r, n, ok = utf16.DecodeRune(r, low), 2*n, ok && is
	}
	return r, n, ok && r != utf8.RuneError && utf8.ValidRune(r)
}

func hex(s string) (rune, bool) {
	n, err := strconv.ParseUint(s, 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}
