package jsonrepair

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

const fence = "```"

// skip reads white space and comments.
func (m *mender) skip() {
	for {
		m.pos = scan.SkipSpace(m.text, m.pos)
		if m.pos == len(m.text) {
			return
		}
		switch w := blankWidth(m.text, m.pos); {
		case w > 0:
			m.drop(KindSpace, w)
		case m.commentAt(m.pos), m.hashAt(m.pos):
			m.comment()
		default:
			return
		}
	}
}

// blank returns the first offset from i on that is no white space.
func (m *mender) blank(i int) int {
	from := i
	for i < len(m.text) {
		w := blankWidth(m.text, i)
		if w == 0 {
			break
		}
		i += w
	}
	m.work += i - from + 1
	return i
}

// trim returns to without the white space before it, at least from.
func (m *mender) trim(from, to int) int {
	n := to
	for n > from && scan.IsSpace(m.text[n-1]) {
		n--
	}
	m.work += to - n + 1
	return n
}

// lineBreak reports whether a line begins between from and to.
func (m *mender) lineBreak(from, to int) bool {
	return strings.IndexByte(m.text[from:to], '\n') >= 0
}

// ends reports whether the text ends at i, maybe in a code fence.
func (m *mender) ends(i int) bool { return i >= len(m.text) || m.fenceEnds(i) }

// fenceEnds reports whether a closing code fence stands at i, with only closers behind it on its line.
func (m *mender) fenceEnds(i int) bool {
	if m.text[i] != '`' || !strings.HasPrefix(m.text[i:], fence) {
		return false
	}
	for i += len(fence); i < len(m.text) && strings.IndexByte(" \t\r}]", m.text[i]) >= 0; i++ {
		m.work++
	}
	return i == len(m.text) || m.text[i] == '\n'
}

// fenceLen returns the length of the opening code fence at the start of s: "```json".
func fenceLen(s string) int { return len(fence) + wordLen(s[len(fence):]) }

// wordLen returns the length of the ASCII name at the start of s.
func wordLen(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}

// isWordByte reports whether c may stand in an unquoted key, as may bytes beyond ASCII.
func isWordByte(c byte) bool {
	return c|0x20-'a' < 26 || isDigit(c) || c == '_' || c == '$' || c == '-' || c == '.' || c >= 0x80
}

// blankWidth returns the width of the white space at i, or 0. It includes other spaces that models
// write, and invisible characters.
func blankWidth(s string, i int) int {
	c := s[i]
	if c > ' ' && c < 0x80 {
		return 0
	}
	return spaceWidth(s, i, c)
}

func spaceWidth(s string, i int, c byte) int {
	if c <= ' ' {
		return 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if r >= 0x2000 && r <= 0x200F || r >= 0x2028 && r <= 0x202F || r >= 0x205F && r <= 0x206F ||
		strings.ContainsRune("\u00a0\u00ad\u061c\u3000\ufeff", r) {
		return size
	}
	return 0
}
