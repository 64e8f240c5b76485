package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// fence is the run of backticks or tildes that opened a code block; zero for none. Only a run at least
// as long closes it.
type fence struct {
	mark byte
	n    int
}

// fenceLine reads a line that begins with a code fence. v[p:] is its first byte that is no blank.
func (t *text) fenceLine(v string, i, p int, eof bool) (opening, verdict) {
	n := scan.SkipBytes(v, p, v[p:p+1])
	if n == len(v) && !eof {
		return opening{}, wait
	}
	if n-p < 3 {
		return opening{}, no
	}
	if t.midLineFence {
		return opening{n: n - i, begin: func(t *text, v string, n int) {
			t.flow(v[:n])
			t.midLineFence = false
		}}, yes
	}
	// it may hold a call
	if t.fence.n == 0 && !t.released && !t.r.exhausted() && t.r.s.json != nil && !t.r.c.Empty() {
		if t.fenceSigns = t.fenceFront(v, i); t.fenceSigns != Quoted {
			return opening{n: n - i, begin: func(t *text, _ string,
				_ int) {
				t.enter(inFence)
				t.fences = t.fences[:0]
			}}, yes
		}
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

// fenceFront returns the signs of the text in front of a code fence at v[i:]. A colon announces an
// example, unless the text says that the call is made.
func (t *text) fenceFront(v string, i int) Signs {
	if t.firstAt(v, i) {
		return 0
	}
	p := t.front
	p.Add(v[:i])
	text := strings.TrimRight(p.String(), scan.Script)
	switch {
	case text == "":
		return 0
	case p.Ends() == Ended && !p.EndsInLead(), t.afterClose:
		return Open
	}
	return Quoted
}

// maxInfo bounds the line that opens a fence with a call.
const maxInfo = 64

// span is a fenced value. Only fence marks and white space stand between to and next.
type span struct {
	from, to, next int
	found          Envelope
}

// stepFence holds code fences: calls if each holds a call as JSON and no text follows.
func (t *text) stepFence(v string, eof bool) (int, bool) {
	st := t.r.s.json
	for {
		value, is := t.fenceValue(v, eof)
		switch is {
		case wait:
			return 0, true
		case no:
			return t.release(st, value, "a code fence")
		}
		t.scan.At = max(t.scan.At, value)
		if !t.scan.Run(v, eof) {
			if !eof {
				return 0, true
			}
			switch {
			case len(t.fences) > 0: // those before the cut are whole
				return t.closeFences(v, scan.SkipSpace(v, t.at), eof)
			case t.takeTruncated(st, v, value):
				return t.afterCall(len(v))
			}
			return t.release(st, len(v), "a code fence that is cut")
		}
		end := t.scan.End
		if n := len(t.fences); n == 0 || t.fences[n-1].from < value {
			calls, ok := t.unwrap(st, v[value:end], false)
			if !ok || len(calls.List) == 0 {
				return t.release(st, end, "a code fence without a call")
			}
			t.fences = append(t.fences, span{value, end, end, calls})
		}
		last := &t.fences[len(t.fences)-1]
		last.next = scan.SkipBytes(v, last.next, "}] \n\t\r`~")
		next := last.next
		if next == len(v) && !eof {
			return 0, true
		}
		if again := strings.LastIndexByte(v[end:next], '\n'); again >= 0 && fenceMarks(v[end+again:next]) &&
			fenceMarks(v[end:end+again]) {
			t.at, t.scan = end+again, harmony.Scan{}
			continue
		}
		return t.closeFences(v, next, eof)
	}
}

// fenceMarks reports whether s contains the marks of a fence.
func fenceMarks(s string) bool { return strings.Contains(s, "```") || strings.Contains(s, "~~~") }

// fenceValue returns where JSON begins in the fence at v[t.at:], or the byte that shows that none does.
func (t *text) fenceValue(v string, eof bool) (value int, is verdict) {
	i := scan.SkipBytes(v, scan.SkipSpace(v, t.at), "`~")
	i = scan.SkipBlanks(v, i)
	word := scan.WordEnd(v, i)
	if word == len(v) {
		return i, scan.WaitUnless(eof || word-i > maxInfo)
	}
	switch v[i:word] {
	case "", "json", "tool_call", "tool_calls", "tool_code":
	default:
		return i, no
	}
	switch value = scan.SkipSpace(v, word); {
	case value-word > maxInfo:
		return word, no
	case value == len(v):
		return word, scan.WaitUnless(eof)
	case v[value] != '{' && v[value] != '[':
		return value, no
	case t.fenceSigns == 0:
		return value, yes
	}
	return value, t.r.s.json.Envelope.Starts(t.r.c, v[value:], eof)
}

// closeFences checks what follows the last fence and takes the calls of all.
func (t *text) closeFences(v string, next int, eof bool) (int, bool) {
	st := t.r.s.json
	if next < len(v) {
		switch t.startsMarkup(v[next:], eof) {
		case wait:
			return 0, true
		case no:
			return t.release(st, next, "a code fence that text follows")
		}
	}
	var all []Call
	for _, f := range t.fences {
		if !t.allowed(st, f.from, f.to, v[f.from:f.to]) {
			return t.release(st, next, "the strategy's condition does not hold")
		}
		all = append(all, f.found.List...)
	}
	if !t.accepts(Object, t.fenceSigns, all...) {
		return t.release(st, next, quotedBecause(t.fenceSigns))
	}
	for _, f := range t.fences {
		t.addAll(st, f.from, f.to, f.found, tools.Ending{})
	}
	return t.afterCall(next)
}
