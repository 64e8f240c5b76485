package clue

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
)

// Held is how many bytes in front of V[j:] are a clue so far.
func (t *Text) Held(j int) int {
	if t.plain(j) {
		return 0
	}
	whole := scan.WholeRunes(t.V[:j])
	if c, ok := t.Before(whole, true); ok {
		return j - c.Start
	}
	if whole < j {
		return j - t.leadOf(whole, 1, &Clue{})
	}
	from := t.wordStart(j)
	if n := header.BehindDot(t.before(from), t.V[from:j]); n > 0 {
		from = j - n
	} else if t.nameGoesOn(from) || !t.Names.May(t.V[from:j]) {
		from = j
	}
	return j - t.leadOf(from, 0, &Clue{})
}

// plain says at a glance that no clue stands or begins in V[:j]: no line begins there, no
// character is cut, and no word is a name, or begins as one.
func (t *Text) plain(j int) bool {
	const glance = 32
	if j > glance || t.Last == '\n' || j > 0 && t.V[j-1] >= utf8.RuneSelf && scan.WholeRunes(t.V[:j]) < j {
		return false
	}
	before := t.Last
	for i, b := range []byte(t.V[:j]) {
		if b == '\n' {
			return false
		}
		if b == header.Namespace[0] && before == '.' {
			return false
		}
		if t.Names.initials.Has(b) && (before >= utf8.RuneSelf || !scan.IsName(before)) {
			word := scan.Name(t.V[i:j])
			if whole := i+len(word) < j; strings.HasPrefix(word, header.Namespace) || whole && t.Names.c.Exact(word) || !whole && t.Names.May(word) {
				return false
			}
		}
		before = b
	}
	return true
}

// before is the byte before V[i:].
func (t *Text) before(i int) byte {
	if i == 0 {
		return t.Last
	}
	return t.V[i-1]
}
