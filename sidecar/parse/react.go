package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Keyword is the word that begins a line.
type Keyword uint8

// The keywords.
const (
	Plain Keyword = iota // none of them
	ReactThought
	Action
	Input
	Answer
	Final
	Observation
)

var keywords = []struct {
	kw   Keyword
	word string
}{
	{Input, "action input"},
	{Action, "action"},
	{ReactThought, "thought"},
	{Final, "final answer"},
	{Answer, "answer"},
	{Observation, "observation"},
}

// LineKeyword returns the keyword of a line and where its value begins. more reports that the line is
// too short to tell.
func LineKeyword(line string) (kw Keyword, value int, more bool) {
	i := scan.SkipBytes(line, 0, " \t#*_")
	if i == len(line) {
		return Plain, 0, true
	}
	for _, k := range keywords {
		switch scan.StartsFold(line[i:], k.word, false) {
		case no:
			continue
		case wait:
			more = true
			continue
		}
		j := scan.SkipBytes(line, i+len(k.word), " *_")
		switch {
		case j == len(line):
			return Plain, 0, true
		case line[j] == ':':
			return k.kw, scan.SkipBytes(line, j+1, " *_\t"), false
		}
	}
	return Plain, 0, more
}

// ArgumentsOf returns the input without text invented behind a quoted one.
func ArgumentsOf(s string) string {
	s = strings.TrimSpace(s)
	if line, _, more := strings.Cut(s, "\n"); more && line[0] == '"' {
		if line = strings.TrimSpace(line); len(line) > 1 && line[len(line)-1] == '"' {
			return line
		}
	}
	return s
}

// InputEnd returns where the input ends that ends v: before a last line in which the model began to
// invent the result.
func InputEnd(v string, input int) int {
	i := strings.LastIndexByte(v, '\n')
	if i > input && i+1 < len(v) && scan.StartsFold(strings.TrimSpace(v[i+1:]), "observation",
		false) != no {
		return i
	}
	return len(v)
}

// ActionName removes markup and a remark in parentheses from a name.
func ActionName(s string) string {
	s = strings.Trim(s, "*`\"' \t")
	if i := strings.Index(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = strings.TrimRight(s[:i], "*`\"' \t")
	}
	return s
}

// lines is the state of a ReAct reply. Offsets are into the held text.
type lines struct {
	thought  strings.Builder
	begun    bool // by Thought:
	action   bool // an action is open
	name     string
	input    int  // start of its input, or 0
	text     bool // the input is no JSON
	inObject bool // the input is a call object in place of a name
	skip     bool // the rest of the line is ignored
	calls    int
	seen     int // no line break precedes this offset
}

// linesStart looks for a ReAct line. v[p:] is its first byte that is no blank.
func (t *text) linesStart(v string, i, p int, first, eof bool) (opening, verdict) {
	st := t.r.s.lines
	if st == nil || t.r.c.Empty() || t.r.exhausted() {
		return opening{}, no
	}
	line, _, whole := strings.Cut(v[p:], "\n")
	kw, n, more := LineKeyword(line)
	switch {
	case (more || n > 0 && n == len(line)) && !whole && !eof:
		return opening{}, wait
	case kw == Action, kw == ReactThought && first:
		return opening{begin: func(t *text, v string, _ int) {
			t.front.Add(v[:scan.SkipBlanks(v, 0)])
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

// nextLine returns the line at t.at with its break; whole reports that it is complete.
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
	if l.inObject {
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

// oneLine reads a complete line. done reports that the mode or the held text changed, and that n bytes
// are read.
func (t *text) oneLine(v, line string) (n int, done bool) {
	l := &t.lines
	kw, value, _ := LineKeyword(strings.TrimRight(line, "\n"))
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
		return 0, true // the line may hold all of the input
	case l.action && l.name == "" && kw == Plain && strings.ContainsAny(line, "{`"):
		if b := strings.IndexByte(line, '{'); b >= 0 {
			l.input, l.inObject = t.at+b, true
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

// finalAnswer enters the answer of a reply, which begins at n.
func (t *text) finalAnswer(n int) int {
	t.flushThought()
	t.r.done = true
	t.note(t.r.s.lines, 0, n, Shown, "Final Answer")
	t.message(Text, false)
	t.inside, t.trim = nil, true
	return n
}

// inputJSON continues an action input that may be JSON; a keyword at the start of a line outside a
// string ends it. yes: the call was taken or is quoted, and n bytes are read. no: the line belongs to
// the input.
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
			kw, _, more := LineKeyword(strings.TrimRight(line, "\n"))
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
		case !t.accepts(Framed, a&^Behind,
			Call{Name: ActionName(l.name)}): // what followed was invented: Observation:
			t.release(t.r.s.lines, n, quotedBecause(a))
			return 0, yes
		}
	}
	t.callLine(v, n)
	t.lines.skip = true
	return n, yes
}

// stepBlob reads a call object in place of a name.
func (t *text) stepBlob(v string, eof bool) (int, bool) {
	if !t.scan.Run(v, eof) && !eof {
		return 0, true
	}
	end := t.scan.Cut(v)
	t.flushThought()
	if !t.takeEnvelope(t.r.s.lines, v, t.lines.input, end, t.ending(), 0) {
		t.noInput(end)
	}
	t.enter(inInvented)
	return end, false
}

// callLine takes the action whose input ends at end.
func (t *text) callLine(v string, end int) {
	l, st := &t.lines, t.r.s.lines
	name := ActionName(l.name)
	t.flushThought()
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
			args, guessed = plainInput(args, t.r.c.Open())
		}
		t.addCandidate(st, v, 0, end, Call{Name: name, Args: args, Unsure: guessed}, tools.Ending{How: how})
	}
	calls := l.calls + 1
	t.enter(inLines)
	t.lines = lines{calls: calls}
	t.markUnterminated()
}

// endAction closes an action without an input, or text behind the calls.
func (t *text) endAction(v string) (n int, done bool) {
	l, at := &t.lines, t.at
	switch {
	case l.calls > 0 && !l.action:
	case !l.begun && l.calls == 0 && !t.endsTurn(ActionName(l.name)):
		t.release(t.r.s.lines, at, "no Action Input follows")
		return 0, true
	default:
		t.noInput(at)
	}
	t.enter(inInvented)
	return at, true
}

// noInput records an action that names a tool without an input.
func (t *text) noInput(end int) {
	l, st := &t.lines, t.r.s.lines
	name := ActionName(l.name)
	if l.action && t.endsTurn(name) {
		t.note(st, 0, end, Finished, "no action")
		t.r.done = true
		t.settle(Text)
		t.r.emit(Text, strings.TrimSpace(l.thought.String()))
		return
	}
	t.flushThought()
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
		t.resumeProse(0)
		return len(v), false
	case l.action && (l.begun || t.endsTurn(ActionName(l.name)) || l.calls > 0):
		t.noInput(len(v))
		t.resumeProse(0)
		return len(v), false
	}
	return t.release(t.r.s.lines, len(v), "no action follows")
}

func (t *text) flushThought() {
	if s := strings.TrimSpace(t.lines.thought.String()); s != "" {
		t.r.emit(Thought, s)
	}
	t.lines.thought.Reset()
}

func (t *text) endsTurn(name string) bool {
	return slices.ContainsFunc(t.r.s.lines.Done, func(d string) bool { return strings.EqualFold(d, name) })
}
