package parse

import (
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/header"
)

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
	if t.r.s.json == nil || t.r.guard == nil {
		return 0
	}
	at := t.clues(v)
	return at.Held(j)
}
