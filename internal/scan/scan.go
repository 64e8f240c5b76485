// Package scan looks at text that may still grow, byte by byte. It knows what a byte is, and
// never what a text means.
package scan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Verdict is what a look at text yields that may still grow.
type Verdict uint8

const (
	No   Verdict = iota // it is not, whatever follows
	Yes                 // it is, whatever follows
	Wait                // too short to tell
)

// When is the verdict on text that is long enough to tell.
func When(ok bool) Verdict {
	if ok {
		return Yes
	}
	return No
}

// WaitUnless is the verdict on text that is too short to tell.
func WaitUnless(eof bool) Verdict {
	if eof {
		return No
	}
	return Wait
}

// WaitOr is the verdict on text that is right if it ends here.
func WaitOr(eof bool) Verdict {
	if eof {
		return Yes
	}
	return Wait
}

// Starts says whether s begins with lit.
func Starts(s, lit string, eof bool) Verdict {
	switch {
	case strings.HasPrefix(s, lit):
		return Yes
	case !eof && len(s) < len(lit) && lit[:len(s)] == s:
		return Wait
	}
	return No
}

// StartsFold is Starts without regard to ASCII case.
func StartsFold(s, lit string, eof bool) Verdict {
	n := min(len(s), len(lit))
	for i := range n {
		if Lower(s[i]) != Lower(lit[i]) {
			return No
		}
	}
	switch {
	case n == len(lit):
		return Yes
	case eof:
		return No
	}
	return Wait
}

// StartsAnyFold says whether s begins with one of the literals, of n bytes, without
// regard to ASCII case.
func StartsAnyFold(s string, lits []string, eof bool) (n int, is Verdict) {
	for _, lit := range lits {
		if is := StartsFold(s, lit, eof); is != No {
			return len(lit), is
		}
	}
	return 0, No
}

// FindAnyFold finds the first of the literals at or behind from, of n bytes, or -1. It looks no
// further than that: text full of blocks must not be searched to its end at each.
func FindAnyFold(s string, from int, lits []string, eof bool) (at, n int) {
	for at = from; at < len(s); at++ {
		switch n, is := StartsAnyFold(s[at:], lits, eof); is {
		case Yes:
			return at, n
		case Wait:
			return -1, 0
		}
	}
	return -1, 0
}

// StartsAny says which of the literals s begins with; the first one that may
// still come is waited for.
func StartsAny(s string, lits []string, eof bool) (lit string, is Verdict) {
	for _, lit := range lits {
		if is := Starts(s, lit, eof); is != No {
			return lit, is
		}
	}
	return "", No
}

func Lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func Upper(b byte) byte {
	if IsLower(b) {
		return b - 'a' + 'A'
	}
	return b
}

func Blank(s string) bool { return SkipSpace(s, 0) == len(s) }

// SkipSpace is the offset of the first byte of s at or after i that is no white space.
func SkipSpace(s string, i int) int {
	for i < len(s) && IsSpace(s[i]) {
		i++
	}
	return i
}

// SkipBlanks is SkipSpace within a line.
func SkipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// SkipBytes is the offset of the first byte of s at or after i that is not in set.
func SkipBytes(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

func IsSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func IsLower(b byte) bool { return b >= 'a' && b <= 'z' }

func IsWord(b byte) bool {
	return IsLower(b) || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b >= 0x80
}

// IsName says whether b may stand in the name of a tool.
func IsName(b byte) bool { return IsWord(b) || b == '-' || b == '.' }

func Among(s string, lists ...[]string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, s) })
}

// AmongFold says that s is in one of the lists, in any case.
func AmongFold(s string, lists ...[]string) bool {
	for _, l := range lists {
		for _, known := range l {
			if len(known) == len(s) && strings.EqualFold(s, known) {
				return true
			}
		}
	}
	return false
}

// WordEnd is where the word at s[i:] ends: letters, digits, _ and -.
func WordEnd(s string, i int) int {
	for i < len(s) && (IsWord(s[i]) || s[i] == '-') {
		i++
	}
	return i
}

// NameEnd is where what may be a name ends that begins at v[i:], in any script.
func NameEnd(v string, i int) int {
	for i < len(v) && IsName(v[i]) {
		i++
	}
	return i
}

// Name is what s begins with of ASCII that may stand in the name of a tool.
func Name(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && IsName(s[i]) {
		i++
	}
	return s[:i]
}

// tailSize is how much of a text a Tail keeps.
const tailSize = 160

// Tail is the end of a text, 160 bytes of it at most.
type Tail struct {
	end [2 * tailSize]byte // the last ones of it count; room for more saves copies
	n   int
}

// Add adds to the text.
func (t *Tail) Add(s string) {
	s = s[max(0, len(s)-tailSize):]
	if t.n+len(s) > len(t.end) {
		t.n = copy(t.end[:], t.end[t.n-tailSize:t.n])
	}
	t.n += copy(t.end[t.n:], s)
}

// String is the end of the text.
func (t *Tail) String() string { return string(t.end[max(0, t.n-tailSize):t.n]) }

// Script is what \s means in JavaScript.
const Script = " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// Invisible are characters that are not shown: soft hyphen, zero-width space and joiners, marks of direction,
// word joiner, byte order mark.
const Invisible = "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"

// Key says whether a word and a colon stand at v[i:]: the name of a member without quotes.
func Key(v string, i int, eof bool) Verdict {
	end := NameEnd(v, i)
	colon := SkipSpace(v, end)
	switch {
	case colon == len(v):
		return WaitUnless(eof)
	case end == i:
		return No
	}
	return When(v[colon] == ':')
}
