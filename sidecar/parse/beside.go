package parse

import (
	"strings"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A header with control tokens makes a call, unless text beside it says that it is quoted.

// openQuotable opens a header that may be quoted. within says that a message holds it.
func (t *text) openQuotable(opener string, tok harmony.Token, within bool) {
	ends := t.past.Ends()
	open := ends != Ended && !t.past.IsWord() && !t.apart
	h := head{quotable: true, text: strings.Clone(opener), before: t.last, within: within, open: open,
		item: ends == InItem, lead: t.leadIn()}
	t.settleInside(tools.Ended)
	t.openHeader(harmony.Behind(tok))
	t.head = h
}

// settleQuotable is settleLead for text in front of a header that might have been quoted,
// and was not.
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

// beside are the signs around a call with control tokens that ends at v[:end]. A model that calls
// a tool stops there: where text goes on, and the text in front speaks about the call, or was not at
// its end and the call is closed, it is quoted.
func (t *text) beside(v string, end int, closed, eof bool) (signs Signs, is verdict) {
	signs = t.head.lead
	open := t.head.open && closed
	const unseen = " \n\t\r" + scan.Invisible
	i := len(v) - len(strings.TrimLeft(v[end:], unseen))
	i = len(v) - len(strings.TrimLeft(v[SkipSenseless(v, i):], unseen))
	switch {
	case !eof && !utf8.FullRuneInString(v[i:]):
		return signs, wait
	case i-end >= MaxGap:
		return signs, yes
	case i == len(v) && eof && open && t.r.cut():
		return Quoted, yes // what was to follow is unknown
	case i == len(v):
		return signs, scan.WaitOr(eof)
	case open && v[i] == '`': // it closes what the call is quoted in
		return Quoted, yes
	}
	switch is := t.marked(v[i:], eof); {
	case is != no:
		return signs, is
	case open:
		return Quoted, yes
	case i == end && closed && len(v)-i <= maxTrail &&
		scan.WordEnd(v, i) == len(v): // debris, if the reply ends with it
		return signs, scan.WaitOr(eof)
	}
	switch goes, is := Goes(v, scan.SkipBlanks(v, end), i, eof); {
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
	switch t.leadsOn(v[i:], eof) {
	case wait:
		return signs, wait
	case yes:
		return signs, yes
	}
	return signs | Behind, yes
}

// unsay gives a call back as text, its header first.
func (t *text) unsay(v string, end int, why string) (int, bool) {
	t.note(t.r.s.harmony, -len(t.head.text), 0, Released, why)
	t.r.waste(t.r.s.harmony, t.base, end)
	body := v[:end]
	t.giveBack(t.head.text)
	if t.head.tokened { // its tokens would be read again
		t.quote(body)
		return end, false
	}
	return 0, false
}

// believed says that a header with control tokens makes a call of a body, as the signs beside it
// say. What the reply ends with is no mere text: the model is asked.
func (t *text) believed(body string, signs Signs) bool {
	switch {
	case signs.Has(Quoted):
		return false
	case signs == 0:
		return true
	case t.runs(Tokens, signs, Call{Name: t.head.Recipient, Args: strings.Trim(body, " \n\t\r")}):
		return true
	}
	t.doubted, t.r.told = !t.r.facts.Asked, true
	return t.doubted
}

// giveBack goes back to what the header stands in, and shows the text of it.
func (t *text) giveBack(text string) {
	if t.prose(0); t.head.within {
		t.enter(inMessage)
	}
	t.last = t.head.before
	t.quote(text)
}
