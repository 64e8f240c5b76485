package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
)

// maxName is how long a name may be that prose is held back for.
const maxName = 64

// tail is how many bytes at the end of v may be the beginning of "assistant", or of a clue.
func (t *text) tail(v string) int {
	if v == "" || t.fence.n > 0 || t.ticks > 0 {
		return 0
	}
	hold := 0
	if t.marks() {
		hold = scan.Begun(v, header.Assistant)
	}
	return max(hold, t.heldBefore(v, len(v)))
}

// heldBefore is how many bytes in front of v[j:] are a clue so far.
func (t *text) heldBefore(v string, j int) int {
	if t.r.s.json == nil || t.r.guard == nil || t.plain(v, j) {
		return 0
	}
	whole := scan.WholeRunes(v[:j])
	if c, ok := t.clueBefore(v, whole, true); ok {
		return j - c.start
	}
	if whole < j {
		return j - t.leadOf(v, whole, 1, &clue{})
	}
	from := t.wordStart(v, j)
	if n := header.BehindDot(t.before(v, from), v[from:j]); n > 0 {
		from = j - n
	} else if t.nameGoesOn(v, from) || !t.mayName(v[from:j]) {
		from = j
	}
	return j - t.leadOf(v, from, 0, &clue{})
}

// plain says at a glance that no clue stands or begins in v[:j]: no line begins there, no
// character is cut, and no word is a name, or begins as one.
func (t *text) plain(v string, j int) bool {
	const glance = 32
	if j > glance || t.last == '\n' || j > 0 && v[j-1] >= utf8.RuneSelf && scan.WholeRunes(v[:j]) < j {
		return false
	}
	before := t.last
	for i, b := range []byte(v[:j]) {
		if b == '\n' {
			return false
		}
		if b == header.Namespace[0] && before == '.' {
			return false
		}
		if t.r.initials.Has(b) && (before >= utf8.RuneSelf || !scan.IsName(before)) {
			word := scan.Name(v[i:j])
			if whole := i+len(word) < j; strings.HasPrefix(word, header.Namespace) || whole && t.r.c.Exact(word) || !whole && t.mayName(word) {
				return false
			}
		}
		before = b
	}
	return true
}

// mayName says that a word may become the name of an offered tool.
func (t *text) mayName(word string) bool {
	switch {
	case word == "":
		return false
	case strings.HasPrefix(header.Namespace, word):
		return true
	}
	return strings.HasPrefix(word, header.Namespace) || t.r.initials.Has(word[0]) && t.r.c.HasPrefix(word) // behind functions. it may be bent
}
