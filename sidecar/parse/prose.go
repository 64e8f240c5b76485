package parse

import "strings"

// verdict is what a look at an opener yields.
type verdict uint8

const (
	no   verdict = iota // it is text
	yes                 // it opens something
	wait                // too short to tell
)

// opening is something that opens in prose, and what to do about it.
type opening struct {
	n     int // bytes of the opener
	back  int // bytes before the trigger that belong to it
	begin func(t *text, v string, n int)
	tok   token
	op    *opener
}

// stepProse passes text on up to the next thing that opens.
func (t *text) stepProse(v string, eof bool) (int, bool) {
	at := t.at
	t.at, t.blankTo = 0, 0
	if at == 0 && t.filler {
		if blank(v) { // between two messages
			if eof {
				t.mark(v)
				return len(v), true
			}
			return 0, true
		}
		if n, is := t.noise(v, eof); is == wait {
			return 0, true
		} else if is == yes {
			return n, false
		}
	}
	if at == 0 && t.bol {
		if o, is := t.line(v, 0, eof); is != no {
			return t.opened(v, 0, o, is)
		}
	}
	for {
		j := t.next(v, at)
		if j < 0 {
			break
		}
		var o opening
		is := no
		if v[j] == '\n' {
			t.ticks = false
			if j++; j == len(v) {
				break
			}
			o, is = t.line(v, j, eof)
			if is == no {
				at = j
				continue
			}
		} else if o, is = t.inline(v, j, eof); is == no {
			at = j + max(o.n, 1)
			continue
		}
		return t.opened(v, j-o.back, o, is)
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

// opened acts on what stands at v[j:].
func (t *text) opened(v string, j int, o opening, is verdict) (int, bool) {
	if t.filler && is == wait && blank(v[:j]) {
		return 0, true
	}
	if t.filler && is == yes && o.tok != noToken && blank(v[:j]) {
		t.mark(v[:j]) // white space between two messages
	} else {
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
	case inJSON, inFence, inGlued, inLines, inMaybe, inBlock:
		return j, false // these read their own opener
	}
	return j + o.n, false
}

// pass lets v leave as text and keeps the position flags.
func (t *text) pass(v string) {
	t.flow(v)
	t.mark(v)
	if t.filler && !blank(v) {
		t.filler = false
	}
}

// next is the offset of the next byte at or after at that may open something.
func (t *text) next(v string, at int) int {
	if t.fence != 0 {
		if j := strings.IndexByte(v[at:], '\n'); j >= 0 {
			return at + j
		}
		return -1
	}
	word := t.nextWord(v, at)
	end := len(v)
	if word >= 0 {
		end = word
	}
	set := &t.r.s.first
	for i := at; i < end; i++ {
		if set[v[i]] {
			return i
		}
	}
	return word
}

// nextWord is the offset of the next word that opens something, or -1. What was
// found is kept: a text full of other openers must not be searched again at each.
func (t *text) nextWord(v string, at int) int {
	if t.word.end != t.base+len(v) || t.word.at >= 0 && t.word.at < t.base+at {
		found := -1
		rest := v[at:]
		for _, w := range t.r.s.words {
			if j := strings.Index(rest, w); j >= 0 {
				found = at + j
				rest = v[at:found]
			}
		}
		t.word.end, t.word.at = t.base+len(v), -1
		if found >= 0 {
			t.word.at = t.base + found
		}
	}
	if t.word.at < 0 {
		return -1
	}
	return t.word.at - t.base
}

// inline looks at what may open in the middle of a line.
func (t *text) inline(v string, j int, eof bool) (opening, verdict) {
	rest := v[j:]
	if rest[0] == '`' {
		n := len(rest) - len(strings.TrimLeft(rest, "`"))
		if n == len(rest) && !eof {
			return opening{}, wait
		}
		t.ticks = !t.ticks
		return opening{n: n}, no
	}
	if t.ticks {
		return opening{}, no
	}
	more := false
	if t.r.s.harmony != nil && rest[0] == '<' {
		tok, n, m := tokenAt(rest)
		if tok != noToken {
			return opening{n: n, tok: tok, begin: (*text).beginToken}, yes
		}
		more = m
		o, is := t.thinkTag(rest, eof)
		if is == yes {
			return o, yes
		}
		more = more || is == wait
	}
	if o, is := t.inlineWord(v, j, eof); is == yes {
		return o, yes
	} else if is == wait {
		more = true
	}
	for i := range t.r.s.openers {
		op := &t.r.s.openers[i]
		is, m := hasFold(rest, op.lit)
		if is && op.begins(t, v, j) {
			return opening{n: len(op.lit), op: op, begin: op.begin}, yes
		}
		more = more || m
	}
	if more && !eof {
		return opening{}, wait // it may become one of the literals, which come first
	}
	if rest[0] == '{' || rest[0] == '[' {
		return t.jsonStart(v, j, eof)
	}
	return opening{}, no
}

// firstAt says that nothing but white space stands before v[i:].
func (t *text) firstAt(v string, i int) bool {
	if !t.first {
		return false
	}
	for t.blankTo < i && isSpace(v[t.blankTo]) {
		t.blankTo++
	}
	return t.blankTo >= i
}

// line looks at what may open at the start of a line.
func (t *text) line(v string, i int, eof bool) (opening, verdict) {
	p := i
	first := t.firstAt(v, i)
	for p < len(v) && (v[p] == ' ' || v[p] == '\t') {
		p++
	}
	if p == len(v) {
		if t.r.s.lineOpens && !eof && p > i {
			return opening{}, wait
		}
		return opening{}, no
	}
	rest := v[p:]
	if rest[0] == '`' || rest[0] == '~' {
		return t.fenceLine(v, i, p, eof)
	}
	if t.fence != 0 {
		return opening{}, no
	}
	o, is := t.stripped(v, i, p, first, eof)
	if is == no {
		o, is = t.linesStart(v, i, p, first, eof)
	}
	return o, is
}

// fenceLine reads a line that begins with a code fence.
func (t *text) fenceLine(v string, i, p int, eof bool) (opening, verdict) {
	b := v[p]
	n := p
	for n < len(v) && v[n] == b {
		n++
	}
	if n-p < 3 {
		if n == len(v) && !eof {
			return opening{}, wait
		}
		return opening{}, no
	}
	if t.fence == 0 && t.firstAt(v, i) && t.fenceMayCall() {
		return opening{n: n - i, begin: func(t *text, _ string, _ int) { t.enter(inFence) }}, yes
	}
	return opening{n: n - i, begin: func(t *text, v string, n int) {
		t.flow(v[:n])
		switch t.fence {
		case 0:
			t.fence = b
		case b:
			t.fence = 0
		}
	}}, yes
}

// tail is how many bytes at the end of v may be the beginning of a word that
// opens something, or an offered name that a { could follow.
func (t *text) tail(v string) int {
	if v == "" || t.fence != 0 || t.ticks {
		return 0
	}
	hold := 0
	for _, w := range t.r.s.words {
		for k := min(len(w)-1, len(v)); k > hold; k-- {
			if strings.HasSuffix(v, w[:k]) {
				hold = k
				break
			}
		}
	}
	if t.r.s.json == nil || t.r.c.Open() || !isWord(v[len(v)-1]) {
		return hold
	}
	i := len(v)
	for i > 0 && len(v)-i < 65 && isName(v[i-1]) {
		i--
	}
	if i == 0 && !t.spaced || i > 0 && !isSpace(v[i-1]) || len(v)-i > 64 {
		return hold
	}
	if t.r.initial(v[i]) && t.r.c.HasPrefix(v[i:]) {
		return max(hold, len(v)-i)
	}
	return hold
}

func isName(b byte) bool { return isWord(b) || b == '-' || b == '.' }

// noise looks for a stray channel word between two messages.
func (t *text) noise(v string, eof bool) (n int, is verdict) {
	i := skipSpace(v, 0)
	for _, c := range [...]string{"commentary", "analysis", "final", assistant} {
		is, more := hasExact(v[i:], c)
		if more && !eof {
			return 0, wait
		}
		if !is {
			continue
		}
		n = i + len(c)
		tok, _, more := tokenAt(v[n:])
		switch {
		case tok != noToken || n == len(v) && eof:
			t.note(t.r.s.harmony, i, n, Dropped, "a stray channel word")
			return n, yes
		case n == len(v) || more && !eof:
			return 0, wait
		}
	}
	return 0, no
}
