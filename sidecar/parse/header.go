package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// head is the header of a message, and where it stands.
type head struct {
	harmony.Header
	stripped bool // without a control token
	// foreign words stand in it: neither it nor the text behind its call is a quotation
	debris   bool
	tokened  bool   // with control tokens
	open     bool   // the text in front is an open sentence: it may be quoted
	item     bool   // in an item, a quotation or indented code: quoted if text follows
	lead     Signs  // signs of the text in front
	within   bool   // within a message that is shown
	before   rune   // the character in front
	quotable bool   // it may be quoted
	text     string // the header as written, while it is quotable
}

// recipientHeader looks for a header without control tokens at the start of rest, behind skip bytes.
func (t *text) recipientHeader(rest string, skip int, eof bool) (opening, verdict) {
	h, is := t.r.s.header.Bare(rest, t.r.names.Known, eof)
	switch {
	case is != yes && !h.Tokens:
		return opening{}, is
	case h.Tokens:
		return opening{n: skip, markup: true, begin: beginWordHeader}, is
	}
	return opening{n: skip + h.Body + len(h.Next), markup: true, begin: func(t *text, v string, n int) {
		t.head = head{Header: harmony.Header{Recipient: strings.Clone(h.Name),
			Flaw: "control tokens are missing"},
			stripped: true, debris: h.Debris, quotable: true, text: strings.Clone(v[:n]), before: t.last,
			lead: t.leadSigns()}
		if h.Debris { // no text quotes such a header
			t.head.lead &^= Open
		}
		// glued to the text in front
		if t.front.Add(v[:scan.SkipBlanks(v, 0)]); strings.HasPrefix(v, harmony.Assistant) {
			t.front = Front{}
		}
		switch t.beginCall(v[:n]); {
		case !h.Empty:
		case h.Again:
			t.note(t.r.s.harmony, 0, n, Dropped, "a header that is said again and again")
			t.awaitMessage()
		case h.Debris && t.r.facts.Asked, !h.Debris && (t.front.Ends() != Ended && !t.front.IsWord() ||
			t.head.lead.Has(Led)): // it is spoken of
			t.showHeader(t.head.text)
		default:
			t.noArguments(n, t.head.Recipient)
			if t.awaitMessage(); h.Next != "" {
				t.stripMessage(h.Next)
			}
		}
	}}, yes
}

// isCall reports whether the message has a recipient. A single stray word that is an offered name counts
// as one.
func (t *text) isCall(v string, n int) bool {
	h := &t.head
	switch {
	case h.Rest != "" && h.RestAt >= 0 && t.r.c.Exact(strings.TrimPrefix(h.Recipient, harmony.Namespace)+
		" "+h.Rest):
		h.Recipient, h.Flaw = h.Recipient+" "+h.Rest, "a name with a blank"
	case h.Recipient != "" && (h.Recipient != harmony.Assistant && h.Recipient != "tool" ||
		!t.r.names.Named(h.Channel) && !t.r.names.Named(h.Rest)) || t.r.c.Open():
	case h.Rest != "" && (h.Channel != harmony.Final || h.Constrain ||
		strings.HasPrefix(h.Rest, harmony.Namespace)) && t.r.names.Named(h.Rest):
		h.Recipient, h.Flaw = h.Rest, "recipient without to="
	case h.Channel != "" && t.r.names.Named(h.Channel):
		h.Recipient, h.Flaw = h.Channel, "recipient in place of the channel"
	}
	if !t.r.c.Open() && !t.r.names.Known(h.Recipient) {
		t.r.s.header.Words.Peel(&h.Header, t.r.c.Exact)
	}
	return h.Recipient != "" && h.Recipient != "=" && !tools.Somebody(h.Recipient)
}

// beginWordHeader reads a header of which only words are left.
func beginWordHeader(t *text, v string, n int) {
	t.front.Add(v[:scan.SkipBlanks(v, 0)]) // they may indent it
	t.openQuotable(v[:n], harmony.None, false)
	if t.r.s.header.Words.Channel(strings.TrimLeft(v[n:], " \n")) != "" {
		t.at = int(harmony.FromChannel)
	}
	t.head.stripped = true
}

// noArguments refuses a call that is only a header, of n bytes. The header of one of the server's own
// calls is dropped.
func (t *text) noArguments(n int, name string) {
	if NativeCalls(t.r.native).HasTool(strings.TrimPrefix(name, harmony.Namespace)) {
		t.note(t.r.s.harmony, 0, n, Dropped, "the header of the server's own call")
		return
	}
	t.note(t.r.s.harmony, 0, n, Refused, "a call without arguments")
	t.r.refuse(tools.Refusal{Code: tools.Truncated, Name: name, Why: "the call ends before its arguments"})
}

