package parse

import (
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// quiet says at one look at each byte how much of s is text in which nothing opens: all but a word at its end
// that may go on as what opens. So most pieces of a stream are read; ok is false where more must be looked
// at.
func (t *text) quiet(s string) (n int, ok bool) {
	const most = len(harmony.Assistant) - 1
	if t.mode != inProse || t.at > 0 || t.filler || t.last == '\n' || t.fence.n > 0 || t.ticks > 0 ||
		len(s) > most {
		return 0, false
	}
	table, names := &t.r.s.first, t.r.names
	for i := range len(s) {
		switch opens := table[s[i]]; {
		case opens == opensAnywhere:
			return 0, false
		case opens == plain && !names.Initial(s[i]):
		case t.startsWord(s, i) && (names.Initial(s[i]) && names.May(scan.Name(s[i:])) || t.wordOpens(s, i)):
			return i, scan.NameEnd(s, i) == len(s)
		}
	}
	return min(scan.WholeRunes(s), len(s)-t.assistant(s)), true
}

// startsWord says that a word may begin at v[i:], maybe behind a letter of another script.
func (t *text) startsWord(v string, i int) bool {
	before := t.before(v, i)
	return before >= utf8.RuneSelf || !scan.IsWord(before)
}

// tail is how many bytes at the end of v may be the beginning of "assistant", or of a clue.
func (t *text) tail(v string) int {
	if v == "" || t.fence.n > 0 || t.ticks > 0 {
		return 0
	}
	return max(t.assistant(v), t.heldBefore(v, len(v)))
}

// assistant is how many bytes at the end of v may be the beginning of that word.
func (t *text) assistant(v string) int {
	if !t.marks() {
		return 0
	}
	return scan.Begun(v, harmony.Assistant)
}

// heldBefore is how many bytes in front of v[j:] are a clue so far.
func (t *text) heldBefore(v string, j int) int {
	if t.r.s.json == nil || t.r.c.Empty() || t.r.c.Open() {
		return 0
	}
	at := t.clues(v)
	return at.Held(j)
}
