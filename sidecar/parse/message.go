package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// beginToken acts on a control token in prose. v begins with it.
func (t *text) beginToken(v string, n int) {
	tok, _, _ := t.tokenAt(v, true)
	t.r.result.Marked = true
	if tok == harmony.Call || tok == harmony.Constrain {
		t.note(t.r.s.harmony, 0, n, Dropped, "a lone "+tok.String())
	}
	switch {
	case tok.Opens():
		t.openQuotable(v[:n], tok, false)
	case tok == harmony.End:
		t.settle(Thought)
		t.awaitMessage()
		t.afterClose = true
	case tok == harmony.Return:
		t.settle(Text)
		t.awaitMessage()
	case tok == harmony.Message && t.first: // its header was lost
		t.settle(Text)
		t.head = head{}
		t.enter(inNameless)
	case tok == harmony.Message:
		t.settle(Text)
		t.message(Text, false)
	case tok == harmony.Call && t.first &&
		t.r.found == 0: // it opens a call, for a model that confuses the tokens
		t.awaitMessage()
		t.first = true
	case tok == harmony.Call:
		t.settle(Text)
		t.message(Text, true)
	}
}

func (t *text) openHeader(from harmony.From) {
	t.enter(inHeader)
	t.r.result.Marked = true
	t.head = head{}
	t.at = int(from)
}

// awaitMessage waits for the next message of a marked-up reply.
func (t *text) awaitMessage() {
	t.closeInside(tools.Ended) // of a message that ends with its header
	t.enter(inProse)
	t.startLine()
	t.afterMessage = true
}

// message enters the body of a message.
func (t *text) message(k EventKind, drop bool) {
	t.enter(inMessage)
	t.closeInside(tools.Ended)
	t.kind, t.drop, t.think, t.trim, t.otherText = k, drop, "", false, nil
	if t.startLine(); k == Text && !drop {
		t.openInside()
	}
}

// stepHeader reads a header and decides what the message is.
func (t *text) stepHeader(v string, eof bool) (int, bool) {
	h, n, is := t.grammar.Read(v, harmony.From(t.at), eof)
	if is == wait {
		return 0, true
	}
	if !t.alias {
		h.Own()
	}
	if strings.TrimSuffix(h.Recipient, ".")+"." == harmony.Namespace { // the name was lost
		h.Recipient, h.Constrain = "", true
	}
	words := &t.r.s.header.Words
	words.Address(&h, t.r.names.Named)
	t.head.Header = h
	if t.head.quotable {
		// no message begins: a sentence mentions the header
		if t.head.open && (h.Stop.Closes() || h.Stop == harmony.None && !h.Body) {
			t.showHeader(t.head.text + v[:n-h.StopN])
			return n - h.StopN, false
		}
		t.head.text, t.head.tokened = t.head.text+strings.Clone(v[:n]), true
	}
	foreign := words.Foreign(&t.head.Header)
	call := !foreign && t.isCall(v, n)
	if t.head.tokened && !call {
		t.settleQuotable()
	}
	switch {
	case foreign:
		// before that it may be an echo of the request
		if t.r.found > 0 || t.spoke || !words.Echo(&t.head.Header, "", "") {
			t.note(t.r.s.harmony, 0, n, Dropped, "the model speaks for another role")
			t.enter(inInvented)
			return n, false
		}
		t.message(Text, true)
		t.otherText = []byte{}
	case call:
		t.beginCall(v[:n])
	case t.unterminated:
		t.enter(inInvented)
		return n, false
	case h.Channel == harmony.Analysis:
		t.message(Thought, false)
	case tools.IsRole(h.Recipient): // a message to a person calls nothing
		t.message(Text, false)
		t.inside = nil
	case h.Channel == harmony.Commentary || h.Channel == "" && h.Constrain:
		t.enter(inNameless)
	default:
		t.message(Text, false)
	}
	if h.Stop.Closes() || h.Stop == harmony.None && !h.Body {
		t.closeHeader(v[:n])
	}
	return n, false
}

// closeHeader handles a header that is closed before a body began, or that reaches the end of the input or
// its limit: the text that fits nowhere in it is the body.
func (t *text) closeHeader(head string) {
	h := &t.head
	switch {
	case t.mode == inCall:
		t.noArguments(len(head), h.Recipient)
	case h.Rest == "" || h.RestAt < 0:
		t.note(t.r.s.harmony, 0, len(head), Dropped, "a message without a body")
	case t.otherText != nil:
		if t.body(head[h.RestAt : len(head)-h.StopN]); t.imagined(h.Stop) {
			return
		}
	default:
		body := head[h.RestAt : len(head)-h.StopN]
		if at, _, _ := t.grammar.Alphabet.Find(body, 0, true); at >= 0 { // another channel
			body = body[:at]
		}
		if t.mode == inMessage && (t.drop || t.kind == Thought) {
			t.emit(Thought, body)
		} else {
			t.show(body)
		}
	}
	if h.Stop.Closes() || t.mode == inCall || t.mode == inNameless {
		t.awaitMessage()
	}
}

// show begins or continues a visible message.
func (t *text) show(s string) {
	if s == "" {
		return
	}
	t.settle(Text)
	t.spoke = true
	if t.shown {
		t.shown = false
		if t.inside != nil {
			t.inside.gap = true
		} else {
			t.flow("\n\n")
		}
	}
	t.flow(s)
	t.advance(s)
}

