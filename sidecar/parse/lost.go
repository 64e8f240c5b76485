package parse

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// stepLost reads a commentary message without a recipient. JSON in it is the
// arguments of a call whose name was lost; text is for the user.
func (t *text) stepLost(v string, eof bool) (int, bool) {
	if t.hanging {
		t.enter(inTail)
		return 0, false
	}
	i := t.skipBlank(v)
	if i == len(v) && !eof {
		return 0, true
	}
	if i < len(v) && t.grammar.Heads(v[i:]) { // <|message|> came too early
		switch o, is := t.recipient(v[i:], i, eof); is {
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
		v[j] == ' ') { // it came behind the token
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
	signs := t.leadIn()
	if is == no && behind < len(v) && v[behind] != '{' {
		switch t.marked(v[behind:], eof) {
		case wait:
			return 0, true
		case no:
			signs |= Behind
		}
	}
	switch taken := t.nameless(v, i, end, tok == harmony.Call, signs); {
	case taken && signs.Has(Behind):
		t.behindCall(end)
		t.filler = false
	case taken, t.head.Channel == harmony.Commentary && (signs == 0 || !t.r.facts.Asked):
		t.between()
	default:
		t.r.aboutCall = t.r.aboutCall || signs != 0
		t.message(Text, false)
		return 0, false
	}
	t.last = lastRune(v[:end])
	return end, false
}

// guessed says that an object that fits one tool is a call whose name was lost, and no answer. Where it may
// be either, the model is asked: users ask for an object in too many ways to list. So a tool that changes
// something is called only if words in front or the thoughts make it, or the server says that the reply ends
// in a call; so is one that reads, unless it is alone.
func (t *text) guessed(call tools.Call, alone bool) bool {
	var thought Front
	thought.Add(t.r.mused.String())
	alone = alone && t.r.c.Class(call.Name) == tools.Read
	switch f := &t.r.facts; {
	case t.r.calls:
	case f.Formatted:
		return false
	case t.r.wantsData(), !alone && !t.names(&thought, call.Name) && !t.names(&t.past, call.Name):
		t.doubted = !f.Asked
		return t.doubted
	}
	return true
}

// leftover takes the arguments that end at v[:end], behind what a header left that lost the name.
func (t *text) leftover(v string, end int, eof bool) (int, bool) {
	a, is := t.around(v, end, eof)
	if is == wait {
		return 0, true
	}
	st, args := t.r.s.json, strings.Clone(v[t.at:end])
	if t.envelope(st, v, t.at, end, t.ending(), a) {
		return t.behindCall(end)
	}
	call, ok := t.r.c.Fit(args, t.ending())
	if !ok || t.r.cut() || a != 0 || !t.guessed(call, t.first) ||
		!t.infer(st, v, 0, end, call) {
		return t.releaseNamedCall(v[:end], noCall)
	}
	return t.behindCall(end)
}

// wantsData says that an object may be the answer.
func (r *Reader) wantsData() bool {
	f := &r.facts
	return f.aboutCalls() || Has(f.User, f.Data) || Has(r.mused.String(), f.Data)
}

// nameless looks for a call in JSON that came without a name; closed says that the token of calls
// ends it. Where the text around it speaks about it, the model is asked.
func (t *text) nameless(v string, from, end int, closed bool, signs Signs) bool {
	st := t.r.s.harmony
	// and so is one of a tool that changes something, if text goes on behind it
	unclear := func(c Call) bool {
		class, _ := t.r.c.ClassOf(c.Name)
		return signs.Has(Led) || signs.Has(Behind) && class != tools.Read
	}
	found, ok := t.unwrap(st, v[from:end], t.ending().How == tools.Cut)
	switch {
	case ok && slices.ContainsFunc(found.List, unclear):
		if t.doubted = !t.r.facts.Asked && t.allowed(st, from, end, v[from:end]); t.doubted {
			t.takeAll(st, from, end, found, t.ending())
		}
		return t.doubted
	case ok && t.takeIf(st, v, from, end, found, t.ending(), 0):
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
		if !closed && !t.guessed(call, true) {
			return false
		}
	case t.r.facts.Asked:
		return false
	default:
		t.doubted = true
	}
	return t.infer(st, v, from, end, call)
}

// infer takes a call that lost its name, whose arguments are v[from:to], if the strategy's condition holds.
func (t *text) infer(st *Strategy, v string, from, to int, call tools.Call) bool {
	ok := t.allowed(st, from, to, v[from:to])
	if ok {
		t.take(st, from, to, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base + from,
			To: call.Name}})
	}
	return ok
}
