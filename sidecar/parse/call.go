package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxStrict is how often the end of a call body may be looked for behind a
// token inside a string before tokens end bodies wherever they stand. It keeps
// hostile input linear.
const maxStrict = 8

// valueScan finds the end of a JSON value and resumes where it stopped.
type valueScan struct {
	at       int
	depth    int
	inString bool
	end      int // of the value; 0 while it is open
	token    int // offset of a control token outside strings, plus one
}

// run reads on in v, whose first byte never changes. tokens says that control
// tokens outside strings end the value.
func (s *valueScan) run(v string, tokens, eof bool) (done bool) {
	if s.end > 0 || s.token > 0 {
		return true
	}
	i := s.at
	for i < len(v) {
		if s.inString {
			j := strings.IndexAny(v[i:min(len(v), i+16)], `"\`)
			if j < 0 && i+16 < len(v) {
				q, b := strings.IndexByte(v[i:], '"'), strings.IndexByte(v[i:], '\\')
				j = least(q, b)
			}
			if j < 0 {
				i = len(v)
				break
			}
			i += j
			if v[i] == '\\' {
				if i+1 == len(v) {
					break
				}
				i += 2
				continue
			}
			s.inString = false
			i++
			continue
		}
		switch v[i] {
		case '"':
			s.inString = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				s.end = i + 1
				return true
			}
		case '<':
			if tokens {
				tok, _, more := tokenAt(v[i:])
				if tok != noToken {
					s.token = i + 1
					return true
				}
				if more && !eof {
					s.at = i
					return false
				}
			}
		}
		i++
	}
	s.at = i
	return false
}

func least(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// headText remembers how the header was written, for the strategy's condition.
func (t *text) headText(s string) {
	t.said = ""
	if h := t.r.s.harmony; h != nil && h.When != nil {
		t.said = strings.Clone(s)
	}
}

// stepCall reads the body of a call: JSON that respects strings, or text.
func (t *text) stepCall(v string, eof bool) (int, bool) {
	i := skipSpace(v, 0)
	if i == len(v) {
		if !eof {
			return 0, true
		}
		t.endCall(v, len(v), false)
		return len(v), false
	}
	if v[i] != '{' && v[i] != '[' || t.strict >= maxStrict {
		return t.stepRawCall(v, i, eof)
	}
	if t.scan.at < i {
		t.scan.at = i
	}
	switch {
	case !t.scan.run(v, true, eof):
		if !eof {
			return 0, true
		}
		return t.openCall(v)
	case t.scan.token > 0:
		return t.closeCall(v, t.scan.token-1)
	}
	return t.followCall(v, eof)
}

// followCall looks at what follows a complete value.
func (t *text) followCall(v string, eof bool) (int, bool) {
	end := t.scan.end
	j := skipSpace(v, end)
	for j < len(v) && (v[j] == '}' || v[j] == ']') {
		j = skipSpace(v, j+1) // closers too many: noise that the repair removes
	}
	if j == len(v) {
		if !eof {
			return 0, true
		}
		t.endCall(v, j, false)
		return j, false
	}
	tok, _, more := tokenAt(v[j:])
	if more && !eof {
		return 0, true
	}
	if tok != noToken {
		return t.closeCall(v, j)
	}
	t.endCall(v, end, true)
	t.after = afterOpen
	t.filler = false
	return end, false
}

// closeCall ends a call at the control token at v[at:].
func (t *text) closeCall(v string, at int) (int, bool) {
	tok, n, _ := tokenAt(v[at:])
	if tok == messageToken || tok == constrainToken {
		t.endCall(v, at, false)
		return at + n, false
	}
	t.endCall(v, at, true)
	if tok.opens() {
		t.after = afterOpen
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
		if tok.closes() || tok.opens() {
			t.strict++
			return t.closeCall(v, at)
		}
		from = at + n
	}
	if t.head.stripped {
		if g, is := t.glued(v, true); is == yes {
			t.endCall(v, g, true)
			t.after = afterOpen
			return g, false
		}
	}
	t.endCall(v, len(v), false)
	return len(v), false
}

// stepRawCall reads a body that is no JSON: code, a patch, a bare command.
func (t *text) stepRawCall(v string, i int, eof bool) (int, bool) {
	at, tok, n, open := findToken(v, max(t.at, i))
	end := at
	if at < 0 {
		end = open
	}
	if t.head.stripped {
		if g, is := t.glued(v[i:end], eof || at >= 0); is == yes {
			t.endCall(v, i+g, true)
			t.after = afterOpen
			return i + g, false
		}
	}
	switch {
	case at >= 0 && (tok == messageToken || tok == constrainToken):
		t.at = at + n
		return 0, false
	case at >= 0:
		return t.closeCall(v, at)
	case eof:
		t.endCall(v, len(v), false)
		return len(v), false
	}
	t.at = max(0, open-64)
	return 0, true
}

// endCall hands the body v[:end] to the catalog and goes on behind it.
func (t *text) endCall(v string, end int, closed bool) {
	body := strings.Trim(v[:end], " \n\t\r")
	var how []tools.Repair
	if t.head.flaw != "" {
		how = append(how, tools.Repair{Kind: "harmony.header", At: t.base, From: t.head.flaw})
	}
	if !closed {
		how = append(how, tools.Repair{Kind: "harmony.unclosed", At: t.base + end})
	}
	ending := tools.Ending{Terminated: closed || !t.r.length, Length: !closed && t.r.length}
	t.found(t.r.s.harmony, v, 0, end, t.head.recipient, body, ending, how...)
	t.between()
}

// stepLost reads a commentary message without a recipient. JSON in it is the
// arguments of a call whose name was lost; text is for the user.
func (t *text) stepLost(v string, eof bool) (int, bool) {
	i := skipSpace(v, 0)
	if i == len(v) && !eof {
		return 0, true
	}
	if t.after == afterOpen {
		t.enter(inTail)
		return 0, false
	}
	if i == len(v) || v[i] != '{' || t.r.c.Empty() {
		t.message(Text, false)
		return 0, false
	}
	t.scan.at = max(t.scan.at, i)
	if !t.scan.run(v, true, eof) && !eof {
		return 0, true
	}
	end := len(v)
	if t.scan.end > 0 {
		end = t.scan.end
	} else if t.scan.token > 0 {
		end = t.scan.token - 1
	}
	if t.nameless(v, i, end) || t.head.channel == "commentary" {
		t.between()
		t.bol = false
		return end, false
	}
	t.message(Text, false)
	return 0, false
}

// nameless looks for a call in JSON that came without a name.
func (t *text) nameless(v string, from, end int) bool {
	doc := strings.Clone(v[from:end])
	if t.envelope(t.r.s.harmony, v, from, end, doc) {
		return true
	}
	call, ok := t.r.c.Fit(doc)
	if !ok {
		t.note(t.r.s.harmony, from, end, Refused, "arguments without a tool name")
		t.r.refuse(tools.Refusal{Code: tools.NotOffered, Text: doc, Why: "the call names no tool, and its arguments fit no single one"})
		return false
	}
	t.take(t.r.s.harmony, from, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base + from, To: call.Name}})
	return true
}