// stepMessage passes on the body of a message.
func (t *text) stepMessage(v string, eof bool) (int, bool) {
	if t.think != "" {
		return t.stepThink(v, eof)
	}
	if t.trim {
		i := scan.SkipBytes(v, 0, " \n\t\r:")
		if t.trim = i == len(v); i > 0 || t.trim {
			return i, t.trim
		}
	}
	at, tok, n, end := t.findToken(v, 0)
	if named := at >= 0 && t.prevByte(v, at) == '`'; named && at+n == len(v) && !eof {
		t.body(v[:at])
		return at, true
	} else if named && at+n < len(v) && v[at+n] == '`' {
		t.body(v[:at+n])
		return at + n, false
	}
	if at < 0 && eof && end < len(v) { // a token that the end of the reply completes or cuts
		if tok, _, is := t.tokenAt(v[end:], true); is == yes || t.r.cut() &&
			strings.HasPrefix(v[end:], "<|") {
			t.body(v[:end])
			t.closeMessage()
			t.note(t.r.s.harmony, end, len(v), Dropped, "the end of a message")
			if tok.Closes() || is != yes {
				t.awaitMessage()
			}
			return len(v), false
		}
	}
	if at >= 0 {
		end = at
	}
	if g, is := t.findGlued(v, 0, end, eof || at >= 0); is != no {
		t.body(v[:g])
		if is == wait {
			return g, true
		}
		if t.imagined(harmony.None) {
			return g, false
		}
		t.closeMessage()
		t.resumeProse(0)
		t.last = midLine
		return g, false
	}
	if eof && at < 0 {
		end = len(v)
	}
	t.body(v[:end])
	if at < 0 {
		return end, true
	}
	switch {
	case t.imagined(tok):
	case tok.Closes():
		t.closeMessage()
		t.awaitMessage()
		t.afterClose = true
	case tok.Opens() && t.kind == Text && !t.drop:
		t.openQuotable(v[at:at+n], tok, true)
	case tok.Opens():
		t.closeMessage()
		t.openHeader(harmony.Behind(tok))
	default:
		t.settleInside(tools.Ended)
		t.note(t.r.s.harmony, at, at+n, Dropped, "a lone "+tok.String())
	}
	return at + n, false
}

// imagined reports whether the message of another speaker that ends here is not from the request. The
// model then invented it and all that follows. A header behind it that names no other speaker also shows
// that.
func (t *text) imagined(tok harmony.Token) bool {
	if t.otherText == nil || tok != harmony.Channel &&
		t.r.s.header.Words.Echo(&t.head.Header, string(t.otherText),
			t.r.facts.User) {
		return false
	}
	t.enter(inInvented)
	return true
}

func (t *text) body(s string) {
	if s == "" {
		return
	}
	switch {
	case t.drop:
		if t.otherText != nil && len(t.otherText) < maxOtherText {
			t.otherText = append(t.otherText, s[:min(len(s), maxOtherText-len(t.otherText))]...)
		}
		t.note(t.r.s.harmony, 0, len(s), Dropped, "not for the user")
	case t.kind == Thought:
		t.spoke = true
		t.emit(Thought, s)
	default:
		t.show(s)
	}
	t.last = lastRune(s)
}

// maxOtherText bounds the text kept to compare with the request.
const maxOtherText = 8 << 10

// closeMessage ends a body, so that the next visible one starts a paragraph.
func (t *text) closeMessage() {
	t.closeInside(tools.Ended)
	if !t.drop && t.kind == Text && t.r.visible() {
		t.shown = true
	}
	t.r.broken = t.r.broken || t.kind == Thought && !t.drop
}

// A call may also stand in the body of a visible message: as JSON, in tags, in a fence. A separate text
// reads such a body and takes control tokens for text: the reader of the message has found those that
// count.

// openInside starts the reader of a body.
func (t *text) openInside() {
	t.inside = &text{}
	t.inside.init(t.r, t.field)
	t.inside.grammar, t.inside.unmarked, t.inside.first = t.grammar, true, false
}

// readInside passes s, which begins at an offset in the field, to the reader of the body.
func (t *text) readInside(s string, at int) {
	in := t.inside
	if in.base == 0 {
		in.base = at
	}
	if !t.alias {
		s = strings.Clone(s)
	}
	in.feed(s, false)
}

// quote shows what looked like markup.
func (t *text) quote(s string) {
	in := t.inside
	if in == nil {
		t.pass(s)
		return
	}
	t.front.Add(s)
	t.advance(s)
	if !t.alias {
		s = strings.Clone(s)
	}
	t.settleInside(tools.Ended)
	in.pass(s)
	in.base += len(s)
}

// settleInside decides about all of the body so far, which ends as how. If markup follows, nothing in it
// is cut, however the reply ends.
func (t *text) settleInside(how tools.End) {
	if t.inside != nil {
		ended := t.r.ended
		t.r.ended = how
		t.inside.feed("", true)
		t.r.ended = ended
	}
}

// closeInside ends the body. Text behind a call in it would depend on a result that does not exist yet.
func (t *text) closeInside(how tools.End) {
	if in := t.inside; in != nil {
		t.settleInside(how)
		t.inside = nil
		t.unterminated = t.unterminated || in.unterminated
	}
}

// readsHarmony reports whether Harmony markup counts here.
func (t *text) readsHarmony() bool { return t.r.s.harmony != nil && !t.unmarked }
