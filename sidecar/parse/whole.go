package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Whole reads doc as what another API answers, in which calls stand deeper: behind the keys that
// lead there, with nothing beside them but keys that are known. So a log, an example, or a schema,
// which say more or something else, are none.
func (k *Keys) Whole(offered *tools.Catalog, doc string, depth int) (f EnvelopeFound, ok bool) {
	doc = strings.Clone(doc)
	if len(k.Through) == 0 {
		return f, false
	}
	if gjson.Valid(doc) {
		return k.Found(offered, Value{Doc: doc})
	}
	if v, is := k.Printed().Read(doc, depth, true); is == scan.Yes {
		return k.Found(offered, v)
	}
	box, args, ok := k.boxed(doc, depth)
	if !ok {
		return f, false
	}
	f, ok = k.Whole(offered, box, depth)
	return f, ok && certain(offered, f.List, args)
}

// IsDump says that calls stand in all of a text as it was printed.
func (k *Keys) IsDump(offered *tools.Catalog, text string, depth int) bool {
	words, text := k.Printed(), strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") &&
		words.Begins(text, true) != scan.Yes {
		return false
	}
	v, is := words.Read(text, depth, true)
	_, ok := k.Found(offered, v)
	return is == scan.Yes && ok
}

// Leads says that doc, which is JSON, says nothing but what an API says. Calls may follow it.
func (k *Keys) Leads(offered *tools.Catalog, doc string) bool {
	w := walker{k: k, offered: offered}
	_, ok := w.walk(gjson.Parse(doc), maxWalk)
	return ok && len(k.Through) > 0
}

// Printed are the words by which a value is known that is printed where a call belongs. In front of
// arguments the lines of a header end.
func (k *Keys) Printed() *PrintedWords {
	if len(k.Through) == 0 {
		return &PrintedWords{}
	}
	known := slices.Concat(k.Through, k.Name, k.Arguments, k.Calls, k.inside(), k.To, k.Body, k.Thinks,
		besides)
	for _, b := range k.Beside {
		key, _, _ := strings.Cut(b, "=")
		known = append(known, key)
	}
	return &PrintedWords{Keys: known, Heads: slices.Concat(k.Heads, k.Status), Tags: k.Tags}
}

// Found is what stands in a value that was printed. What a program printed leaves doubt: it may be
// shown. Of a status line only calls that read are believed.
func (k *Keys) Found(offered *tools.Catalog, v Value) (f EnvelopeFound, ok bool) {
	root := gjson.Parse(v.Doc)
	if v.Notation == PrintedLines && firstOf(root, k.Status).Exists() {
		status := *k
		status.Name, k = k.Status, &status
	}
	w := walker{k: k, offered: offered, stream: v.Many, printed: v.Notation != PrintedJSON}
	lists, ok := w.walk(root, maxWalk)
	w.join()
	w.f.Said, w.f.Reasoning = string(w.said), string(w.thought)
	if ok && w.f.Again != "" {
		w.f.Printed = w.printed
		return w.f, len(w.f.List) == 0
	}
	// messages, as in the record of a conversation
	if !ok || len(w.f.List) == 0 || root.IsArray() && !v.Many && !w.printed && lists > 1 {
		return EnvelopeFound{}, false
	}
	for i := range w.f.List {
		c := &w.f.List[i]
		class, _ := offered.ClassOf(c.Name)
		_, refusal := offered.Name(strings.Clone(c.Name))
		if w.printed && (refusal != nil || !gjson.Valid(c.Args)) || v.Notation == PrintedLines &&
			class != tools.Read && firstOf(root, k.To).Str == "" {
			return EnvelopeFound{}, false
		}
		c.Doubt = c.Doubt || w.printed
	}
	w.f.Printed = w.printed
	return w.f, true
}

// maxWalk is how many objects and lists may stand around a call.
const maxWalk = 12

// walker goes through a value, and finds the calls in it.
type walker struct {
	k       *Keys
	offered *tools.Catalog
	f       EnvelopeFound
	pieces  Owns // of calls that are told in pieces
	stream  bool // what is said goes on from value to value
	printed bool // it is no JSON
	piece   bool // a delta
	said    []byte
	thought []byte
}

// walk adds what stands in v, and says through how many lists its calls are reached. It is
// false where v is anything else.
func (w *walker) walk(v gjson.Result, depth int) (lists int, ok bool) {
	switch {
	case depth == 0:
		return 0, false
	case v.IsArray():
		return w.list(v, depth)
	case !v.IsObject() || somebodyElse(v.Get(Type).Str):
		return 0, false
	}
	if _, guided := w.k.listIn(v); !guided {
		if c, is := w.call(v); is {
			w.f.List = append(w.f.List, c)
			return 0, true
		}
	}
	said := len(w.said)
	to, body := w.addressed(v)
	if ok = w.members(v, to, &lists, depth); !ok {
		return 0, false
	}
	if to != "" {
		w.f.List = append(w.f.List, Call{Name: to, Args: body})
	}
	if v.Get("channel").Str == harmony.Analysis || scan.Among(v.Get("type").Str, w.k.Thinks) {
		w.think(string(w.said[said:]))
		w.said = w.said[:said]
	}
	return lists, true
}

