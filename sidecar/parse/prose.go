package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// maxOpener is the window in which an opener must show.
const maxOpener = 512

// opening is something that opens in prose, and how.
type opening struct {
	n      int // bytes of the opener
	back   int // bytes in front of the trigger that belong to it
	begin  func(t *text, v string, n int)
	markup bool // none of it is shown
}

// stepProse passes text on up to the next opening.
func (t *text) stepProse(v string, eof bool) (int, bool) {
	at := t.at
	t.at = 0
	if at > 0 {
		t.looked = t.base + at
	}
	if at == 0 && t.afterMessage {
		if n, is := t.stray(v, eof); is == wait {
			return 0, true
		} else if is == yes {
			return n, n == len(v)
		}
	}
	if at == 0 && t.last == '\n' {
		if o, is := t.findOpening(v, 0, eof, (*text).lineOpening); is != no {
			return t.begin(v, 0, o, is)
		}
	}
	for j := t.nextOpener(v, at); j >= 0; j = t.nextOpener(v, at) {
		var o opening
		var is verdict
		if v[j] == '\n' {
			if t.ticks > 0 {
				t.ticks, t.midLineFence, t.looked = 0, t.ticks >= 3, t.base+j
			}
			if j++; j == len(v) {
				break
			}
			o, is = t.findOpening(v, j, eof, (*text).lineOpening)
			at = j
		} else {
			o, is = t.findOpening(v, j, eof, (*text).inlineOpening)
			at = j + max(o.n, 1)
		}
		if is == wait {
			o.back = t.heldBefore(v, j)
		}
		if is != no {
			return t.begin(v, j-o.back, o, is)
		}
	}
	n := len(v)
	if !eof {
		n -= t.tail(v)
	}
	t.pass(v[:n])
	if eof {
		t.settle(Text)
	}
	return n, true
}

// findOpening applies look to v[j:] in a window: what does not show by its end that it opens something
// is text.
func (t *text) findOpening(v string, j int, eof bool,
	look func(*text, string, int, bool) (opening, verdict)) (opening, verdict) {
	if len(v)-j <= maxOpener {
		return look(t, v, j, eof)
	}
	o, is := look(t, v[:j+maxOpener], j, false)
	if is == wait {
		is = no
	}
	return o, is
}

// begin acts on the opening at v[j:].
func (t *text) begin(v string, j int, o opening, is verdict) (int, bool) {
	between := t.afterMessage && (is == wait || o.markup) && scan.Blank(v[:j])
	switch {
	case between && is == wait:
		return 0, true
	case between:
		t.advance(v[:j]) // white space between two messages
	default:
		t.pass(v[:j])
	}
	if is == wait {
		return j, true
	}
	t.afterMessage = false
	t.base += j
	o.begin(t, v[j:], o.n)
	t.base -= j
	if t.mode == inProse {
		t.advance(v[j : j+o.n])
	}
	switch t.mode {
	case inJSON, inDump, inFence, inNamedCall, inLines, inMaybeHeader, inBlock:
		return j, false // these read their own opener
	}
	return j + o.n, false
}

// pass lets v leave as text and updates the position.
func (t *text) pass(v string) {
	t.flow(v)
	t.advance(v)
	if t.afterMessage && !scan.Blank(v) {
		t.afterMessage = false
	}
}

// nextOpener returns the offset of the next byte at or after at that may open something, or -1.
func (t *text) nextOpener(v string, at int) int {
	if t.fence.n > 0 {
		if j := strings.IndexByte(v[at:], '\n'); j >= 0 {
			return at + j
		}
		return -1
	}
	table := &t.r.s.first
	for i := at; i < len(v); i++ {
		if c := table[v[i]]; c != plain && (c == opensAnywhere || t.wordOpens(v, i)) {
			return i
		}
	}
	return -1
}

