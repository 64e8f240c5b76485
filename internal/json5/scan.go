package json5

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// space reads blanks and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		if n := blank(p.text[p.at:]); n > 0 {
			p.at += n
			continue
		}
		n := commentEnd(p.text[p.at:])
		if n < 0 {
			return p.wrong("this comment has no end: */ is missing")
		}
		if n == 0 {
			return nil
		}
		p.at += n
	}
	return nil
}

// blank is the length of the blank at the start of a text.
func blank(text []byte) int {
	r, n := utf8.DecodeRune(text)
	switch r {
	case '\t', '\v', '\f', ' ', '\n', '\r', '\u00a0', '\ufeff', '\u2028', '\u2029':
		return n
	}
	if r > unicode.MaxLatin1 && unicode.Is(unicode.Zs, r) {
		return n
	}
	return 0
}

// commentEnd is where the comment ends that a text begins with: 0 if there is none, -1 if it
// does not end. The line break behind a comment of one line is not part of it.
func commentEnd(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		for i, r := range string(text) {
			if lineBreak(r) {
				return i
			}
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
		return -1
	}
	return 0
}

func lineBreak(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' }

// key reads the name of a member: a string, or an identifier as JavaScript has them.
func (p *parser) key() (string, error) {
	if c := p.peek(); c == '"' || c == '\'' {
		return p.str()
	}
	var name strings.Builder
	for p.at < len(p.text) {
		start := p.at
		r, n := utf8.DecodeRune(p.text[p.at:])
		p.at += n
		if r == '\\' {
			if p.peek() != 'u' {
				return "", p.wrongAt(start, "only \\u and four digits may stand here in a name")
			}
			p.at++
			unit, err := p.hex(4)
			if err != nil {
				return "", err
			}
			if r = rune(unit); !inName(r, name.Len() == 0) {
				return "", p.wrongAt(start, "a name cannot hold this character; quote the name")
			}
		} else if !inName(r, name.Len() == 0) {
			p.at = start
			break
		}
		name.WriteRune(r)
	}
	if name.Len() == 0 {
		return "", p.wrong("the name of a member must stand here, not %s", p.seen())
	}
	return name.String(), nil
}

// inName reports whether an identifier may hold a character, or begin with it.
func inName(r rune, first bool) bool {
	if r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
		return true
	}
	return !first && (unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == '\u200c' || r == '\u200d')
}

// str reads a string.
func (p *parser) str() (string, error) {
	start, quote := p.at, rune(p.text[p.at])
	p.at++
	var out strings.Builder
	var high rune // half of a surrogate pair whose other half may follow
	flush := func() {
		if high != 0 {
			out.WriteRune(utf8.RuneError)
			high = 0
		}
	}
	for p.at < len(p.text) {
		r, n := utf8.DecodeRune(p.text[p.at:])
		switch {
		case r == quote:
			p.at += n
			flush()
			return out.String(), nil
		case r == '\n' || r == '\r':
			return "", p.wrong("the string that begins in column %d has no end on its line", column(p.text, start))
		case r != '\\':
			flush()
			out.WriteRune(r)
			p.at += n
			continue
		}
		p.at++
		unit, is, err := p.escape()
		if err != nil {
			return "", err
		}
		whole := utf8.RuneError
		if high != 0 && is {
			whole = utf16.DecodeRune(high, unit)
		}
		switch {
		case !is:
			// a line goes on: nothing stands here
		case whole != utf8.RuneError:
			out.WriteRune(whole)
			high = 0
		case unit >= 0xd800 && unit < 0xdc00:
			flush()
			high = unit
		default:
			flush()
			out.WriteRune(unit)
		}
	}
	return "", p.wrongAt(start, "this string has no end")
}

func column(text []byte, at int) int {
	_, c := Position(text, at)
	return c
}

// escape reads what stands behind a backslash. There is no character where a line goes on.
func (p *parser) escape() (r rune, is bool, err error) {
	r, n := utf8.DecodeRune(p.text[p.at:])
	if p.at == len(p.text) {
		return 0, false, p.wrong("the string has no end")
	}
	p.at += n
	switch {
	case r == 'x' || r == 'u':
		digits := 2
		if r == 'u' {
			digits = 4
		}
		unit, err := p.hex(digits)
		return rune(unit), true, err
	case r == '\r' && p.peek() == '\n':
		p.at++
		return 0, false, nil
	case lineBreak(r):
		return 0, false, nil
	case r == '0' && (p.peek() < '0' || p.peek() > '9'):
		return 0, true, nil
	case r >= '0' && r <= '9':
		return 0, false, p.wrongAt(p.at-n, "a digit cannot stand behind a backslash")
	}
	if i := strings.IndexRune("bfnrtv", r); i >= 0 {
		r = rune("\b\f\n\r\t\v"[i])
	}
	return r, true, nil
}

// hex reads a number of hexadecimal digits.
func (p *parser) hex(digits int) (uint64, error) {
	end := min(p.at+digits, len(p.text))
	n, err := strconv.ParseUint(string(p.text[p.at:end]), 16, 16)
	if err != nil || end-p.at < digits || p.text[p.at] == '+' {
		return 0, p.wrong("%d hexadecimal digits must stand here", digits)
	}
	p.at = end
	return n, nil
}

// numberEnd is the length of the number at the start of a text; 0: there is none.
func numberEnd(text []byte) int {
	i := 0
	at := func() byte {
		if i < len(text) && text[i] >= 'A' && text[i] <= 'Z' {
			return text[i] + 'a' - 'A'
		} else if i < len(text) {
			return text[i]
		}
		return 0
	}
	digits := func(hex bool) (n int) {
		for c := at(); c >= '0' && c <= '9' || hex && c >= 'a' && c <= 'f'; c = at() {
			i++
			n++
		}
		return n
	}
	if at() == '+' || at() == '-' {
		i++
	}
	for _, name := range []string{"Infinity", "NaN"} {
		if bytes.HasPrefix(text[i:], []byte(name)) {
			return i + len(name)
		}
	}
	begin := i
	if at() == '0' {
		i++
		if at() == 'x' {
			i++
			if digits(true) == 0 {
				return 0
			}
			return i
		}
	} else {
		digits(false)
	}
	whole := i - begin
	if at() == '.' {
		i++
		if digits(false) == 0 && whole == 0 {
			return 0
		}
	} else if whole == 0 {
		return 0
	}
	if at() == 'e' {
		i++
		if at() == '+' || at() == '-' {
			i++
		}
		if digits(false) == 0 {
			return 0
		}
	}
	return i
}
