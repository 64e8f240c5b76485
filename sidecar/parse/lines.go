package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// keyword is the word that a ReAct line begins with.
type keyword uint8

const (
	plainLine keyword = iota
	thoughtLine
	actionLine
	inputLine
	answerLine
	observationLine
)

var keywords = []struct {
	kw   keyword
	word string
}{
	{inputLine, "action input"},
	{actionLine, "action"},
	{thoughtLine, "thought"},
	{answerLine, "final answer"},
	{answerLine, "answer"},
	{observationLine, "observation"},
}

// lines is what a ReAct reply has said so far. Offsets are into the held text.
type lines struct {
	begun   bool // by Thought:
	thought strings.Builder
	name    string
	action  bool
	input   int  // where the action input begins, or 0
	blob    bool // the input is a call object that stands in place of a name
	calls   int
}

// lineWord reads the keyword of a line and where its value begins. more says
// that the line is too short to tell.
func lineWord(line string) (kw keyword, value int, more bool) {
	i := 0
	for i < len(line) && strings.IndexByte(" \t#*_", line[i]) >= 0 {
		i++
	}
	if i == len(line) {
		return plainLine, 0, true
	}
	for _, k := range keywords {
		is, m := hasFold(line[i:], k.word)
		if !is {
			more = more || m
			continue
		}
		j := i + len(k.word)
		for j < len(line) && strings.IndexByte(" *_", line[j]) >= 0 {
			j++
		}
		if j == len(line) {
			return plainLine, 0, true
		}
		if line[j] == ':' {
			j++
			for j < len(line) && strings.IndexByte(" *_\t", line[j]) >= 0 {
				j++
			}
			return k.kw, j, false
		}
	}
	return plainLine, 0, more
}

// linesStart looks for a ReAct line. v[p:] is its first non-blank byte.
func (t *text) linesStart(v string, i, p int, first, eof bool) (opening, verdict) {
	st := t.r.s.lines
	if st == nil || t.r.c.Empty() {
		return opening{}, no
	}
	line, whole := v[p:], eof
	if len(line) > 256 {
		line, whole = line[:256], true // far more than a keyword needs
	}
	if k := strings.IndexByte(line, '\n'); k >= 0 {
		line, whole = line[:k], true
	}
	kw, n, more := lineWord(line)
	switch {
	case (more || kw == answerLine && n == len(line)) && !whole && len(line) < 64:
		return opening{}, wait
	case kw == actionLine, kw == thoughtLine && first:
		return opening{begin: func(t *text, _ string, _ int) {
			t.enter(inLines)
			t.lines = lines{}
		}}, yes
	case kw == answerLine && first && strings.IndexByte("fF", line[strings.IndexAny(line, "fFaA")]) >= 0:
		return opening{n: p - i + n, begin: func(t *text, _ string, n int) {
			t.note(st, 0, n, Shown, "Final Answer")
			t.r.done = true
		}}, yes
	}
	return opening{}, no
}

// stepLines reads a ReAct reply line by line.
func (t *text) stepLines(v string, eof bool) (int, bool) {
	st := t.r.s.lines
	if t.lines.blob {
		return t.stepBlob(v, eof)
	}
	for t.at < len(v) {
		end := strings.IndexByte(v[t.at:], '\n')
		whole := end >= 0
		if end < 0 {
			end = len(v) - t.at
		} else {
			end++
		}
		line := v[t.at : t.at+end]
		if t.lines.input > 0 && t.scan.depth+t.scan.end > 0 || t.lines.input > 0 && t.jsonInput(v) {
			if n, done := t.inputJSON(v, line, whole, eof); done {
				return n, false
			}
		}
		if !whole && !eof {
			return 0, true
		}
		n, done := t.oneLine(v, line)
		if done {
			return n, false
		}
		t.at += end
	}
	if !eof {
		if len(v) > t.r.maxText {
			return t.release(st, 1, "too long for ReAct")
		}
		return 0, true
	}
	return t.endLines(v)
}

// oneLine takes in one complete line. done says that the mode or the held text
// changed, and n bytes are done with.
func (t *text) oneLine(v, line string) (n int, done bool) {
	l := &t.lines
	kw, value, _ := lineWord(strings.TrimRight(line, "\n"))
	if l.input > 0 {
		switch kw {
		case plainLine, inputLine:
			return 0, false
		}
		at := t.at
		t.callLine(v, at)
		return at, true
	}
	switch {
	case kw == answerLine && !l.action && (l.begun || l.calls == 0):
		t.tellThought()
		t.r.done = true
		n = t.at + value
		t.note(t.r.s.lines, 0, n, Shown, "Final Answer")
		t.message(Text, false)
		t.trim = true
		return n, true
	case kw == thoughtLine && !l.action && l.calls == 0:
		l.begun = true
		l.thought.WriteString(line[value:])
	case kw == actionLine && !l.action:
		l.action = true
		l.name = strings.Clone(strings.TrimSpace(line[value:]))
		if l.name == "" {
			l.input = 0
		}
	case kw == inputLine && l.action:
		l.input = t.at + value
	case l.action && l.name == "" && kw == plainLine && strings.ContainsAny(line, "{`"):
		if b := strings.IndexByte(line, '{'); b >= 0 {
			l.input, l.blob = t.at+b, true
			t.scan = valueScan{at: l.input}
			return 0, true
		}
	case l.calls > 0 && !blank(line) || kw == observationLine && l.begun:
		return t.endAction(v)
	case l.action && !blank(line):
		return t.endAction(v)
	case l.begun && !l.action:
		l.thought.WriteString(line)
	}
	return 0, false
}

