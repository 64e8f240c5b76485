package parse

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// severed takes the calls in v[from:], a value that the reply ends in. The complete ones
// leave. The one that was cut never does, not even where only brackets are missing, because
// more arguments may have been to come: it is refused, so that the model is asked again, and
// nobody reads half a document. It is false, and nothing has happened, where that need not
// be a call, and in thoughts, where only whole ones count.
func (t *text) severed(st *Strategy, v string, from int) bool {
	got, half, ok := t.torn(t.envelopeOf(st), strings.Clone(v[from:]))
	a, _ := t.around(v, len(v), true)
	if !ok || t.field == Reasoning || !t.mayRun(a, append(got.list, half...)...) || !t.allowed(st, from, len(v), v[from:]) {
		return false
	}
	if len(got.list)+len(half) == 0 {
		t.note(st, from, len(v), Dropped, "the reply ends before a call")
	}
	t.takeAll(st, from, len(v), got, tools.Ending{Terminated: true})
	for _, c := range half {
		t.cutOff(st, v, from, c.name)
	}
	return true
}

// cutOff refuses the call in v[from:], which the reply ends in.
func (t *text) cutOff(st *Strategy, v string, from int, name string) {
	const why = "the reply ends inside the call"
	t.note(st, from, len(v), Refused, why)
	t.r.refuse(tools.Refusal{Code: tools.Truncated, Name: name, Text: strings.Clone(v[from:min(len(v), from+maxQuote)]), Why: why})
}

// torn reads doc, in which the reply ends: complete calls, and the one that was cut, if one
// was. It is false where doc need not be a call.
func (t *text) torn(e *Envelope, doc string) (got calls, half []rawCall, ok bool) {
	fixed, err := jsonrepair.Repair(doc, t.r.depth)
	if err != nil {
		return got, nil, false
	}
	root := gjson.ParseBytes(fixed.JSON)
	got.reasoning, got.answer = firstOf(root, thoughtKeys).Str, firstOf(root, e.Answer).Str
	list, guided := e.listIn(root)
	switch {
	case guided:
	case t.first && len(e.Calls) > 0 && got.reasoning != "" && only(root, true, thoughtKeys):
		return got, nil, true // it was cut before it came to anything else
	default:
		one, ok := t.begins(e, root)
		return got, []rawCall{one}, ok
	}
	if got.list, ok = e.complete(doc, t.r.depth); !ok {
		return calls{}, nil, false
	}
	if all := list.Array(); len(all) > len(got.list) {
		one, is := t.begins(e, all[len(all)-1])
		return got, []rawCall{one}, is || len(got.list) > 0
	}
	return got, nil, len(got.list) > 0 || root.IsObject()
}

// complete is the calls that doc, which ends too early, holds whole. It is false where
// something else stands in their list.
func (e *Envelope) complete(doc string, depth int) (list []rawCall, ok bool) {
	s := jsontext.Scanner{Doc: []byte(doc), Depth: depth}
	for in := s.Peek() == '{' && s.Enter('{'); in && s.Next('}'); {
		if key, _ := s.Key(); among(string(key), e.Calls) && s.Peek() == '[' {
			break
		}
	}
	ok = true
	for in := s.Enter('['); in && ok && s.Next(']'); {
		if at := s.Skip(); s.Err == nil {
			one, is := e.object(gjson.ParseBytes(at.Of(s.Doc)))
			list, ok = append(list, one), is
		}
	}
	return list, ok
}

// begins says whether v, mended, was going to be a call: it says nothing but what calls
// say, and has arguments, or a name that is offered or was going to be.
func (t *text) begins(e *Envelope, v gjson.Result) (c rawCall, ok bool) {
	v = inner(v)
	name := firstOf(v, e.Name)
	offered := !t.r.c.Open() && t.r.c.HasPrefix(name.Str)
	ok = name.Type == gjson.String && (offered || firstOf(v, e.Arguments).Exists())
	return rawCall{name: strings.Clone(name.Str)}, ok && only(v, true, e.Name, e.Arguments, besides, thoughtKeys)
}

// only says whether an object has no keys but these. With cut, one that has no value does
// not count: the reply may have ended inside of it.
func only(v gjson.Result, cut bool, keys ...[]string) (yes bool) {
	yes = v.IsObject()
	v.ForEach(func(k, value gjson.Result) bool {
		yes = yes && (among(k.Str, keys...) || cut && value.Type == gjson.Null)
		return yes
	})
	return yes
}