// A header with control tokens makes a call, unless text beside it shows that it is quoted.

// openQuotable opens a header that may be quoted. within reports that a message contains it.
func (t *text) openQuotable(opener string, tok harmony.Token, within bool) {
	ends := t.front.Ends()
	open := ends != Ended && !t.front.IsWord() && !t.afterClose
	h := head{quotable: true, text: strings.Clone(opener), before: t.last, within: within, open: open,
		item: ends == InItem, lead: t.leadSigns()}
	t.settleInside(tools.Ended)
	t.openHeader(harmony.Behind(tok))
	t.head = h
}

// settleQuotable is settleLead for the text in front of a header that turned out not to be quoted.
func (t *text) settleQuotable() {
	if t.head.quotable {
		last := t.last
		t.last = t.head.before
		if t.head.within {
			t.closeMessage()
		} else {
			t.settleLead()
		}
		t.last, t.head.text, t.head.quotable = last, "", false
	}
}

// aroundTokens returns the signs around a call with control tokens that ends at v[:end]. A model stops
// behind its call. It is quoted if text follows, and the text in front is about the call, or is an open
// sentence and the call is closed.
func (t *text) aroundTokens(v string, end int, closed, eof bool) (signs Signs, is verdict) {
	signs = t.head.lead
	open := t.head.open && closed
	const unseen = " \n\t\r" + scan.Invisible
	i := len(v) - len(strings.TrimLeft(v[end:], unseen))
	i = len(v) - len(strings.TrimLeft(v[skipNoise(v, i):], unseen))
	switch {
	case !eof && !utf8.FullRuneInString(v[i:]):
		return signs, wait
	case i-end >= MaxGap:
		return signs, yes
	case i == len(v) && eof && open && t.r.cut():
		return Quoted, yes // what was to follow is unknown
	case i == len(v):
		return signs, scan.WaitOr(eof)
	case open && v[i] == '`': // the end of a code span
		return Quoted, yes
	}
	switch is := t.startsMarkup(v[i:], eof); {
	case is != no:
		return signs, is
	case open:
		return Quoted, yes
	case i == end && closed && len(v)-i <= maxTrail &&
		scan.WordEnd(v, i) == len(v): // debris, if the reply ends with it
		return signs, scan.WaitOr(eof)
	}
	switch goes, is := SequelAt(v, scan.SkipBlanks(v, end), i, eof); {
	case is == wait:
		return signs, wait
	case goes == SameSentence && closed, t.head.item:
		return Quoted, yes
	}
	if signs.Has(Led) && len(t.r.result.Refused) == 0 { // else the model is asked again
		return signs | Quoted, yes
	}
	if !closed { // what the token of calls closes is no text for the user
		switch at, tok, _, _ := t.findToken(v, i); {
		case at < 0 && !eof:
			return signs, wait
		case at >= 0 && tok == harmony.Call:
			return signs, yes
		}
	}
	switch t.leadsToMarkup(v[i:], eof) {
	case wait:
		return signs, wait
	case yes:
		return signs, yes
	}
	return signs | Behind, yes
}

// releaseCall gives a call back as text, its header first.
func (t *text) releaseCall(v string, end int, why string) (int, bool) {
	t.note(t.r.s.harmony, -len(t.head.text), 0, Released, why)
	t.r.countWasted(t.r.s.harmony, t.base, end)
	body := v[:end]
	t.showHeader(t.head.text)
	if t.head.tokened { // its tokens would be read again
		t.quote(body)
		return end, false
	}
	return 0, false
}

// acceptsTokens reports whether a header with control tokens makes a call of body, given the signs
// around it. In doubt the model is asked.
func (t *text) acceptsTokens(body string, signs Signs) bool {
	switch {
	case signs.Has(Quoted):
		return false
	case signs == 0:
		return true
	case t.accepts(Tokens, signs, Call{Name: t.head.Recipient, Args: strings.Trim(body, " \n\t\r")}):
		return true
	}
	t.doubted, t.r.aboutCall = !t.r.facts.Asked, true
	return t.doubted
}

// showHeader returns to the mode around the header and shows text.
func (t *text) showHeader(text string) {
	if t.resumeProse(0); t.head.within {
		t.enter(inMessage)
	}
	t.last = t.head.before
	t.quote(text)
}
