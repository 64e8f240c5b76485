package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// Held is how many bytes in front of V[j:] are a clue so far.
func (t *NameText) Held(j int) int {
	if n, sure := t.glance(j); sure {
		return n
	}
	whole := scan.WholeRunes(t.V[:j])
	if c, ok := t.Before(whole, true); ok {
		return j - c.Start
	}
	from := t.wordStart(whole)
	if n := harmony.BehindDot(t.before(from), t.V[from:whole]); n > 0 {
		from = whole - n
	} else if t.nameGoesOn(from) || !t.Names.May(t.V[from:whole]) {
		from = whole
	}
	start := t.leadOf(from, 0, &Clue{})
	if whole < j { // a sign, or a letter of the name
		start = min(start, t.leadOf(whole, 1, &Clue{}))
	}
	return j - start
}

// glance is Held where one look at each byte is enough: no line begins in V[:j], no character is
// cut, and no word is a name, though the last one may become one.
func (t *NameText) glance(j int) (held int, sure bool) {
	const most = 32
	if j > most || t.Last == '\n' || j > 0 && t.V[j-1] >= utf8.RuneSelf && scan.WholeRunes(t.V[:j]) < j {
		return 0, false
	}
	before := t.before(0)
	for i, b := range []byte(t.V[:j]) {
		switch {
		case b == '\n', b == harmony.Namespace[0] && before == '.':
			return 0, false
		case t.Names.initials.Has(b) && (before >= utf8.RuneSelf || !scan.IsName(before)):
			word := scan.Name(t.V[i:j])
			switch open := i+len(word) == j; {
			case strings.HasPrefix(word, harmony.Namespace), !open && t.Names.c.Exact(word),
				before >= utf8.RuneSelf && open && t.Names.May(word):
				return 0, false
			case open && t.Names.May(word):
				return j - i, i >= t.Floor
			}
		}
		before = b
	}
	return 0, true
}

// before is the byte before V[i:]; of what stands in front of V, one that says what kind it is.
func (t *NameText) before(i int) byte {
	if i == 0 {
		return byte(min(t.Last, utf8.RuneSelf))
	}
	return t.V[i-1]
}
