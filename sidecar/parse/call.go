package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxStrict is how often the end of a call body may be looked for behind a
// token inside a string before tokens end bodies wherever they stand. It keeps
// hostile input linear.
const maxStrict = 8

// beginCall enters the body of a call. The header is remembered as it was written,
// for the strategy's condition.
func (t *text) beginCall(header string) {
	if t.said = ""; t.r.s.harmony.When != nil {
		t.said = strings.Clone(header)
	}
	t.enter(inCall)
	t.last = '\n'
}

// stepCall reads the body of a call: JSON that respects strings, or text.
func (t *text) stepCall(v string, eof bool) (int, bool) {
	i := t.skipBlank(v)
	switch {
	case i == len(v) && !eof:
		return 0, true
	case i == len(v):
		return t.endCall(v, i, false)
	case v[i] != '{' && v[i] != '[' || t.strict >= maxStrict:
		return t.stepRawCall(v, i, eof)
	}
	t.scan.at, t.scan.tokens = max(t.scan.at, i), true
	switch {
	case !t.scan.run(v, eof) && !eof:
		return 0, true
	case t.scan.end > 0:
		return t.followCall(v, eof)
	case t.scan.stop > 0:
		return t.closeCall(v, t.scan.stop-1)
	}
	return t.openCall(v)
}

// followCall looks at what follows a complete value.
func (t *text) followCall(v string, eof bool) (int, bool) {
	end := t.scan.end
	if t.head.text != "" {
		switch a, is := t.around(v, end, eof); {
		case is == wait:
			return 0, true
		case !t.mayRun(a, rawCall{name: t.head.recipient}):
			return t.unsay(end)
		}
	}
	j := skipBytes(v, max(t.at, end), " \n\t\r}]") // closers too many: noise that the repair removes
	t.at = j
	if j == len(v) {
		if !eof {
			return 0, true
		}
		return t.endCall(v, j, false)
	}
	switch _, _, is := tokenAt(v[j:], eof); is {
	case wait:
		return 0, true
	case yes:
		return t.closeCall(v, j)
	}
	return t.invented(v, end)
}

// unsay gives a call back as text, its header first.
func (t *text) unsay(end int) (int, bool) {
	t.note(t.r.s.harmony, -len(t.head.text), 0, Released, quotation)
	t.r.wasted += end
	t.prose(0)
	t.pass(t.head.text)
	return 0, false
}

// invented ends a call at v[at:], which no terminator stands before: what follows
// was made up by the model.
func (t *text) invented(v string, at int) (int, bool) {
	t.endCall(v, at, true)
	t.unanswered()
	t.filler = false
	return at, false
}

// closeCall ends a call at the control token at v[at:].
func (t *text) closeCall(v string, at int) (int, bool) {
	tok, n, _ := tokenAt(v[at:], true)
	t.endCall(v, at, !tok.insideHeader())
	if tok.opens() {
		t.unanswered()
		return at, false
	}
	return at + n, false
}

// openCall handles a value that is still open at the end of the reply: a quote
// is missing, or the reply was cut.
func (t *text) openCall(v string) (int, bool) {
	for from := 0; ; {
		at, tok, n, _ := findToken(v, from)
		if at < 0 {
			break
		}
		if !tok.insideHeader() {
			t.strict++
			return t.closeCall(v, at)
		}
		from = at + n
	}
	if t.head.stripped {
		if g, is := t.glued(v, 0, len(v), true); is == yes {
			t.strict++
			return t.invented(v, g)
		}
	}
	return t.endCall(v, len(v), false)
}

// stepRawCall reads a body that is no JSON: code, a patch, a bare command.
func (t *text) stepRawCall(v string, i int, eof bool) (int, bool) {
	from := max(t.at, i)
	at, tok, n, open := findToken(v, from)
	end := open
	if at >= 0 {
		end = at
	}
	resume := end
	if t.head.stripped {
		g, is := t.glued(v, from, end, eof || at >= 0)
		if is == yes {
			return t.invented(v, g)
		}
		if is == wait {
			resume = g
		}
	}
	switch {
	case at >= 0 && tok.insideHeader():
		t.at = at + n
		return 0, false
	case at >= 0:
		return t.closeCall(v, at)
	case eof:
		return t.endCall(v, len(v), false)
	}
	t.at = resume
	return 0, true
}

// endCall hands the body v[:end] to the catalog and goes on behind it.
func (t *text) endCall(v string, end int, closed bool) (int, bool) {
	body := strings.Trim(v[:end], " \n\t\r")
	var how []tools.Repair
	if t.head.flaw != "" {
		how = append(how, tools.Repair{Kind: "harmony.header", At: t.base, From: t.head.flaw})
	}
	if !closed {
		how = append(how, tools.Repair{Kind: "harmony.unclosed", At: t.base + end})
	}
	ending := tools.Ending{Terminated: closed || !t.r.length, Length: !closed && t.r.length}
	t.found(t.r.s.harmony, v, 0, end, rawCall{t.head.recipient, body}, ending, how...)
	t.between()
	return end, false
}

// stepLost reads a commentary message without a recipient. JSON in it is the
// arguments of a call whose name was lost; text is for the user.
func (t *text) stepLost(v string, eof bool) (int, bool) {
	if t.after == afterOpen {
		t.enter(inTail)
		return 0, false
	}
	i := t.skipBlank(v)
	if i == len(v) && !eof {
		return 0, true
	}
	if i == len(v) || v[i] != '{' || t.r.c.Empty() {
		t.message(Text, false)
		return 0, false
	}
	t.scan.at, t.scan.tokens = max(t.scan.at, i), true
	if !t.scan.run(v, eof) && !eof {
		return 0, true
	}
	end := t.scan.cut(v)
	if t.nameless(v, i, end) || t.head.channel == "commentary" {
		t.between()
		t.last = v[end-1]
		return end, false
	}
	t.message(Text, false)
	return 0, false
}

// nameless looks for a call in JSON that came without a name.
func (t *text) nameless(v string, from, end int) bool {
	st := t.r.s.harmony
	if t.envelope(st, v, from, end, t.ending(), isAlone) {
		return true
	}
	doc := strings.Clone(v[from:end])
	call, ok := t.r.c.Fit(doc)
	switch {
	case !ok:
		t.note(st, from, end, Refused, "arguments without a tool name")
		t.r.refuse(tools.Refusal{Code: tools.NotOffered, Text: doc, Why: "the call names no tool, and its arguments fit no single one"})
		return false
	case !t.allowed(st, from, end, doc):
		return false
	}
	t.take(st, from, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base + from, To: call.Name}})
	return true
}
