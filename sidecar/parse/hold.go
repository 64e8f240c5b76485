package parse

import (
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
)

// quiet says at one look at each byte that nothing opens in s or may begin there: all of it is text.
// Nothing is held in front of it. Half of the pieces of a stream are such.
func (t *text) quiet(s string) bool {
	const most = len(header.Assistant) - 1
	if t.mode != inProse || t.at > 0 || t.filler || t.last == '\n' || t.fence.n > 0 || t.ticks > 0 || s == "" || len(s) > most {
		return false
	}
	table, names := &t.r.s.first, t.r.names
	for i := range len(s) {
		switch opens := table[s[i]]; {
		case opens == opensAnywhere:
			return false
		case opens == plain && !names.Initial(s[i]):
		case t.startsWord(s, i) && (names.Initial(s[i]) || t.wordOpens(s, i)):
			return false
		}
	}
	return scan.WholeRunes(s) == len(s) && t.assistant(s) == 0
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
	return scan.Begun(v, header.Assistant)
}

// heldBefore is how many bytes in front of v[j:] are a clue so far.
func (t *text) heldBefore(v string, j int) int {
	if t.r.s.json == nil || t.r.c.Empty() || t.r.c.Open() {
		return 0
	}
	at := t.clues(v)
	return at.Held(j)
}
