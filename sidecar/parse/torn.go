package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Torn reads doc, in which the reply ends: complete calls, and the one that was cut, if one
// was. first says that nothing stands in front. It is false where doc need not be a call.
func (k *Keys) Torn(offered *tools.Catalog, doc string, depth int,
	first bool) (got EnvelopeFound, half []Call, ok bool) {
	fixed, err := jsonrepair.Repair(doc, depth)
	if err != nil {
		return got, nil, false
	}
	root := gjson.ParseBytes(fixed.JSON)
	got.Reasoning, got.Answer = firstOf(root, thoughtKeys).Str, firstOf(root, k.Answer).Str
	list, guided := k.listIn(root)
	switch {
	case guided:
	case first && len(k.Calls) > 0 && got.Reasoning != "" && only(root, true, thoughtKeys):
		return got, nil, true // it was cut before it came to anything else
	default:
		one, ok := k.begins(offered, root)
		return got, []Call{one}, ok
	}
	if got.List, ok = k.complete(offered, doc, depth); !ok {
		return EnvelopeFound{}, nil, false
	}
	if all := list.Array(); len(all) > len(got.List) {
		one, is := k.begins(offered, all[len(all)-1])
		return got, []Call{one}, is || len(got.List) > 0
	}
	return got, nil, len(got.List) > 0 || root.IsObject()
}

// complete is the calls that doc, which ends too early, holds whole. It is false where
// something else stands in their list.
func (k *Keys) complete(offered *tools.Catalog, doc string, depth int) (list []Call, ok bool) {
	s := jsontext.Scanner{Doc: []byte(doc), Depth: depth}
	for in := s.Peek() == '{' && s.Enter('{'); in && s.Next('}'); {
		if key, _ := s.Key(); scan.Among(string(key), k.Calls) && s.Peek() == '[' {
			break
		}
	}
	ok = true
	for in := s.Enter('['); in && ok && s.Next(']'); {
		if at := s.Skip(); s.Err == nil {
			one, is := k.object(offered, gjson.ParseBytes(at.Of(s.Doc)))
			list, ok = append(list, one), is
		}
	}
	return list, ok
}

// begins says whether v, mended, was going to be a call: it says nothing but what calls
// say, and has arguments, or a name that is offered or was going to be.
func (k *Keys) begins(offered *tools.Catalog, v gjson.Result) (c Call, ok bool) {
	v = k.inner(v)
	name := firstOf(v, k.Name)
	tool := !offered.Open() && offered.HasPrefix(name.Str)
	ok = name.Type == gjson.String && (tool || firstOf(v, k.Arguments).Exists())
	return Call{Name: strings.Clone(name.Str)}, ok && only(v, true, k.Name, k.Arguments, besides, thoughtKeys)
}

// only says whether an object has no keys but these. With cut, one that has no value does
// not count: the reply may have ended inside of it.
func only(v gjson.Result, cut bool, keys ...[]string) (yes bool) {
	yes = v.IsObject()
	v.ForEach(func(key, value gjson.Result) bool {
		yes = yes && (scan.Among(key.Str, keys...) || cut && value.Type == gjson.Null)
		return yes
	})
	return yes
}

// boxed is doc with the arguments of its last call as a JSON text in their place, just as they stand:
// they are no JSON, and all around them is. So the damage cannot reach beyond them.
func (k *Keys) boxed(doc string) (box, args string, ok bool) {
	const most = 8 // keys that are tried: one may stand in the arguments
	end := len(doc)
	for range most {
		at, from := -1, 0
		for _, key := range k.Arguments {
			if i := strings.LastIndex(doc[:end], `"`+key+`"`); i > at {
				at, from = i, i+len(key)+2
			}
		}
		if at < 0 {
			break
		}
		if from = scan.SkipSpace(doc, from); strings.HasPrefix(doc[from:], ":") {
			for to, n := len(doc), 0; n < maxWalk; n++ {
				to = len(strings.TrimRight(doc[:to], " \t\r\n")) - 1
				if to <= from || doc[to] != '}' && doc[to] != ']' {
					break
				}
				if gjson.Valid(doc[:from+1] + `""` + doc[to:]) {
					args = strings.TrimSpace(doc[from+1 : to])
					return doc[:from+1] + jsontext.Quote(args) + doc[to:], args, args != ""
				}
			}
		}
		end = at
	}
	return "", "", false
}

// certain reports whether each call fits an offered tool, args are those of the last call, and no text was
// put into an argument that the model did not name.
func certain(offered *tools.Catalog, calls []Call, args string) bool {
	if n := len(calls); n == 0 || calls[n-1].Args != args {
		return false
	}
	return !slices.ContainsFunc(calls, func(c Call) bool {
		call, refusal := offered.Call(strings.Clone(c.Name), []byte(c.Args), tools.Ending{})
		return refusal != nil ||
			slices.ContainsFunc(call.Repairs, func(r tools.Repair) bool { return r.Kind == "args.wrap" })
	})
}

// severed takes the calls in v[from:], a value that the reply ends in. The complete ones leave. The one
// that was cut is refused, even where only brackets are missing: more arguments may have been to come, and
// a tool must not get half a document. Then the model is asked again. It is false, and nothing has
// happened, where that need not be a call, and in thoughts, where only whole calls count.
func (t *text) severed(st *Strategy, v string, from int) bool {
	got, half, ok := t.envelopeOf(st).Torn(t.r.c, strings.Clone(v[from:]), t.r.facts.MaxDepth, t.first)
	if !ok || t.field == Reasoning || !mayBe(Object, t.atEnd(v)) ||
		!t.allowed(st, from, len(v), v[from:]) {
		return false
	}
	if len(got.List)+len(half) == 0 {
		t.note(st, from, len(v), Dropped, "the reply ends before a call")
	}
	t.takeAll(st, from, len(v), got, tools.Ending{})
	for _, c := range half {
		t.cutOff(st, v, from, c.Name)
	}
	return true
}

// cutOff refuses the call in v[from:], which the reply ends in.
func (t *text) cutOff(st *Strategy, v string, from int, name string) {
	const why = "the reply ends inside the call"
	t.note(st, from, len(v), Refused, why)
	t.r.refuse(tools.Refusal{Code: tools.Truncated, Name: name,
		Text: strings.Clone(v[from:min(len(v), from+maxQuote)]), Why: why})
}
