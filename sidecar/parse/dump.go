package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A dump is the message of an API or of a library that stands in place of the call in it: JSON in several
// lines, or what a program prints. It is all of the reply, or all that follows a sentence that makes a call.

// dumpStart looks for one at the start of a line. v[p:] is its first byte that is no blank.
func (t *text) dumpStart(v string, p int, first, eof bool) (opening, verdict) {
	if t.r.s.printed == nil || t.r.c.Empty() || t.r.tired() {
		return opening{}, no
	}
	is := t.r.s.printed.Begins(v[p:], eof)
	if is != no && !first {
		front := t.past
		if front.Add(v[:p]); t.r.c.Open() || !front.Says() || t.leads(&front) {
			return opening{}, no
		}
	}
	return opening{begin: func(t *text, _ string, _ int) { t.enter(inDump) }}, is
}

// stepDump holds what may be a dump up to the end of the reply.
func (t *text) stepDump(v string, eof bool) (int, bool) {
	if t.early(v, eof) {
		return 0, true
	}
	value, is := t.r.s.printed.Read(v, t.r.facts.MaxDepth, eof)
	if is == wait {
		return 0, true
	}
	st := t.r.s.json
	if is == yes && !t.r.cut() {
		if found, ok := st.Envelope.Found(t.r.c, value); ok && t.takeDump(found, v) {
			return len(v), false
		}
	}
	return t.releaseValue(max(value.At, 1), noCall) // or it would open again
}

// takeDump takes the calls in v, which the reply ends in, or reads the tokens in it as they would have
// been read. Where the user writes about calls, what a program printed is what they asked for.
func (t *text) takeDump(found EnvelopeFound, v string) bool {
	st := t.r.s.json
	switch {
	case found.Printed && t.r.facts.aboutCalls():
		return false
	case found.Again == "":
		if !t.takeIf(st, v, 0, len(v), found, tools.Ending{}, t.atEnd(v)) {
			return false
		}
	case t.atEnd(v) != 0 || !t.allowed(st, 0, len(v), v):
		return false
	default:
		t.settle(Text)
		t.note(st, 0, len(v), Found, "the tokens of a reply")
		t.r.overhear(found.Again, t.r.ended, found.Printed)
	}
	t.behindCall(len(v))
	return true
}

// more says that v[end:], behind a value, is the next line of a dump.
func (t *text) more(v string, end int) bool {
	return t.first && strings.Contains(v[end:t.at], "\n") && v[t.at] == '{' &&
		t.r.s.json.Envelope.Leads(t.r.c, v[:end])
}
