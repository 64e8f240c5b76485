package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// fence is the run of backticks or tildes that opened a code block; the zero
// fence is none. Only a run at least as long closes it.
type fence struct {
	mark byte
	n    int
}

// fenceLine reads a line that begins with a code fence. v[p:] is its first
// non-blank byte.
func (t *text) fenceLine(v string, i, p int, eof bool) (opening, verdict) {
	n := skipBytes(v, p, v[p:p+1])
	if n == len(v) && !eof {
		return opening{}, wait
	}
	if n-p < 3 {
		return opening{}, no
	}
	if t.fence.n == 0 && t.firstAt(v, i) && t.fenceMayCall() {
		return opening{n: n - i, begin: func(t *text, _ string, _ int) { t.enter(inFence) }}, yes
	}
	run := fence{v[p], n - p}
	return opening{n: n - i, begin: func(t *text, v string, n int) {
		t.flow(v[:n])
		switch {
		case t.fence.n == 0:
			t.fence = run
		case t.fence.mark == run.mark && t.fence.n <= run.n:
			t.fence = fence{}
		}
	}}, yes
}

// fenceMayCall says whether a code fence at the start could be a whole reply.
func (t *text) fenceMayCall() bool {
	return !t.released && !t.r.tired() && t.r.s.json != nil && !t.r.c.Empty()
}

// maxInfo is how long the line is that opens a fence with a call.
const maxInfo = 256

// stepFence holds a code fence at the start of the reply: a call, if JSON in it
// is one and nothing follows.
func (t *text) stepFence(v string, eof bool) (int, bool) {
	st := t.r.s.json
	head := v[:min(len(v), maxInfo)]
	brace := strings.IndexAny(head, "{[")
	if brace < 0 {
		if !eof && len(head) < maxInfo {
			return 0, true
		}
		return t.release(st, len(head), "a code fence without JSON")
	}
	switch strings.TrimSpace(strings.TrimLeft(v[:brace], " \t`~")) {
	case "", "json", "tool_call", "tool_calls", "tool_code":
	default:
		return t.release(st, brace, "a code fence")
	}
	t.scan.at = max(t.scan.at, brace)
	if !t.scan.run(v, eof) {
		if !eof {
			return 0, true
		}
		if t.severed(st, v, brace) {
			t.behindCall()
			return len(v), false
		}
		return t.release(st, len(v), "a code fence that is cut")
	}
	return t.closeFence(v, brace, eof)
}

// closeFence looks at what follows the value in a fence.
func (t *text) closeFence(v string, brace int, eof bool) (int, bool) {
	st, end := t.r.s.json, t.scan.end
	if t.at == 0 {
		if calls, ok := t.unwrap(st, v[brace:end], false); !ok || len(calls.list) == 0 {
			return t.release(st, end, "a code fence without a call")
		}
		t.at = end
	}
	t.at = skipBytes(v, t.at, " \n\t\r`~")
	switch {
	case t.at < len(v):
		return t.release(st, t.at, "a code fence that text follows")
	case !eof:
		return 0, true
	}
	if !t.envelope(st, v, brace, end, tools.Ending{Terminated: true}, isAlone) {
		return t.release(st, end, "the strategy's condition does not hold")
	}
	t.behindCall()
	return len(v), false
}
