package parse

import (
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
