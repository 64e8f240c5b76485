package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// searchCost is the cost of searching a candidate without a hit, compared with holding it.
const searchCost = 4

// edge is where a candidate ends: its inside at the first offset, all of it at the
// second. closed says that not just the reply has ended there.
type edge struct {
	inside, end int
	closed      bool
}

// edge finds the first end of a candidate at or behind from.
func (t *text) edge(v string, from int, eof bool) (edge, verdict) {
	until := t.open.st.Matcher.Until
	if len(t.closers) > 0 {
		if at, n := t.closing(v, from, eof); at >= 0 {
			return edge{at, at + n, true}, yes
		}
	} else if i := strings.IndexByte(v[from:], '\n'); i >= 0 && until != UntilReply {
		return edge{from + i, from + i, true}, yes
	}
	if !eof {
		return edge{}, wait
	}
	return edge{len(v), len(v), len(t.closers) == 0 && !t.r.cut()}, yes
}

// readPattern reads the calls of a candidate. v begins with the opening literal,
// which ends at from.
func (t *text) readPattern(v string, from int, eof bool) (block, verdict) {
	e, is := t.edge(v, from, eof)
	if is == wait {
		return block{}, wait
	}
	var b block
	at, value := 0, 0 // where the last match ends; and the last one, if it is JSON
	for len(b.calls) < Most {
		m, ok := t.open.st.Matcher.Next(v, at, e.inside, e.end, t.named)
		if !ok {
			break
		}
		at, value = m.End, 0
		if m.JSON < 0 {
			b.note(Call{Name: m.Name, Args: m.Args}, e.closed && m.Read)
			continue
		}
		json := harmony.Scan{At: m.JSON, Stops: t.closers}
		whole := json.Run(v, eof)
		switch {
		case !whole && !eof:
			return block{}, wait
		case !whole: // a quote or bracket that never closes
			if !e.closed {
				b.ending.How = t.r.ended
			}
			b.note(Call{Name: m.Name, Args: v[m.JSON:e.inside]}, true)
			at = e.end
			continue
		}
		at = json.Cut(v)
		value = max(at, m.End)
		if at > e.end { // what looked like the end stands in the value
			if e, is = t.edge(v, at, eof); is == wait {
				return block{}, wait
			}
		}
		b.note(Call{Name: m.Name, Args: v[m.JSON:at]}, true)
	}
	closed := e.closed && len(t.closers) > 0
	b.end = e.end
	switch {
	case len(b.calls) == 0 && !b.truncated:
		t.r.waste(t.open.st, t.base, searchCost*e.end)
		return b, no
	case value > 0 && !closed:
		b.end = value
	}
	return b, yes
}

// note takes a call that was read as a whole; any other is refused.
func (b *block) note(c Call, whole bool) {
	if whole {
		b.calls = append(b.calls, c)
	} else {
		b.truncated = true
	}
}
