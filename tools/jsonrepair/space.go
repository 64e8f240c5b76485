package jsonrepair

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

const fence = "```"

// isGlyph reports whether s begins with Ġ, Ċ or ▁, which stand for a blank and a line break in the
// vocabulary of a model.
func isGlyph(s string) bool {
	return strings.HasPrefix(s, "Ġ") || strings.HasPrefix(s, "Ċ") || strings.HasPrefix(s, "▁")
}

// holdsGlyphs reports whether JSON holds such a mark, or bytes as that vocabulary writes them: Ã¼ is ü.
// Then what its texts say is unclear.
func holdsGlyphs(json string) bool {
	before := rune(0)
	for _, r := range json {
		inside := r >= 0x100 && r <= 0x143
		if r == '▁' || r == 'Ġ' || r == 'Ċ' || before >= 0xC2 && before <= 0xF4 &&
			(inside || r >= 0xA1 && r <= 0xBF) {
			return true
		}
		before = r
	}
	return false
}

// skip reads white space and comments.
func (m *mender) skip() {
	for {
		m.pos = scan.SkipSpace(m.text, m.pos)
		if m.pos == len(m.text) {
			return
		}
		switch w := blankWidth(m.text, m.pos); {
		case w > 0:
			if isGlyph(m.text[m.pos:]) {
				m.glyphs = true
				m.doubt()
			}
			if m.text[m.pos] == '<' {
				m.doubt() // the token may be part of a text
			}
			m.drop(KindSpace, w)
		case m.commentAt(m.pos), m.hashAt(m.pos):
			m.comment()
		default:
			return
		}
	}
}

// blank returns the first place from i on that is no white space.
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

// trim returns to, less the white space before it, but no less than from.
func (m *mender) trim(from, to int) int {
	n := to
	for n > from && scan.IsSpace(m.text[n-1]) {
		n--
	}
	m.work += to - n + 1
	return n
}

// lineBreak reports whether a new line begins between from and to.
func (m *mender) lineBreak(from, to int) bool {
	return strings.IndexByte(m.text[from:to], '\n') >= 0
}

// ends reports whether the text ends at i: nothing is left, or a code fence ends.
func (m *mender) ends(i int) bool { return i >= len(m.text) || m.fenceEnds(i) }

// fenceEnds reports whether a closing code fence stands at i, alone on the rest of
// its line but for closers.
func (m *mender) fenceEnds(i int) bool {
	if m.text[i] != '`' || !strings.HasPrefix(m.text[i:], fence) {
		return false
	}
	for i += len(fence); i < len(m.text) && strings.IndexByte(" \t\r}]", m.text[i]) >= 0; i++ {
		m.work++
	}
	return i == len(m.text) || m.text[i] == '\n'
}

// fenceLen is the length of the opening code fence s begins with: "```json".
func fenceLen(s string) int { return len(fence) + wordLen(s[len(fence):]) }

// wordLen is the length of the ASCII name that s begins with.
func wordLen(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}

// isWordByte reports whether c may stand in an unquoted key; a byte of a
// character beyond ASCII may.
func isWordByte(c byte) bool {
	return c|0x20-'a' < 26 || isDigit(c) || c == '_' || c == '$' || c == '-' || c == '.' || c >= 0x80
}

// blankWidth is the width of the white space character at i, or 0. It knows the
// spaces that models write beside those of JSON, and characters that cannot be seen.
func blankWidth(s string, i int) int {
	c := s[i]
	if c > ' ' && c < 0x80 {
		if c == '<' {
			return tokenWidth(s[i:])
		}
		return 0
	}
	return spaceWidth(s, i, c)
}

// tokenWidth is the length of the control token that s begins with, <|message|>, or 0. Outside of texts
// it says no more than a blank.
func tokenWidth(s string) int {
	const longest = 40
	if !strings.HasPrefix(s, "<|") {
		return 0
	}
	n := len("<|") + wordLen(s[len("<|"):min(len(s), longest)])
	if n == len("<|") || !strings.HasPrefix(s[n:], "|>") {
		return 0
	}
	return n + len("|>")
}

func spaceWidth(s string, i int, c byte) int {
	if c <= ' ' {
		return 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if r >= 0x2000 && r <= 0x200F || r >= 0x2028 && r <= 0x202F || r >= 0x205F && r <= 0x206F ||
		strings.ContainsRune("\u00a0\u00ad\u061c\u3000\ufeffĠĊ▁", r) {
		return size
	}
	return 0
}
