package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// LineWords are the words that begin the lines of a ReAct reply, in front of a colon.
type LineWords struct {
	Thought     []string `rule:"thought" doc:"Words in front of a thought." eg:"[Thought]"`
	Action      []string `rule:"action" doc:"Words in front of the name of a tool." eg:"[Action, Tool]"`
	Input       []string `rule:"input" doc:"Words in front of its arguments." eg:"[Action Input, Tool Input]"`
	Answer      []string `rule:"answer" doc:"Words in front of the answer, behind a thought." eg:"[Answer]"`
	Final       []string `rule:"final" doc:"Words in front of the answer, also at the start." eg:"[Final Answer]"`
	Observation []string `rule:"observation" doc:"Words in front of a result, which the model invents." eg:"[Observation]"`
}

// usualLineWords are those of the paper and of LangChain, by their keyword.
var usualLineWords = [][]string{{"thought"}, {"action"}, {"action input"}, {"answer"}, {"final answer"},
	{"observation"}}

// kinds returns the words by their keyword, and the usual ones where none are named.
func (w *LineWords) kinds() [][]string {
	kinds := slices.Clone(usualLineWords)
	for i, own := range [][]string{w.Thought, w.Action, w.Input, w.Answer, w.Final, w.Observation} {
		if len(own) > 0 {
			kinds[i] = own
		}
	}
	return kinds
}

// keyword is the kind of the word that begins a line.
type keyword uint8

const (
	otherLine keyword = iota // none of them
	thoughtLine
	actionLine
	inputLine
	answerLine
	finalLine
	observationLine
)

// lineKeyword returns the keyword of a line and where its value begins. more reports that the line is too
// short to tell.
func lineKeyword(kinds [][]string, line string) (kw keyword, value int, more bool) {
	i := scan.SkipBytes(line, 0, " \t#*_")
	if i == len(line) {
		return otherLine, 0, true
	}
	for n, words := range kinds {
		for _, word := range words {
			switch scan.StartsFold(line[i:], word, false) {
			case no:
				continue
			case wait:
				more = true
				continue
			}
			j := scan.SkipBytes(line, i+len(word), " *_")
			switch {
			case j == len(line):
				return otherLine, 0, true
			case line[j] == ':':
				return thoughtLine + keyword(n), scan.SkipBytes(line, j+1, " *_\t"), false
			}
		}
	}
	return otherLine, 0, more
}

// lineArguments returns the input without text invented behind a quoted one.
func lineArguments(s string) string {
	s = strings.TrimSpace(s)
	if line, _, more := strings.Cut(s, "\n"); more && line[0] == '"' {
		if line = strings.TrimSpace(line); len(line) > 1 && line[len(line)-1] == '"' {
			return line
		}
	}
	return s
}

// inputEnd returns where the input ends that ends v: before a last line in which the model began to
// invent the result.
func (s *Strategies) inputEnd(v string, input int) int {
	i := strings.LastIndexByte(v, '\n')
	if i <= input || i+1 == len(v) {
		return len(v)
	}
	last := strings.TrimSpace(v[i+1:])
	if _, is := scan.StartsAnyFold(last, s.lineWords[observationLine-1], false); is == no {
		return len(v)
	}
	return i
}

// actionName removes markup and a remark in parentheses from a name.
func actionName(s string) string {
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
	kw, n, more := lineKeyword(t.r.s.lineWords, line)
	switch {
	case (more || n > 0 && n == len(line)) && !whole && !eof:
		return opening{}, wait
	case kw == actionLine, kw == thoughtLine && first:
		return opening{begin: func(t *text, v string, _ int) {
			t.front.Add(v[:scan.SkipBlanks(v, 0)])
			t.enter(inLines)
			t.lines = lines{}
		}}, yes
	case kw == finalLine && first:
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
	kw, value, _ := lineKeyword(t.r.s.lineWords, strings.TrimRight(line, "\n"))
	if l.input > 0 {
		if kw == otherLine || kw == inputLine {
			return 0, false
		}
		n = t.at
		t.callLine(v, n)
		return n, true
	}
	switch {
	case (kw == answerLine || kw == finalLine) && !l.action && (l.begun || l.calls == 0):
		return t.finalAnswer(t.at + value), true
	case kw == thoughtLine && !l.action && l.calls == 0:
		l.begun = true
		l.thought.WriteString(line[value:])
	case kw == actionLine && !l.action:
		l.action = true
		l.name = strings.Clone(strings.TrimSpace(line[value:]))
	case kw == inputLine && l.action:
		l.input = t.at + value
		return 0, true // the line may hold all of the input
	case l.action && l.name == "" && kw == otherLine && strings.ContainsAny(line, "{`"):
		if b := strings.IndexByte(line, '{'); b >= 0 {
			l.input, l.inObject = t.at+b, true
			t.scan = harmony.Scan{At: l.input}
			return 0, true
		}
	case l.calls > 0 && !scan.Blank(line), kw == observationLine && l.begun, l.action && !scan.Blank(line):
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
			kw, _, more := lineKeyword(t.r.s.lineWords, strings.TrimRight(line, "\n"))
			switch {
			case more && !whole:
				return 0, wait
			case kw != otherLine && kw != inputLine:
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
			Call{Name: actionName(l.name)}): // what followed was invented: Observation:
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
	name := actionName(l.name)
	t.flushThought()
	args := lineArguments(v[l.input:end])
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
	case !l.begun && l.calls == 0 && !t.endsTurn(actionName(l.name)):
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
	name := actionName(l.name)
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
		t.callLine(v, t.r.s.inputEnd(v, l.input))
		return len(v), false
	case l.calls > 0 && !l.action:
		t.resumeProse(0)
		return len(v), false
	case l.action && (l.begun || t.endsTurn(actionName(l.name)) || l.calls > 0):
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
