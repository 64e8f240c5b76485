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

// Torn reads doc, which the reply ends within: the complete calls, and the cut one if there is one.
// first reports that nothing precedes doc. ok is false if doc need not be a call.
func (k *Keys) Torn(offered *tools.Catalog, doc string, depth int,
	first bool) (got Envelope, half []Call, ok bool) {
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
		return got, nil, true // cut before anything else
	default:
		one, ok := k.begins(offered, root)
		return got, []Call{one}, ok
	}
	if got.List, ok = k.complete(offered, doc, depth); !ok {
		return Envelope{}, nil, false
	}
	if all := list.Array(); len(all) > len(got.List) {
		one, is := k.begins(offered, all[len(all)-1])
		return got, []Call{one}, is || len(got.List) > 0
	}
	return got, nil, len(got.List) > 0 || root.IsObject()
}

// complete returns the complete calls in doc, which is cut. ok is false if something else stands in
// their list.
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

// begins reports whether v, repaired, was becoming a call: it has no other keys than calls have, and
// arguments or an offered name, maybe cut.
func (k *Keys) begins(offered *tools.Catalog, v gjson.Result) (c Call, ok bool) {
	v = k.inner(v)
	name := firstOf(v, k.Name)
	tool := !offered.Open() && offered.HasPrefix(name.Str)
	ok = name.Type == gjson.String && (tool || firstOf(v, k.Arguments).Exists())
	return Call{Name: strings.Clone(name.Str)}, ok &&
		only(v, true, k.Name, k.Arguments, callMetadata, thoughtKeys)
}

// only reports whether an object has no keys but these. With cut, a key without a value does not count,
// as the reply may have ended within it.
func only(v gjson.Result, cut bool, keys ...[]string) (yes bool) {
	yes = v.IsObject()
	v.ForEach(func(key, value gjson.Result) bool {
		yes = yes && (scan.Among(key.Str, keys...) || cut && value.Type == gjson.Null)
		return yes
	})
	return yes
}

// boxed returns doc with the arguments of its last call as a JSON string. They are no JSON and all
// around them is, so the damage cannot reach beyond them.
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

// certain reports whether each call fits an offered tool, args are those of the last call, and no text
// was put into an argument that the model did not name.
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

// takeTruncated takes the complete calls in v[from:], which ends the reply, and refuses the cut one,
// even if only brackets are missing: more arguments may have been to come. It returns false, without
// effect, if the value need not be a call, and in thoughts, where only whole calls count.
func (t *text) takeTruncated(st *Strategy, v string, from int) bool {
	got, half, ok := t.envelopeOf(st).Torn(t.r.c, strings.Clone(v[from:]), t.r.facts.MaxDepth, t.first)
	if !ok || t.field == Reasoning || !mayBe(Object, t.atEnd(v)) ||
		!t.allowed(st, from, len(v), v[from:]) {
		return false
	}
	if len(got.List)+len(half) == 0 {
		t.note(st, from, len(v), Dropped, "the reply ends before a call")
	}
	t.addAll(st, from, len(v), got, tools.Ending{})
	for _, c := range half {
		t.refuseTruncated(st, v, from, c.Name)
	}
	return true
}

// refuseTruncated refuses the call in v[from:], which ends the reply.
func (t *text) refuseTruncated(st *Strategy, v string, from int, name string) {
	const why = "the reply ends inside the call"
	t.note(st, from, len(v), Refused, why)
	t.r.refuse(tools.Refusal{Code: tools.Truncated, Name: name,
		Text: strings.Clone(v[from:min(len(v), from+maxQuote)]), Why: why})
}
