// Package scan looks at the bytes of a text that may still grow.
package scan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Verdict is the result of a look at text that may still grow.
type Verdict uint8

const (
	No   Verdict = iota // whatever follows
	Yes                 // whatever follows
	Wait                // too short to tell
)

// When returns the verdict on text that is long enough to tell.
func When(ok bool) Verdict {
	if ok {
		return Yes
	}
	return No
}

// WaitUnless returns the verdict on text that is too short to tell.
func WaitUnless(eof bool) Verdict {
	if eof {
		return No
	}
	return Wait
}

// WaitOr returns the verdict on text that is right if it ends here.
func WaitOr(eof bool) Verdict {
	if eof {
		return Yes
	}
	return Wait
}

// Starts reports whether s begins with lit.
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

// StartsAnyFold reports whether s begins with one of the literals, of n bytes, without regard to ASCII
// case.
func StartsAnyFold(s string, lits []string, eof bool) (n int, is Verdict) {
	for _, lit := range lits {
		if is := StartsFold(s, lit, eof); is != No {
			return len(lit), is
		}
	}
	return 0, No
}

// FindAnyFold finds the first of the literals at or after from, of n bytes, or -1. It stops there, so
// that a text of many blocks is searched once.
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

// StartsAny returns which of the literals s begins with; it waits for the first one that may still come.
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

// SkipSpace returns the first offset at or after i of a byte that is no white space.
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

// SkipBytes returns the first offset at or after i of a byte that is not in set.
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

// IsName reports whether b may stand in the name of a tool.
func IsName(b byte) bool { return IsWord(b) || b == '-' || b == '.' }

func Among(s string, lists ...[]string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, s) })
}

// AmongFold reports whether s is in one of the lists, in any case.
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

// WordEnd returns the end of the word at s[i:]: letters, digits, _ and -.
func WordEnd(s string, i int) int {
	for i < len(s) && (IsWord(s[i]) || s[i] == '-') {
		i++
	}
	return i
}

// NameEnd returns the end of a possible name at v[i:], in any script.
func NameEnd(v string, i int) int {
	for i < len(v) && IsName(v[i]) {
		i++
	}
	return i
}

// Name returns the ASCII name at the start of s.
func Name(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && IsName(s[i]) {
		i++
	}
	return s[:i]
}

// tailSize is the length that a Tail keeps.
const tailSize = 160

// Tail is the end of a text, at most 160 bytes.
type Tail struct {
	end [2 * tailSize]byte // the last tailSize bytes count; the rest saves copies
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

// String returns the end of the text.
func (t *Tail) String() string { return string(t.end[max(0, t.n-tailSize):t.n]) }

// Script is what \s means in JavaScript.
const Script = " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

// Invisible are characters that are not shown: soft hyphen, zero-width space and joiners, marks of
// direction, word joiner, byte order mark.
const Invisible = "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"

// Key reports whether a word and a colon stand at v[i:]: the name of a member without quotes.
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
