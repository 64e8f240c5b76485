package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// stepNameless reads a commentary message without a recipient. JSON in it is the arguments of a call
// whose name was lost; text is for the user.
func (t *text) stepNameless(v string, eof bool) (int, bool) {
	if t.unterminated {
		t.enter(inInvented)
		return 0, false
	}
	i := t.skipBlank(v)
	if i == len(v) && !eof {
		return 0, true
	}
	if i < len(v) && t.grammar.Heads(v[i:]) { // <|message|> came too early
		switch o, is := t.recipientHeader(v[i:], i, eof); is {
		case wait:
			return 0, true
		case yes:
			o.begin(t, v, o.n)
			return o.n, false
		}
	}
	if kind, is := scan.StartsAny(v[i:], t.grammar.Words.Types, eof); is == wait {
		return 0, true
	} else if j := i + len(kind); is == yes && (j == len(v) || v[j] == '{' ||
		v[j] == ' ') { // behind the token
		if j = scan.SkipBlanks(v, j); j == len(v) && !eof {
			return 0, true
		} else if j < len(v) && v[j] == '{' {
			i = j
		}
	}
	if i == len(v) || v[i] != '{' || t.r.c.Empty() {
		t.message(Text, false)
		t.trim = t.head.stripped
		return 0, false
	}
	t.scan.At, t.scan.Tokens = max(t.scan.At, i), t.grammar.Alphabet
	if !t.scan.Run(v, eof) && !eof {
		return 0, true
	}
	end := t.scan.Cut(v)
	behind := scan.SkipSpace(v, end)
	tok, _, is := t.tokenAt(v[behind:], eof)
	if is == wait || behind == len(v) && !eof {
		return 0, true
	}
	signs := t.leadSigns()
	if is == no && behind < len(v) && v[behind] != '{' {
		switch t.startsMarkup(v[behind:], eof) {
		case wait:
			return 0, true
		case no:
			signs |= Behind
		}
	}
	switch taken := t.takeNameless(v, i, end, tok == harmony.Call, signs); {
	case taken && signs.Has(Behind):
		t.afterCall(end)
		t.afterMessage = false
	case taken, t.head.Channel == harmony.Commentary && (signs == 0 || !t.r.facts.Asked):
		t.awaitMessage()
	default:
		t.r.aboutCall = t.r.aboutCall || signs != 0
		t.message(Text, false)
		return 0, false
	}
	t.last = lastRune(v[:end])
	return end, false
}

// acceptsNameless reports whether an object that fits one tool is a call whose name was lost, not an
// answer. Users ask for objects in too many ways to list, so the model is asked in doubt. A tool that
// changes something is called only if text in front or the thoughts announce it, or the server reports a
// call; one that reads also if it does not stand alone.
func (t *text) acceptsNameless(call tools.Call, alone bool) bool {
	var thought Front
	thought.Add(t.r.thoughtText.String())
	alone = alone && t.r.c.Class(call.Name) == tools.Read
	switch f := &t.r.facts; {
	case t.r.calls:
	case f.Formatted:
		return false
	case t.r.wantsData(), !alone && !t.announces(&thought, call.Name) && !t.announces(&t.front, call.Name):
		t.doubted = !f.Asked
		return t.doubted
	}
	return true
}

// takeLostName takes the arguments that end at v[:end], behind the rest of a header that lost the name.
func (t *text) takeLostName(v string, end int, eof bool) (int, bool) {
	a, is := t.around(v, end, eof)
	if is == wait {
		return 0, true
	}
	st, args := t.r.s.json, strings.Clone(v[t.at:end])
	if t.takeEnvelope(st, v, t.at, end, t.ending(), a) {
		return t.afterCall(end)
	}
	call, ok := t.r.c.Fit(args, t.ending())
	if !ok || t.r.cut() || a != 0 || !t.acceptsNameless(call, t.first) ||
		!t.takeInferred(st, v, 0, end, call) {
		return t.releaseNamedCall(v[:end], noCall)
	}
	return t.afterCall(end)
}

// wantsData reports whether an object may be the answer.
func (r *Reader) wantsData() bool {
	f := &r.facts
	return f.aboutCalls() || HasWord(f.User, f.Data) || HasWord(r.thoughtText.String(), f.Data)
}

// takeNameless takes a call from JSON without a name; closed reports that the token of calls ends it. If
// the text around it is about it, the model is asked.
func (t *text) takeNameless(v string, from, end int, closed bool, signs Signs) bool {
	st := t.r.s.harmony
	// text behind makes a tool that changes something unclear
	unclear := func(c Call) bool {
		class, _ := t.r.c.ClassOf(c.Name)
		return signs.Has(Led) || signs.Has(Behind) && class != tools.Read
	}
	found, ok := t.unwrap(st, v[from:end], t.ending().How == tools.Cut)
	switch {
	case ok && slices.ContainsFunc(found.List, unclear):
		if t.doubted = !t.r.facts.Asked && t.allowed(st, from, end, v[from:end]); t.doubted {
			t.addAll(st, from, end, found, t.ending())
		}
		return t.doubted
	case ok && t.takeFound(st, v, from, end, found, t.ending(), 0):
		return true
	}
	doc := strings.Clone(v[from:end])
	call, ok := t.r.c.Fit(doc, t.ending())
	switch {
	case !ok:
		t.note(st, from, end, Refused, "arguments without a tool name")
		t.r.refuse(tools.Refusal{Code: tools.NotOffered, Text: doc,
			Why: "the call names no tool, and its arguments fit no single one"})
		return false
	case !unclear(Call{Name: call.Name}):
		if !closed && !t.acceptsNameless(call, true) {
			return false
		}
	case t.r.facts.Asked:
		return false
	default:
		t.doubted = true
	}
	return t.takeInferred(st, v, from, end, call)
}

// takeInferred takes a call that lost its name, with the arguments v[from:to], if the strategy's
// condition holds.
func (t *text) takeInferred(st *Strategy, v string, from, to int, call tools.Call) bool {
	ok := t.allowed(st, from, to, v[from:to])
	if ok {
		t.record(st, from, to, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base + from,
			To: call.Name}})
	}
	return ok
}
