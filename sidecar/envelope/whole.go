package envelope

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Whole reads doc as what another API answers, in which calls stand deeper: behind the keys that
// lead there, with nothing beside them but keys that are known. So a log, an example, or a schema,
// which say more or something else, are none.
func (k *Keys) Whole(offered *tools.Catalog, doc string, depth int) (f Found, ok bool) {
	doc = strings.Clone(doc)
	if len(k.Through) == 0 {
		return f, false
	}
	if !gjson.Valid(doc) {
		box, ok := k.boxed(doc, depth)
		if !ok {
			return f, false
		}
		f, ok = k.Whole(offered, box, depth)
		return f, ok && certain(offered, f.List)
	}
	root := gjson.Parse(doc)
	lists, ok := k.walk(offered, root, &f, maxWalk)
	if root.IsArray() && lists > 1 { // messages, as in the record of a conversation
		return Found{}, false
	}
	return f, ok && len(f.List) > 0
}

// maxWalk is how many objects and lists may stand around a call.
const maxWalk = 12

// walk adds what stands in v to f, and says through how many lists its calls are reached. It is
// false where v is anything else.
func (k *Keys) walk(offered *tools.Catalog, v gjson.Result, f *Found, depth int) (lists int, ok bool) {
	switch {
	case depth == 0:
		return 0, false
	case v.IsArray():
		return k.walkList(offered, v, f, depth)
	case !v.IsObject():
		return 0, false
	}
	if list, is := k.listIn(v); is && k.onlyBeside(v, k.Calls) {
		calls, ok := k.list(offered, list)
		f.List = append(f.List, calls...)
		f.say(firstOf(v, k.Through).Str)
		return 1, ok
	}
	if one, is := k.object(offered, v); is {
		f.List = append(f.List, one)
		return 0, true
	}
	if !k.onlyBeside(v, k.Through, textKeys) {
		return 0, false
	}
	inner := gjson.Result{}
	several := false
	v.ForEach(func(key, value gjson.Result) bool {
		switch at := scan.Among(key.Str, k.Through); {
		case (at || scan.Among(key.Str, textKeys)) && value.Type == gjson.String:
			f.say(value.Str)
		case at && value.Type == gjson.JSON:
			several, inner = inner.Exists(), value
		}
		return !several
	})
	if several || !inner.Exists() {
		return 0, !several
	}
	return k.walk(offered, inner, f, depth-1)
}

// walkList walks through the items of a list. Where two of them hold lists of calls they are
// answers to choose from.
func (k *Keys) walkList(offered *tools.Catalog, v gjson.Result, f *Found, depth int) (lists int, ok bool) {
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		had, in := len(f.List), 0
		if in, ok = k.walk(offered, item, f, depth-1); in > 0 && len(f.List) > had {
			ok = ok && lists == 0
			lists = in
		}
		return ok
	})
	return lists + 1, ok
}

// textKeys hold what is said beside calls.
var textKeys = []string{"text"}

// say adds text that stands beside the calls.
func (f *Found) say(text string) {
	if f.Said != "" && text != "" {
		f.Said += "\n"
	}
	f.Said += text
}

// onlyBeside says that an object has no keys but these, and those that may stand beside: with
// their value, where the rule gives one. What is null says nothing, and a text is said.
func (k *Keys) onlyBeside(v gjson.Result, keys ...[]string) (yes bool) {
	yes = true
	v.ForEach(func(key, value gjson.Result) bool {
		said := value.Type == gjson.String && scan.Among(key.Str, k.Through)
		yes = said || scan.Among(key.Str, keys...) || value.Type == gjson.Null || k.beside(key.Str, value)
		return yes
	})
	return yes
}
