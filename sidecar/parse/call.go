package parse

import (
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxStrict bounds how often the end of a call body is looked for behind a token inside a string. After
// that, any token ends a body; this keeps hostile input linear.
const maxStrict = 8

// beginCall enters the body of a call. The header is kept as written for the strategy's condition.
func (t *text) beginCall(header string) {
	if t.callHeader = ""; t.r.s.harmony.When != nil {
		t.callHeader = strings.Clone(header)
	}
	t.enter(inCall)
	t.last = '\n'
}

// stepCall reads the body of a call: JSON, with tokens in strings skipped, or text.
func (t *text) stepCall(v string, eof bool) (int, bool) {
	i := t.skipBlank(v)
	tok, n, is := t.tokenAt(v[i:], eof)
	if is == no {
		i, is = harmony.SkipForeign(v, i, eof)
	}
	switch {
	case i == len(v) && !eof, is == wait, is == yes && tok.Opens() && i+n == len(v) && !eof:
		return 0, true
	case is == yes && (tok.InHeader() || tok.Opens() &&
		strings.HasPrefix(v[i+n:], "{")): // it was written twice, or has slipped in
		return i + n, false
	case i == len(v) && t.r.c.Argless(t.head.Recipient): // a server took the token that ends it
		return t.endCall(v, i, false)
	case i == len(v), is == yes && tok.Opens(): // all of the body was lost
		t.noArguments(i, t.head.Recipient)
		t.awaitMessage()
		return i, false
	case v[i] == '[' && i+1 == len(v) && !eof:
		return 0, true
	case v[i] != '{' && (v[i] != '[' || scan.IsLower(v[min(i+1, len(v)-1)]) &&
		strings.IndexByte("tfn", v[i+1]) < 0) || t.stringsGivenUp >= maxStrict: // no list, but [arguments] of TOML
		return t.stepRawCall(v, i, eof)
	}
	t.scan.At, t.scan.Tokens = max(t.scan.At, i), t.grammar.Alphabet
	whole := t.scan.Run(v, eof)
	if !whole && !eof {
		return 0, true
	}
	if at := t.swallowedEnd(v, i, t.scan.Cut(v)); whole && at > 0 {
		return t.giveUpString(v, at, eof)
	}
	switch {
	case t.scan.End > 0:
		return t.followCall(v, eof)
	case t.scan.Stop > 0:
		return t.closeCall(v, t.scan.Stop-1, eof)
	}
	return t.openCall(v)
}

// swallowedEnd returns the end of the call in v[i:to] if a string without its closing quote contains it
// and the next header; else 0.
func (t *text) swallowedEnd(v string, i, to int) int {
	if t.at >= to { // it was looked at
		return 0
	}
	at, tok, n, _ := t.endToken(v, i, i, false)
	if at < 0 || at+n >= to || !tok.Closes() || json.Valid([]byte(v[i:to])) {
		return 0
	}
	if next, _, is := t.tokenAt(v[at+n:], true); is != yes || !next.Opens() {
		return 0
	}
	return at
}

// giveUpString ends a call at the token at v[at:], which stands in a string or an open object: what
// follows may be part of it.
func (t *text) giveUpString(v string, at int, eof bool) (int, bool) {
	n, more := t.closeCall(v, at, eof)
	if n > 0 {
		t.stringsGivenUp++
		t.r.torn = true
	}
	return n, more
}

// followCall reads what follows a complete value.
func (t *text) followCall(v string, eof bool) (int, bool) {
	end, behind := t.scan.End, t.scan.End
	if t.head.text != "" && !t.head.tokened && t.at == 0 {
		behind += harmony.Closes(t.head.text, v[end:])
		a, is := t.around(v, behind, eof)
		if is == wait {
			return 0, true
		}
		// Debris of a header is no text for the user.
		spoilt := t.head.debris && !a.Has(Quoted) && !t.front.EndsInLead() && !t.r.facts.Asked
		if t.head.debris { // what stands behind it does not count, nor does a word of it in front
			if a, _ = t.around(v[:end], end, true); t.front.IsWord() {
				a = 0
			}
		}
		a |= t.head.lead
		call := Call{Name: t.head.Recipient, Args: v[:end]}
		calls := t.several(t.r.s.harmony, call, tools.Ending{})
		if len(calls) == 0 {
			calls = []Call{call}
		}
		if !t.accepts(Words, a, calls...) {
			if !spoilt {
				return t.releaseCall(v, end, quotedBecause(a))
			}
			t.doubted = true
		}
	}
	j := scan.SkipBytes(v, max(t.at, behind), " \n\t\r}]`") // closers too many: noise that the repair removes
	t.at = j
	if j == len(v) {
		switch {
		case !eof:
			return 0, true
		case t.head.open && t.r.cut():
			return t.releaseCall(v, j, "the reply is cut behind it")
		case !t.acceptsTokens(v[:end], t.head.lead):
			return t.releaseCall(v, j, quotedBecause(t.head.lead))
		}
		return t.endCall(v, j, j-end > maxStrict) // so many closers are a loop behind a whole call
	}
	switch _, _, is := t.tokenAt(v[j:], eof); is {
	case wait:
		return 0, true
	case yes:
		return t.closeCall(v, j, eof)
	}
	switch {
	case t.head.open && !strings.Contains(v[end:j], "\n"):
		return t.releaseCall(v, end, quotedBecause(Quoted))
	case v[j] == '{': // a second object: whether it says the same, the catalog sees
		return t.followObject(v, j, eof)
	}
	return t.endUnterminated(v, end, eof)
}

// followObject reads to the end of a body that continues with another object at v[j:].
func (t *text) followObject(v string, j int, eof bool) (int, bool) {
	next := &t.second
	next.At, next.Tokens = max(next.At, j), t.grammar.Alphabet
	switch {
	case !next.Run(v, eof) && !eof:
		return 0, true
	case next.End == 0:
		return t.endUnterminated(v, t.scan.End, eof)
	}
	behind := scan.SkipSpace(v, next.End)
	if behind == len(v) && !eof {
		return 0, true
	}
	if behind < len(v) {
		switch _, _, is := t.tokenAt(v[behind:], eof); is {
		case wait:
			return 0, true
		case yes:
			return t.closeCall(v, behind, eof)
		}
	}
	return t.endUnterminated(v, next.End, eof)
}

// endUnterminated ends a call at v[at:] without a terminator: what follows was invented by the model or
// is about the call.
func (t *text) endUnterminated(v string, at int, eof bool) (int, bool) {
	if t.head.tokened {
		switch signs, is := t.aroundTokens(v, at, false, eof); {
		case is == wait:
			return 0, true
		case !t.acceptsTokens(v[:at], signs):
			return t.releaseCall(v, at, quotedBecause(signs))
		}
	}
	t.endCall(v, at, true)
	t.markUnterminated()
	t.afterMessage = false
	return at, false
}

// closeCall ends a call at the control token at v[at:].
func (t *text) closeCall(v string, at int, eof bool) (int, bool) {
	tok, n, _ := t.tokenAt(v[at:], true)
	if !tok.Opens() {
		switch signs, is := t.aroundTokens(v, at+n, true, eof); {
		case is == wait:
			return 0, true
		case !t.acceptsTokens(v[:at], signs):
			return t.releaseCall(v, at+n, quotedBecause(signs))
		}
	}
	t.endCall(v, at, !tok.InHeader())
	if tok.Opens() {
		t.markUnterminated()
		return at, false
	}
	return at + n, false
}

// openCall handles a value that is open at the end of the reply: a quote is missing, or the reply was
// cut.
func (t *text) openCall(v string) (int, bool) {
	for from := 0; ; {
		at, tok, n, open := t.findToken(v, from)
		if at < 0 {
			var is verdict
			if at = open; at < len(v) { // the end of the reply may complete a token
				tok, n, is = t.tokenAt(v[at:], true)
			}
			if is != yes {
				break
			}
		}
		if !tok.InHeader() {
			return t.giveUpString(v, at, true)
		}
		from = at + n
	}
	if t.head.stripped {
		if g, is := t.findGlued(v, 0, len(v), true); is == yes {
			t.stringsGivenUp++
			n, more := t.endUnterminated(v, g, true)
			t.r.torn = true
			return n, more
		}
	}
	return t.endCall(v, len(v), false)
}

// stepRawCall reads a body that is no JSON: code, a patch, a bare command.
func (t *text) stepRawCall(v string, i int, eof bool) (int, bool) {
	from := max(t.at, i)
	at, tok, n, open := t.endToken(v, i, from, eof)
	end := open
	if at >= 0 {
		end = at
	}
	resume := end
	if t.head.stripped {
		g, is := t.findGlued(v, from, end, eof || at >= 0)
		if is == yes {
			return t.endUnterminated(v, g, eof)
		}
		if is == wait {
			resume = g
		}
	}
	switch {
	case at >= 0 && tok.InHeader():
		t.at = at + n
		return 0, false
	case at >= 0:
		return t.closeCall(v, at, eof)
	case eof:
		return t.endCall(v, len(v), false)
	}
	t.at = resume
	return 0, true
}

// endCall passes the body v[:end] to the catalog and continues behind it.
func (t *text) endCall(v string, end int, closed bool) (int, bool) {
	body := harmony.Quote(t.head.text) + strings.TrimLeft(v[:end], " \n\t\r")
	t.settleQuotable()
	var how []tools.Repair
	if t.head.Flaw != "" {
		how = append(how, tools.Repair{Kind: "harmony.header", At: t.base, From: t.head.Flaw})
	}
	ending := tools.Ending{}
	if !closed {
		ending.How = t.r.ended
		how = append(how, tools.Repair{Kind: "harmony.unclosed", At: t.base + end})
	}
	t.addCandidate(t.r.s.harmony, v, 0, end, Call{Name: t.head.Recipient, Args: body}, ending, how...)
	t.awaitMessage()
	return end, false
}
