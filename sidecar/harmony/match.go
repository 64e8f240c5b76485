package harmony

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// matcher reads one token, sign by sign.
type matcher struct {
	a    *Alphabet
	s    string
	at   int
	eof  bool
	wait bool // s ended where the next sign would stand
}

// gaps are blanks that may stand between two parts of a token.
const gaps = 2

// token reads: < | word | >. One of the four signs may be missing, both behind the word if
// no word goes on there, and a letter may be wrong if none is missing; the word alone is no
// token.
func (m *matcher) token() (Found, scan.Verdict) {
	angle := m.take('<')
	m.blanks(angle)
	bar := m.bars()
	if !angle && !bar {
		return m.none()
	}
	m.blanks(angle)
	word := m.word()
	switch {
	case word == "":
		return m.none()
	case !bar && !begins(word):
		return Found{}, scan.No
	}
	end := m.at
	m.blanks(true)
	barBehind := m.bars()
	if barBehind {
		end = m.at
	}
	m.blanks(barBehind)
	angleBehind := m.take('>')
	switch {
	case m.wait:
		return m.none()
	case angleBehind:
		end = m.at
	}
	signs := count(angle, bar, barBehind, angleBehind)
	t := named(word, signs == 4)
	if t == None || signs < 3 && !(angle && bar && m.ends(end)) {
		return Found{}, scan.No
	}
	return Found{Token: t, N: end}, scan.Yes
}

// begins says that the name of a token begins with word.
func begins(word string) bool {
	return slices.ContainsFunc(words[Start:], func(name string) bool { return strings.HasPrefix(name, word) })
}

// none is what is said of s where it is no token as far as it goes.
func (m *matcher) none() (Found, scan.Verdict) {
	if m.wait && !m.eof {
		return Found{}, scan.Wait
	}
	return Found{}, scan.No
}

// ends says that a word ends in front of s[i:].
func (m *matcher) ends(i int) bool {
	return i == len(m.s) || !isLetter(m.s[i]) && m.s[i] != '_' && (m.s[i] < '0' || m.s[i] > '9')
}

func count(signs ...bool) (n int) {
	for _, s := range signs {
		if s {
			n++
		}
	}
	return n
}

// named is the token with a name. Where all of its signs are there, one letter of it may be
// wrong, too many, missing or out of place.
func named(word string, whole bool) Token {
	if i := slices.Index(words[:], word); i > 0 {
		return Token(i)
	}
	for t := Start; whole && t <= Return; t++ {
		if len(words[t]) >= len("start") && Near(word, words[t]) {
			return t
		}
	}
	return None
}

// Near says that one edit makes a of b.
func Near(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) > len(b)+1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) > len(b):
		return a[i+1:] == b[i:]
	case i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]:
		return true
	}
	return i < len(a) && a[i+1:] == b[i+1:]
}

// take takes one sign, if it is the next one.
func (m *matcher) take(sign byte) bool {
	m.invisible()
	b, n, more := m.a.char(m.s[m.at:])
	if more && !m.eof {
		m.wait = true
		return false
	}
	if b != sign {
		return false
	}
	m.at += n
	return true
}

// bars takes one bar, or two.
func (m *matcher) bars() bool {
	if m.wait || !m.take('|') {
		return false
	}
	if m.at < len(m.s) {
		m.take('|')
	}
	return true
}

// blanks skips blanks inside a token.
func (m *matcher) blanks(inside bool) {
	for n := 0; inside && !m.wait && n < gaps && m.at < len(m.s); n++ {
		if m.s[m.at] != ' ' {
			return
		}
		m.at++
	}
}

// maxWord is how long the name of a token may be, one letter too many included.
const maxWord = len("constrain") + 1

// word reads the name of a token.
func (m *matcher) word() string {
	var word [maxWord + 1]byte
	n := 0
	for !m.wait {
		m.invisible()
		b, size, more := m.a.char(m.s[m.at:])
		switch {
		case more && !m.eof:
			m.wait = n <= maxWord
			return string(word[:n])
		case !isLetter(b):
			return string(word[:n])
		case n > maxWord-1:
			return ""
		}
		word[n] = b | 0x20
		n++
		m.at += size
	}
	return ""
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// invisible skips invisible characters inside of a token.
func (m *matcher) invisible() {
	for m.at > 0 && m.at < len(m.s) && m.s[m.at] >= 0x80 {
		rest := strings.TrimLeft(m.s[m.at:], scan.Invisible)
		if len(rest) == len(m.s)-m.at {
			return
		}
		m.at = len(m.s) - len(rest)
	}
}
