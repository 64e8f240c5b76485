package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// maxOpener is the window in which something must show that it opens.
const maxOpener = 512

// opening is something that opens in prose, and what to do about it.
type opening struct {
	n      int // bytes of the opener
	back   int // bytes before the trigger that belong to it
	begin  func(t *text, v string, n int)
	markup bool // it is no text: nothing of it is shown
}

// stepProse passes text on up to the next thing that opens.
func (t *text) stepProse(v string, eof bool) (int, bool) {
	at := t.at
	t.at = 0
	if at > 0 {
		t.looked = t.base + at
	}
	if at == 0 && t.filler {
		if n, is := t.stray(v, eof); is == wait {
			return 0, true
		} else if is == yes {
			return n, n == len(v)
		}
	}
	if at == 0 && t.last == '\n' {
		if o, is := t.opens(v, 0, eof, (*text).line); is != no {
			return t.opened(v, 0, o, is)
		}
	}
	for j := t.next(v, at); j >= 0; j = t.next(v, at) {
		var o opening
		var is verdict
		if v[j] == '\n' {
			if t.ticks > 0 {
				t.ticks, t.loose, t.looked = 0, t.ticks >= 3, t.base+j
			}
			if j++; j == len(v) {
				break
			}
			o, is = t.opens(v, j, eof, (*text).line)
			at = j
		} else {
			o, is = t.opens(v, j, eof, (*text).inline)
			at = j + max(o.n, 1)
		}
		if is == wait {
			o.back = t.heldBefore(v, j)
		}
		if is != no {
			return t.opened(v, j-o.back, o, is)
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

// opens looks at v[j:] in a window: what could not show by its end that it opens
// something is text.
func (t *text) opens(v string, j int, eof bool,
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

// opened acts on what stands at v[j:].
func (t *text) opened(v string, j int, o opening, is verdict) (int, bool) {
	between := t.filler && (is == wait || o.markup) && scan.Blank(v[:j])
	switch {
	case between && is == wait:
		return 0, true
	case between:
		t.mark(v[:j]) // white space between two messages
	default:
		t.pass(v[:j])
	}
	if is == wait {
		return j, true
	}
	t.filler = false
	t.base += j
	o.begin(t, v[j:], o.n)
	t.base -= j
	if t.mode == inProse {
		t.mark(v[j : j+o.n])
	}
	switch t.mode {
	case inJSON, inDump, inFence, inNamedCall, inLines, inMaybe, inBlock:
		return j, false // these read their own opener
	}
	return j + o.n, false
}

// pass lets v leave as text and keeps the position.
func (t *text) pass(v string) {
	t.flow(v)
	t.mark(v)
	if t.filler && !scan.Blank(v) {
		t.filler = false
	}
}

// next is the offset of the next byte at or after at that may open something.
func (t *text) next(v string, at int) int {
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

// wordOpens says whether a literal may begin at v[i], which is a letter: at the start of a word, and
// with a second byte that some literal has. A header may be glued to a word of another script, and the
// word assistant to any.
func (t *text) wordOpens(v string, i int) bool {
	before := t.before(v, i)
	begins := !scan.IsWord(before)
	if begins && (i+1 == len(v) || t.r.s.pairs != nil && t.r.s.pairs.Has(v[i], v[i+1])) {
		return true
	}
	if v[i] == harmony.Assistant[0] && strings.HasPrefix(v[i:], harmony.Assistant) && (t.marks() || !begins) {
		return t.marks()
	}
	return (begins || before >= utf8.RuneSelf) && t.r.s.header.Heads(v[i:])
}

// inline looks at what may open in the middle of a line.
func (t *text) inline(v string, j int, eof bool) (opening, verdict) {
	rest := v[j:]
	if rest[0] == '`' {
		return t.codeSpan(rest, j, eof)
	}
	if t.ticks > 0 {
		return opening{}, no
	}
	o, is := t.markup(v, j, eof)
	if is == no {
		o, is = t.literal(v, j, eof)
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

// lineStart says whether v[i:] stands at the start of a line.
func (t *text) lineStart(v string, i int) bool { return t.before(v, i) == '\n' }

// before is the byte before v[i:].
func (t *text) before(v string, i int) byte {
	if i == 0 {
		return byte(min(t.last, utf8.RuneSelf)) // of others it says that they are no ASCII
	}
	return v[i-1]
}

// blockAt says that a block at v[j:] was read and released.
func (t *text) blockAt(j int) bool { return t.tried != nil && t.triedAt == t.base+j }

// firstAt says that nothing but white space stands before v[i:].
func (t *text) firstAt(v string, i int) bool {
	return t.first && t.skipBlank(v[:max(i, t.blanks)]) >= i
}

// line looks at what may open at the start of a line.
func (t *text) line(v string, i int, eof bool) (opening, verdict) {
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
	o, is := t.stripped(v, i, p, first, eof)
	if is == no {
		o, is = t.beheaded(v, i, p, eof)
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
			t.mark(v)
			return len(v), yes
		}
		return 0, wait
	}
	if end, more := SkipTags(v, i, eof); end > i {
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
