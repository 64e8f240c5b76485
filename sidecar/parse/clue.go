package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// stepClue and its kin read clues: the name of an offered tool with arguments behind it, in markup that no
// strategy knows, or that lost its signs. Evidence says whether it is a call.

const maxTrail = 24 // bytes of debris behind the arguments

// clues is v as text that may hold clues. They do not reach back over what was released.
func (t *text) clues(v string) NameText {
	return NameText{Names: t.r.names, Grammar: t.r.s.header, V: v, Last: t.last,
		Floor: max(0, t.looked-t.base)}
}

// clueAt enters a clue whose arguments begin at v[j:].
func (t *text) clueAt(v string, j int, eof bool) (opening, verdict) {
	at := t.clues(v)
	c, ok := at.Before(j, false)
	if !ok || v[j] == '(' && (c.To < j || c.Lost) {
		return opening{}, no
	}
	o, is := opening{back: j - c.Start}, yes
	if k := scan.SkipSpace(v, j+1); v[j] == '{' {
		switch {
		case k == len(v):
			is = scan.WaitUnless(eof)
		case v[k] != '"' && v[k] != '}':
			is = scan.Key(v, k, eof)
		}
	}
	c.From, c.To = c.From-c.Start, c.To-c.Start
	o.begin = func(t *text, _ string, _ int) {
		t.enter(inClue)
		t.at, t.clue = j-c.Start, c
	}
	return o, is
}

// stepClue reads a clue. at is where its arguments begin.
func (t *text) stepClue(v string, eof bool) (int, bool) {
	end, ok := t.clueEnd(v, eof)
	switch {
	case !ok && !eof:
		return 0, true
	case !ok:
		return t.cutClue(v)
	}
	if t.clue.Lost {
		return t.leftover(v, end, eof)
	}
	call := Call{Name: v[t.clue.From:t.clue.To], Args: v[t.at:end]}
	if v[t.at] == '(' {
		found, ok := CodeCalls(strings.Clone(v[t.clue.From:end]))
		switch {
		case ok && len(found) == 1:
			call = found[0]
		case strings.HasPrefix(call.Name, harmony.Namespace) &&
			end-t.at > 2: // the arguments themselves are damaged
			call.Args = v[t.at+1 : end-1]
		default:
			return t.releaseClue(v[:end], "no call in brackets")
		}
	}
	behind, is := Trail(v, end, maxTrail, eof)
	if is == wait {
		return 0, true
	}
	a, is := t.around(v, behind, eof)
	if is == wait {
		return 0, true
	}
	signs := a
	if t.clue.Words > 0 {
		signs |= Word
	}
	if t.clue.Signs > 0 || behind > end {
		signs |= Strange
	}
	if _, refusal := t.r.c.Call(strings.Clone(call.Name), []byte(call.Args), tools.Ending{}); refusal != nil {
		return t.releaseClue(v[:end], "no arguments behind a name")
	}
	if !t.runs(Named, signs, call) {
		return t.releaseClue(v[:end], why(a))
	}
	t.found(t.r.s.json, v, 0, behind, call, tools.Ending{}, tools.Repair{Kind: "call.glued", At: t.base})
	return t.behindCall(behind)
}

// clueEnd is where the arguments of a clue end.
func (t *text) clueEnd(v string, eof bool) (end int, ok bool) {
	if t.at >= len(v) { // more than the window holds stands in front
		return 0, false
	}
	if v[t.at] == '(' {
		if t.early(v, eof) {
			return 0, false
		}
		end = End(v, t.clue.From, false)
		return end, end > 0
	}
	t.scan.At = max(t.scan.At, t.at)
	t.scan.Run(v, eof)
	return t.scan.End, t.scan.End > 0
}

// cutClue handles a clue that the reply ends in.
func (t *text) cutClue(v string) (int, bool) {
	name := v[t.clue.From:t.clue.To]
	a, _ := t.around(v, len(v), true)
	if !t.clue.Lost && v[t.at] == '{' && t.field == Content && mayBe(Named, a) &&
		t.allowed(t.r.s.json, 0, len(v), v) {
		t.cutOff(t.r.s.json, v, 0, strings.Clone(name))
		return t.behindCall(len(v))
	}
	return t.releaseClue(v, "unfinished arguments behind a name")
}

// releaseClue gives a clue back as text; its arguments may still be an object that names a tool.
func (t *text) releaseClue(v, why string) (int, bool) {
	at := t.at
	t.release(t.r.s.json, len(v), why)
	t.at = at
	return 0, false
}