// members looks at what an object says, the body of a message to a tool aside.
func (w *walker) members(v gjson.Result, to string, lists *int, depth int) (ok bool) {
	k := w.k
	ok = true
	v.ForEach(func(key, value gjson.Result) bool {
		switch name := key.Str; {
		case value.Type == gjson.Null, to != "" && scan.Among(name, k.To, k.Body):
		case scan.Among(name, k.Calls) && value.IsArray():
			*lists, ok = max(*lists, 1), w.calls(value)
		case scan.Among(name, k.Thinks):
			w.think(texts(k, value))
		case scan.Among(name, k.Through) && value.Type == gjson.JSON:
			in, is := 0, false
			piece := w.piece
			w.piece = piece || name == "delta"
			in, is = w.walk(value, depth-1)
			w.piece = piece
			*lists, ok = max(*lists, in), is
		case scan.Among(name, k.Through, k.Body) && value.Type == gjson.String:
			w.say(value.Str)
		default:
			ok = k.beside(name, value) || scan.Among(name, k.To) || name == Type
		}
		return ok
	})
	return ok
}

// list walks through the items of a list. Where two of them hold lists of calls they are
// answers to choose from.
func (w *walker) list(v gjson.Result, depth int) (lists int, ok bool) {
	if w.tokens(v) {
		return 1, true
	}
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		if item.Type == gjson.String && w.printed { // the text of a message
			w.say(item.Str)
			return true
		}
		had, in := len(w.f.List), 0
		if in, ok = w.walk(item, depth-1); in > 0 && len(w.f.List) > had {
			ok = ok && (lists == 0 || w.stream)
			lists = in
		}
		return ok
	})
	return lists + 1, ok
}

// calls takes each item of a list as a call, or as a piece of one.
func (w *walker) calls(v gjson.Result) (ok bool) {
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		if w.piece {
			ok = w.add(item)
			return ok
		}
		var c Call
		c, ok = w.call(item)
		w.f.List = append(w.f.List, c)
		return ok
	})
	return ok
}

// add adds a piece of a call.
func (w *walker) add(v gjson.Result) bool {
	in := firstOf(v, w.k.inside())
	if !in.IsObject() || !w.only(v, w.k.inside()) || !w.only(in, w.k.Name, w.k.Arguments) {
		return false
	}
	piece := Own{Index: int(v.Get("index").Int()), ID: v.Get("id").Str, Name: firstOf(in, w.k.Name).Str,
		Args: []byte(firstOf(in, w.k.Arguments).Str)}
	w.pieces, _ = w.pieces.Add(piece)
	return true
}

// join makes calls of the pieces.
func (w *walker) join() {
	for c := range w.pieces.Take(len(w.pieces), tools.Ended) {
		w.f.List = append(w.f.List, Call{Name: c.Name, Args: string(c.Args)})
	}
}

// call reads a call object. What says nothing may stand beside its name and arguments; that it is
// done, or what came of it, makes it none.
func (w *walker) call(v gjson.Result) (c Call, ok bool) {
	for range maxWalk {
		in := firstOf(v, w.k.inside())
		if !in.IsObject() {
			break
		}
		if !w.only(v, w.k.inside()) {
			return c, false
		}
		v = in
	}
	if c, ok = w.k.object(w.offered, v); ok {
		return c, true
	}
	var members []string
	v.ForEach(func(key, value gjson.Result) bool {
		if scan.Among(key.Str, w.k.Name, w.k.Arguments) || !w.idle(key.Str, value) {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
	return w.k.object(w.offered, gjson.Parse("{"+strings.Join(members, ",")+"}"))
}

// only says that an object has no keys but these, and those that say nothing.
func (w *walker) only(v gjson.Result, keys ...[]string) (yes bool) {
	yes = true
	v.ForEach(func(key, value gjson.Result) bool {
		yes = scan.Among(key.Str, keys...) || w.idle(key.Str, value)
		return yes
	})
	return yes
}

// idle says that a member beside the parts of a call says nothing of it.
func (w *walker) idle(key string, value gjson.Result) bool {
	empty := value.Type == gjson.Null || value.Type == gjson.False || value.Type == gjson.String &&
		(value.Str == "" || value.Str == "false")
	return empty || key == Type || !scan.Among(key, w.k.Done) && (scan.Among(key, besides) ||
		w.k.beside(key, value))
}
