package parse

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// listIn is the list of calls in a value: itself, or what one of its keys holds.
func (k *Keys) listIn(v gjson.Result) (list gjson.Result, ok bool) {
	if v.IsArray() {
		return v, true
	}
	for _, key := range k.Calls {
		if list = v.Get(gjson.Escape(key)); list.IsArray() {
			return list, true
		}
	}
	return gjson.Result{}, false
}

func (k *Keys) list(offered *tools.Catalog, v gjson.Result) (calls []Call, ok bool) {
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		var c Call
		c, ok = k.object(offered, item)
		calls = append(calls, c)
		return ok
	})
	return calls, ok
}

// object reads one call object. Keys beside the known ones make it data, unless they are
// parameters of the tool that it names.
func (k *Keys) object(offered *tools.Catalog, v gjson.Result) (c Call, ok bool) {
	v = k.inner(v)
	name, args := firstOf(v, k.Name), firstOf(v, k.Arguments)
	switch {
	case !v.IsObject():
		return c, false
	case name.Type != gjson.String:
		return k.keyed(offered, v)
	case args.IsObject() && args.Raw == v.Get("parameters").Raw && defines(args):
		return c, false
	case !args.Exists():
		return k.flat(offered, v, name.Str)
	}
	c = Call{Name: name.Str, Args: args.Raw, Doubt: several(v, k.Name) || several(v, k.Arguments)}
	switch args.Type {
	case gjson.String:
		c.Args = args.Str
	case gjson.Null:
		c.Args = "{}"
	}
	if only(v, false, k.Name, k.Arguments, besides, thoughtKeys) {
		return c, true
	}
	return k.flat(offered, v, name.Str) // a parameter of the tool has the name of such a key
}

// several reports whether an object has more than one of these keys: then it is unclear which counts.
func several(v gjson.Result, keys []string) bool {
	n := 0
	v.ForEach(func(key, _ gjson.Result) bool {
		if scan.Among(key.Str, keys) {
			n++
		}
		return true
	})
	return n > 1
}

// flat reads {"name":"read","path":"a"}: the arguments stand beside the name.
func (k *Keys) flat(offered *tools.Catalog, v gjson.Result, name string) (c Call, ok bool) {
	m, refusal := offered.Name(strings.Clone(name))
	if refusal != nil || offered.Open() {
		return c, false
	}
	var members []string
	ok = true
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case value.Type == gjson.String && value.Str == name && scan.Among(key.Str, k.Name),
			scan.Among(key.Str, besides, thoughtKeys) && !offered.Takes(m.Name, key.Str):
			return true
		}
		ok = ok && offered.Takes(m.Name, key.Str)
		members = append(members, key.Raw+":"+value.Raw)
		return ok
	})
	return Call{Name: strings.Clone(name), Args: "{" + strings.Join(members, ",") + "}"}, ok &&
		len(members) > 0
}

// keyed reads {"read":{"path":"a"}}: the name is the only key.
func (k *Keys) keyed(offered *tools.Catalog, v gjson.Result) (c Call, ok bool) {
	v.ForEach(func(key, value gjson.Result) bool {
		_, name, is := strings.Cut(key.Str, "to=") // a header is the key
		if !is {
			name = key.Str
		}
		name = strings.TrimRight(strings.TrimPrefix(name, harmony.Namespace), " )")
		c = Call{Name: name, Args: value.Raw}
		ok = !ok && value.IsObject() && offered.Exact(name)
		value.ForEach(func(arg, _ gjson.Result) bool {
			ok = ok && offered.Takes(name, arg.Str)
			return ok
		})
		return ok
	})
	return c, ok
}

// inner is the call in {"type": "function", "function": {…}}.
func (k *Keys) inner(v gjson.Result) gjson.Result {
	for range 8 {
		in := firstOf(v, k.inside())
		if !in.IsObject() {
			break
		}
		v = in
	}
	return v
}

func (k *Keys) inside() []string {
	if k.Inside == nil {
		return insideKeys
	}
	return k.Inside
}

// insideKeys are where a call object stands in another one, if no rule says so.
var insideKeys = []string{"function"}

func firstOf(v gjson.Result, keys []string) gjson.Result {
	for _, k := range keys {
		if r := v.Get(gjson.Escape(k)); r.Exists() {
			return r
		}
	}
	return gjson.Result{}
}
