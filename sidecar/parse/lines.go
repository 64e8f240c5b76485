package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// lines is what a ReAct reply has said so far. Offsets are into the held text.
type lines struct {
	thought strings.Builder
	begun   bool // by Thought:
	action  bool // an action is open
	name    string
	input   int  // where its input begins, or 0
	text    bool // the input is no JSON
	blob    bool // the input is a call object that stands in place of a name
	skip    bool // the rest of the line says nothing any more
	calls   int
	seen    int // there is no line break before
}

// linesStart looks for a ReAct line. v[p:] is its first non-blank byte.
func (t *text) linesStart(v string, i, p int, first, eof bool) (opening, verdict) {
	st := t.r.s.lines
	if st == nil || t.r.c.Empty() || t.r.tired() {
		return opening{}, no
	}
	line, _, whole := strings.Cut(v[p:], "\n")
	kw, n, more := Line(line)
	switch {
	case (more || n > 0 && n == len(line)) && !whole && !eof:
		return opening{}, wait
	case kw == Action, kw == ReactThought && first:
		return opening{begin: func(t *text, v string, _ int) {
			t.past.Add(v[:scan.SkipBlanks(v, 0)])
			t.enter(inLines)
			t.lines = lines{}
		}}, yes
	case kw == Final && first:
		return opening{n: p - i + n, begin: func(t *text, _ string, n int) {
			t.note(st, 0, n, Shown, "Final Answer")
			t.r.done = true
		}}, yes
	}
	return opening{}, no
}

// nextLine is the line at t.at, with its break; whole says that it is complete.
func (t *text) nextLine(v string, eof bool) (line string, whole bool) {
	l := &t.lines
	from := max(t.at, l.seen)
	if i := strings.IndexByte(v[from:], '\n'); i >= 0 {
		return v[t.at : from+i+1], true
	}
	l.seen = len(v)
	return v[t.at:], eof
}

// stepLines reads a ReAct reply line by line.
func (t *text) stepLines(v string, eof bool) (int, bool) {
	l := &t.lines
	if l.blob {
		return t.stepBlob(v, eof)
	}
	if l.skip {
		i := strings.IndexByte(v, '\n')
		if i < 0 {
			return len(v), true
		}
		l.skip = false
		return i, false
	}
	for t.at < len(v) {
		line, whole := t.nextLine(v, eof)
		if l.input > 0 && !l.text {
			n, is := t.inputJSON(v, line, whole, eof)
			switch {
			case is == yes:
				return n, false
			case is == wait:
				return 0, true
			case !l.text:
				t.at += len(line)
				continue
			}
		}
		if !whole {
			return 0, true
		}
		if n, done := t.oneLine(v, line); done {
			return n, false
		}
		t.at += len(line)
	}
	if !eof {
		return 0, true
	}
	return t.endLines(v)
}

// oneLine takes in one complete line. done says that the mode or the held text
// changed, and n bytes are done with.
func (t *text) oneLine(v, line string) (n int, done bool) {
	l := &t.lines
	kw, value, _ := Line(strings.TrimRight(line, "\n"))
	if l.input > 0 {
		if kw == Plain || kw == Input {
			return 0, false
		}
		n = t.at
		t.callLine(v, n)
		return n, true
	}
	switch {
	case (kw == Answer || kw == Final) && !l.action && (l.begun || l.calls == 0):
		return t.finalAnswer(t.at + value), true
	case kw == ReactThought && !l.action && l.calls == 0:
		l.begun = true
		l.thought.WriteString(line[value:])
	case kw == Action && !l.action:
		l.action = true
		l.name = strings.Clone(strings.TrimSpace(line[value:]))
	case kw == Input && l.action:
		l.input = t.at + value
		return 0, true // it may hold all of the input
	case l.action && l.name == "" && kw == Plain && strings.ContainsAny(line, "{`"):
		if b := strings.IndexByte(line, '{'); b >= 0 {
			l.input, l.blob = t.at+b, true
			t.scan = harmony.Scan{At: l.input}
			return 0, true
		}
	case l.calls > 0 && !scan.Blank(line), kw == Observation && l.begun, l.action && !scan.Blank(line):
		return t.endAction(v)
	case l.begun && !l.action:
		l.thought.WriteString(line)
	}
	return 0, false
}

// finalAnswer enters the answer of a reply; n is where it begins.
func (t *text) finalAnswer(n int) int {
	t.tellThought()
	t.r.done = true
	t.note(t.r.s.lines, 0, n, Shown, "Final Answer")
	t.message(Text, false)
	t.inside, t.trim = nil, true
	return n
}
