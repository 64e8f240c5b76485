package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// inputJSON reads on in an action input that may be JSON; a keyword at the start
// of a line outside a string ends it. yes: the call was taken, and n bytes are
// done with, or it is a quotation. no: the line belongs to the input.
func (t *text) inputJSON(v, line string, whole, eof bool) (n int, is verdict) {
	l, value := &t.lines, &t.scan
	if value.Depth == 0 && value.End == 0 {
		value.At = scan.SkipSpace(v, max(value.At, l.input))
		switch {
		case value.At < len(v) && v[value.At] != '{':
			l.text = true
			return 0, no
		case value.At == len(v) && !whole:
			return 0, wait
		}
	}
	if !value.Run(v[:t.at], false) {
		if value.At <= t.at && !value.InString {
			kw, _, more := Line(strings.TrimRight(line, "\n"))
			switch {
			case more && !whole:
				return 0, wait
			case kw != Plain && kw != Input:
				n = t.at
				t.callLine(v, n)
				return n, yes
			}
		}
		if !value.Run(v[:t.at+len(line)], false) {
			if whole {
				return 0, no
			}
			return 0, wait
		}
	}
	n = value.End
	if !strings.Contains(v[l.input:n], ":") {
		l.text = true // {words}: text, not JSON
		return 0, no
	}
	if !l.begun {
		switch a, is := t.around(v, n, eof); {
		case is == wait:
			return 0, wait
		case !t.runs(Framed, a&^Behind,
			Call{Name: Name(l.name)}): // what follows was made up: Observation:
			t.release(t.r.s.lines, n, why(a))
			return 0, yes
		}
	}
	t.callLine(v, n)
	t.lines.skip = true
	return n, yes
}

// stepBlob reads a call object that stands in place of a name.
func (t *text) stepBlob(v string, eof bool) (int, bool) {
	if !t.scan.Run(v, eof) && !eof {
		return 0, true
	}
	end := t.scan.Cut(v)
	t.tellThought()
	if !t.envelope(t.r.s.lines, v, t.lines.input, end, t.ending(), 0) {
		t.noInput(end)
	}
	t.enter(inTail)
	return end, false
}

// callLine takes the action whose input ends at end.
func (t *text) callLine(v string, end int) {
	l, st := &t.lines, t.r.s.lines
	name := Name(l.name)
	t.tellThought()
	args := ArgumentsOf(v[l.input:end])
	switch {
	case t.endsTurn(name):
		t.note(st, 0, end, Finished, name)
		t.r.done = true
		if strings.HasPrefix(args, "{") {
			args = t.envelopeOf(st).AnswerOf(args)
		}
		t.settle(Text)
		t.emit(Text, args)
	default:
		how := tools.Ended
		if end == len(v) {
			how = t.r.ended
		}
		guessed := false
		if isText := args != "{}" && (!strings.HasPrefix(args, "{") ||
			!strings.Contains(args, ":")); isText && args != "" && how != tools.Cut {
			args, guessed = CodeInput(args, t.r.c.Open())
		}
		t.found(st, v, 0, end, Call{Name: name, Args: args, Unsure: guessed}, tools.Ending{How: how})
	}
	calls := l.calls + 1
	t.enter(inLines)
	t.lines = lines{calls: calls}
	t.unanswered()
}

// endAction closes an action without an input, or what follows the calls.
func (t *text) endAction(v string) (n int, done bool) {
	l, at := &t.lines, t.at
	switch {
	case l.calls > 0 && !l.action:
	case !l.begun && l.calls == 0 && !t.endsTurn(Name(l.name)):
		t.release(t.r.s.lines, at, "no Action Input follows")
		return 0, true
	default:
		t.noInput(at)
	}
	t.enter(inTail)
	return at, true
}

// noInput records an action that names a tool and gives it nothing.
func (t *text) noInput(end int) {
	l, st := &t.lines, t.r.s.lines
	name := Name(l.name)
	if l.action && t.endsTurn(name) {
		t.note(st, 0, end, Finished, "no action")
		t.r.done = true
		t.settle(Text)
		t.r.emit(Text, strings.TrimSpace(l.thought.String()))
		return
	}
	t.tellThought()
	if l.action {
		t.note(st, 0, end, Refused, "an action without an input")
		t.r.refuse(tools.Refusal{Code: tools.BadJSON, Name: name, Why: "the action has no Action Input"})
	}
}

// endLines decides at the end of the reply.
func (t *text) endLines(v string) (int, bool) {
	l := &t.lines
	switch {
	case l.input > 0:
		t.callLine(v, InputEnd(v, l.input))
		return len(v), false
	case l.calls > 0 && !l.action:
		t.prose(0)
		return len(v), false
	case l.action && (l.begun || t.endsTurn(Name(l.name)) || l.calls > 0):
		t.noInput(len(v))
		t.prose(0)
		return len(v), false
	}
	return t.release(t.r.s.lines, len(v), "no action follows")
}

func (t *text) tellThought() {
	if s := strings.TrimSpace(t.lines.thought.String()); s != "" {
		t.r.emit(Thought, s)
	}
	t.lines.thought.Reset()
}

func (t *text) endsTurn(name string) bool {
	return slices.ContainsFunc(t.r.s.lines.Done, func(d string) bool { return strings.EqualFold(d, name) })
}