// jsonInput says whether the action input is JSON.
func (t *text) jsonInput(v string) bool {
	i := skipSpace(v, t.lines.input)
	if i == len(v) || v[i] != '{' {
		return false
	}
	t.scan.at = max(t.scan.at, i)
	return true
}

// inputJSON reads on in a JSON input, one line at a time.
func (t *text) inputJSON(v, line string, whole, eof bool) (int, bool) {
	if !t.scan.inString {
		kw, _, more := lineWord(strings.TrimRight(line, "\n"))
		if more && !whole && !eof {
			return 0, false
		}
		if kw != plainLine && kw != inputLine && t.at > t.lines.input {
			at := t.at
			t.callLine(v, at)
			return at, true
		}
	}
	if !t.scan.run(v[:t.at+len(line)], false, eof) {
		return 0, false
	}
	end := t.scan.end
	if !strings.Contains(v[t.lines.input:end], ":") {
		t.scan = valueScan{at: len(v)} // {words}: text, not JSON
		return 0, false
	}
	t.callLine(v, end)
	nl := strings.IndexByte(v[end:], '\n')
	if nl < 0 {
		nl = len(v) - end
	}
	return end + nl, true
}

// stepBlob reads a call object that stands in place of a name.
func (t *text) stepBlob(v string, eof bool) (int, bool) {
	done := t.scan.run(v, false, eof)
	if !done && !eof && len(v) <= t.r.maxText {
		return 0, true
	}
	end := len(v)
	if done {
		end = t.scan.end
	}
	t.tellThought()
	if !t.envelope(t.r.s.json, v, t.lines.input, end, v[t.lines.input:end]) {
		t.noInput(v)
	}
	t.enter(inTail)
	return end, false
}

// callLine takes the action whose input ends at end.
func (t *text) callLine(v string, end int) {
	l := &t.lines
	t.tellThought()
	name := cleanAction(l.name)
	args := strings.TrimSpace(v[l.input:end])
	if i := strings.IndexByte(args, '\n'); len(args) > 1 && args[0] == '"' && i > 0 && strings.HasSuffix(strings.TrimSpace(args[:i]), `"`) {
		args = strings.TrimSpace(args[:i]) // what follows a quoted input was invented
	}
	st := t.r.s.lines
	switch {
	case t.endsTurn(name):
		t.note(st, 0, end, Finished, name)
		t.r.done = true
		if args != "" && args[0] != '{' {
			t.settle(Text)
			t.r.emit(Text, args)
		}
	default:
		if args != "" && (args[0] != '{' || !strings.Contains(args, ":")) && args != "{}" {
			args = quoteText(args)
			if t.r.c.Open() {
				args = `{"input":` + args + `}`
			}
		}
		t.found(st, v, 0, end, name, args, tools.Ending{Terminated: !t.r.length || end < len(v), Length: t.r.length && end == len(v)})
	}
	calls := l.calls + 1
	t.enter(inLines)
	t.lines = lines{calls: calls}
	t.after = afterOpen
}

// quoteText makes a JSON string of plain input; quotes around it are dropped.
func quoteText(s string) string {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	return string(appendQuoted(nil, s))
}

// endAction closes an action without an input, or what follows the calls.
func (t *text) endAction(v string) (int, bool) {
	l := &t.lines
	if l.calls > 0 && !l.action {
		at := t.at
		t.enter(inTail)
		return at, true
	}
	if !l.begun && l.calls == 0 && !t.endsTurn(cleanAction(l.name)) {
		t.lines = lines{}
		t.release(t.r.s.lines, t.at, "no Action Input follows")
		return 0, true
	}
	at := t.at
	t.noInput(v[:at])
	t.enter(inTail)
	return at, true
}

// noInput records an action that names a tool and gives it nothing.
func (t *text) noInput(v string) {
	l := &t.lines
	name := cleanAction(l.name)
	if l.action && t.endsTurn(name) {
		t.note(t.r.s.lines, 0, len(v), Finished, "no action")
		t.r.done = true
		t.settle(Text)
		t.r.emit(Text, strings.TrimSpace(l.thought.String()))
		return
	}
	t.tellThought()
	if l.action {
		t.note(t.r.s.lines, 0, len(v), Refused, "an action without an input")
		t.r.refuse(tools.Refusal{Code: tools.BadJSON, Name: name, Why: "the action has no Action Input"})
	}
}

// endLines decides at the end of the reply.
func (t *text) endLines(v string) (int, bool) {
	l := &t.lines
	switch {
	case l.input > 0:
		end := len(v)
		if i := strings.LastIndexByte(v, '\n'); i > l.input && t.scan.end == 0 {
			if is, more := hasFold(strings.TrimSpace(v[i+1:]), "observation"); (is || more) && i+1 < len(v) {
				end = i
			}
		}
		t.callLine(v, end)
		return len(v), false
	case l.calls > 0 && !l.action:
		t.prose(0)
		return len(v), false
	case l.action && (l.begun || t.endsTurn(cleanAction(l.name)) || l.calls > 0):
		t.noInput(v)
		t.prose(0)
		return len(v), false
	}
	t.lines = lines{}
	return t.release(t.r.s.lines, len(v), "no action follows")
}

func (t *text) tellThought() {
	if s := strings.TrimSpace(t.lines.thought.String()); s != "" {
		t.r.emit(Thought, s)
	}
	t.lines.thought.Reset()
}

func (t *text) endsTurn(name string) bool {
	for _, d := range t.r.s.lines.Done {
		if strings.EqualFold(d, name) {
			return true
		}
	}
	return false
}

// cleanAction removes markup and a remark in parentheses from a name.
func cleanAction(s string) string {
	s = strings.Trim(s, "*`\"' \t")
	if i := strings.Index(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	return s
}