// wordOpens reports whether a literal may begin at the letter v[i]: at the start of a word, with a
// second byte that some literal has. A header may be glued to a word of another script, and the word
// assistant to any.
func (t *text) wordOpens(v string, i int) bool {
	before := t.prevByte(v, i)
	begins := !scan.IsWord(before)
	if begins && (i+1 == len(v) || t.r.s.pairs != nil && t.r.s.pairs.Has(v[i], v[i+1])) {
		return true
	}
	if v[i] == harmony.Assistant[0] && strings.HasPrefix(v[i:], harmony.Assistant) &&
		(t.readsHarmony() || !begins) {
		return t.readsHarmony()
	}
	return (begins || before >= utf8.RuneSelf) && t.r.s.header.Heads(v[i:])
}

// inlineOpening looks at what may open in the middle of a line.
func (t *text) inlineOpening(v string, j int, eof bool) (opening, verdict) {
	rest := v[j:]
	if rest[0] == '`' {
		return t.codeSpan(rest, j, eof)
	}
	if t.ticks > 0 {
		return opening{}, no
	}
	o, is := t.markupOpening(v, j, eof)
	if is == no {
		o, is = t.literalOpening(v, j, eof)
	}
	switch {
	case is == wait:
		return opening{}, wait
	case is == yes:
		return o, yes
	case (rest[0] == '{' || rest[0] == '[' || rest[0] == '(') && !t.blockAt(j):
		return t.jsonStart(v, j, eof)
	}
	return opening{}, no
}

// codeSpan reads a run of backticks: as many as opened a span close it.
func (t *text) codeSpan(rest string, j int, eof bool) (opening, verdict) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	if n == len(rest) && !eof {
		return opening{}, wait
	}
	t.looked = t.base + j + n
	switch t.ticks {
	case 0:
		t.ticks = n
	case n:
		t.ticks = 0
	}
	return opening{n: n}, no
}

// lineStart reports whether v[i:] stands at the start of a line.
func (t *text) lineStart(v string, i int) bool { return t.prevByte(v, i) == '\n' }

// prevByte returns the byte before v[i:].
func (t *text) prevByte(v string, i int) byte {
	if i == 0 {
		return byte(min(t.last, utf8.RuneSelf)) // for others, one that is not ASCII
	}
	return v[i-1]
}

// blockAt reports whether a block at v[j:] was read and released.
func (t *text) blockAt(j int) bool { return t.tried != nil && t.triedAt == t.base+j }

// firstAt reports whether only white space precedes v[i:].
func (t *text) firstAt(v string, i int) bool {
	return t.first && t.skipBlank(v[:max(i, t.blanks)]) >= i
}

// lineOpening looks at what may open at the start of a line.
func (t *text) lineOpening(v string, i int, eof bool) (opening, verdict) {
	p := scan.SkipBlanks(v, i)
	if p == len(v) {
		if t.r.s.lineOpens && !eof && p > i {
			return opening{}, wait
		}
		return opening{}, no
	}
	if v[p] == '`' || v[p] == '~' {
		return t.fenceLine(v, i, p, eof)
	}
	if t.fence.n > 0 {
		return opening{}, no
	}
	first := t.firstAt(v, i)
	o, is := t.strippedHeader(v, i, p, first, eof)
	if is == no {
		o, is = t.truncatedHeader(v, i, p, eof)
	}
	if is == no {
		o, is = t.linesStart(v, i, p, first, eof)
	}
	if is == no {
		o, is = t.dumpStart(v, p, first, eof)
	}
	return o, is
}

// stray drops a stray channel word between two messages, or the closing tag of a wrapper.
func (t *text) stray(v string, eof bool) (n int, is verdict) {
	i := t.skipBlank(v)
	if i == len(v) {
		if eof {
			t.advance(v)
			return len(v), yes
		}
		return 0, wait
	}
	if end, more := skipClosingTags(v, i, eof); end > i {
		t.note(t.r.s.harmony, i, end, Dropped, "the end of a wrapper")
		return end, yes
	} else if more || !eof && v[i:] == "<" {
		return 0, wait
	}
	n, is = t.grammar.Stray(v[i:], eof)
	if is != yes {
		return 0, is
	}
	t.note(t.r.s.harmony, i, i+n, Dropped, "a stray channel word")
	return i + n, yes
}
