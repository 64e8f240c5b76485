package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/alphabet"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/sentence"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

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
	} else if j := i + len(kind); is == yes && (j == len(v) || v[j] == '{' || v[j] == ' ') { // it came behind the token
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
	if t.nameless(v, i, end, tok == alphabet.Call) || t.head.Channel == "commentary" {
		t.between()
		t.last = lastRune(v[:end])
		return end, false
	}
	t.message(Text, false)
	return 0, false
}

// guessed says that an object that fits one tool is a call whose name was lost, and no answer. Where it may be
// either, the model is asked: people want an object in more words than anybody knows. So a tool that changes
// something is called only if words in front or the thoughts make it, or the server says that the reply ends in a
// call; so is one that reads, unless it is alone.
func (t *text) guessed(call tools.Call, alone bool) bool {
	var thought sentence.Front
	thought.Add(t.r.mused.String())
	alone = alone && t.r.c.Class(call.Name) == tools.Read
	switch f := &t.r.facts; {
	case t.r.calls:
	case f.Formatted:
		return false
	case t.r.wantsData(), !alone && !t.makes(&thought, call.Name) && !t.makes(&t.past, call.Name):
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
	call, ok := t.r.c.Fit(args)
	if !ok || t.r.cut() || a&^isBeside != 0 || t.speaks(&t.past) || !t.guessed(call, t.first) || !t.allowed(st, 0, end, v[:end]) {
		return t.releaseClue(v[:end], noCall)
	}
	t.take(st, 0, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base, To: call.Name}})
	t.behindCall()
	return end, false
}

// wantsData says that an object may be the answer.
func (r *Reader) wantsData() bool {
	f := &r.facts
	return f.aboutCalls() || sentence.Has(f.User, f.Data) || sentence.Has(r.mused.String(), f.Data)
}

// nameless looks for a call in JSON that came without a name; closed says that the token of calls
// ends it.
func (t *text) nameless(v string, from, end int, closed bool) bool {
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
	case !closed && !t.guessed(call, true), !t.allowed(st, from, end, doc):
		return false
	}
	t.take(st, from, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base + from, To: call.Name}})
	return true
}
