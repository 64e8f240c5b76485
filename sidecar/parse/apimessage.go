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
	if v, is := k.Printed().Read(doc, depth, true); is == yes {
		return k.Found(offered, v)
	}
	box, args, ok := k.boxed(doc)
	if !ok {
		return f, false
	}
	f, ok = k.Whole(offered, box, depth)
	return f, ok && certain(offered, f.List, args)
}

// IsDump says that calls stand in all of a text as it was printed.
func (k *Keys) IsDump(offered *tools.Catalog, text string, depth int) bool {
	first, text := k.Printed(), strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") && first.Begins(text, true) != yes {
		return false
	}
	v, is := first.Read(text, depth, true)
	_, ok := k.Found(offered, v)
	return is == yes && ok
}

// Leads says that doc, which is JSON, says nothing but what an API says. Calls may follow it.
func (k *Keys) Leads(offered *tools.Catalog, doc string) bool {
	w := walker{k: k, offered: offered}
	_, ok := w.walk(gjson.Parse(doc), maxWalk)
	return ok && len(k.Through) > 0
}

// Printed are the first keys of values that are printed where a call belongs.
func (k *Keys) Printed() FirstKeys {
	if len(k.Through) == 0 {
		return nil
	}
	known := slices.Concat(k.Through, k.Name, k.Arguments, k.Calls, k.inside(), k.To, k.Body, k.Thinks,
		besides)
	for _, b := range k.Beside {
		key, _, _ := strings.Cut(b, "=")
		known = append(known, key)
	}
	return known
}

// Found is what stands in a value that was printed. What a program printed leaves doubt: it may be
// shown.
func (k *Keys) Found(offered *tools.Catalog, v Value) (f EnvelopeFound, ok bool) {
	root := gjson.Parse(v.Doc)
	w := walker{k: k, offered: offered, stream: v.Many, printed: v.Foreign}
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
		_, refusal := offered.Name(strings.Clone(c.Name))
		if w.printed && (refusal != nil || !gjson.Valid(c.Args)) {
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
	pieces  NativeCalls // of calls that are told in pieces
	stream  bool        // what is said goes on from value to value
	printed bool        // it is no JSON
	piece   bool        // a delta
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
	case !v.IsObject() || otherSpeaker(v.Get(Type).Str):
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
	piece := NativeCall{Index: int(v.Get("index").Int()), ID: v.Get("id").Str,
		Name: firstOf(in, w.k.Name).Str, Args: []byte(firstOf(in, w.k.Arguments).Str)}
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

// addressed is the tool to which a message is sent, and its arguments. They are an object, or the
// text of one.
func (w *walker) addressed(v gjson.Result) (tool, body string) {
	to := firstOf(v, w.k.To).Str
	if _, refusal := w.offered.Name(strings.Clone(to)); to == "" || refusal != nil {
		return "", ""
	}
	content := firstOf(v, w.k.Body)
	if body = content.Raw; !content.IsObject() {
		body = texts(w.k, content)
	}
	if !strings.HasPrefix(strings.TrimSpace(body), "{") && !strings.HasPrefix(to, harmony.Namespace) {
		return "", "" // the recipient is a person with the name of a tool
	}
	return to, body
}

// texts are the texts in a value, but for those that only say what it is.
func texts(k *Keys, v gjson.Result) string {
	var all []string
	collect(k, v, maxWalk, &all)
	return strings.Join(all, "\n")
}

func collect(k *Keys, v gjson.Result, depth int, all *[]string) {
	switch {
	case v.Type == gjson.String && v.Str != "":
		*all = append(*all, v.Str)
	case v.Type == gjson.JSON && depth > 0:
		v.ForEach(func(key, value gjson.Result) bool {
			if key.Type == gjson.Null || !strings.HasPrefix(key.Str, "@") && !scan.Among(key.Str, besides) &&
				!k.beside(key.Str, value) {
				collect(k, value, depth-1, all)
			}
			return true
		})
	}
}

// say adds text that stands beside the calls.
func (w *walker) say(text string) { w.said = w.more(w.said, text) }

// think adds what the model thought.
func (w *walker) think(text string) { w.thought = w.more(w.thought, text) }

// more is all with a text behind it: in a line of its own, unless it goes on.
func (w *walker) more(all []byte, text string) []byte {
	if len(all) > 0 && text != "" && !w.stream {
		all = append(all, '\n')
	}
	return append(all, text...)
}

// tokens joins the tokens of a reply that is told token by token: texts, or objects with one each. The
// first is a control token.
func (w *walker) tokens(v gjson.Result) bool {
	var b strings.Builder
	ok := true
	v.ForEach(func(_, item gjson.Result) bool {
		token := item
		if item.IsObject() {
			token = item.Get("token")
			ok = w.only(item, []string{"token"})
		}
		if ok = ok && token.Type == gjson.String; ok && b.Len() == 0 {
			ok = strings.HasPrefix(token.Str, "<|") && strings.HasSuffix(token.Str, "|>")
		}
		b.WriteString(token.Str)
		return ok
	})
	_, body, whole := strings.Cut(b.String(), "<|message|>")
	if !ok || !whole || body == "" || strings.HasPrefix(body, "<|") {
		return false
	}
	w.f.Again += b.String()
	return true
}

// otherSpeaker reports whether a name is that of another speaker's message, such as HumanMessage.
func otherSpeaker(name string) bool {
	if !strings.Contains(name, "Message") {
		return false
	}
	for _, who := range []string{"Human", "User", "System", "Developer", "Tool", "Function"} {
		if strings.HasPrefix(name, who) {
			return true
		}
	}
	return false
}

// A dump is the message of an API or of a library that stands in place of the call in it: JSON in several
// lines, or what a program prints. It is all of the reply, or all that follows a sentence that makes a call.

// dumpStart looks for one at the start of a line. v[p:] is its first byte that is no blank.
func (t *text) dumpStart(v string, p int, first, eof bool) (opening, verdict) {
	if t.r.s.printed == nil || t.r.c.Empty() || t.r.tired() {
		return opening{}, no
	}
	is := t.r.s.printed.Begins(v[p:], eof)
	if is != no && !first {
		front := t.past
		if front.Add(v[:p]); t.r.c.Open() || !front.Says() || t.leads(&front) {
			return opening{}, no
		}
	}
	return opening{begin: func(t *text, _ string, _ int) { t.enter(inDump) }}, is
}

// stepDump holds what may be a dump up to the end of the reply.
func (t *text) stepDump(v string, eof bool) (int, bool) {
	if t.early(v, eof) {
		return 0, true
	}
	value, is := t.r.s.printed.Read(v, t.r.facts.MaxDepth, eof)
	if is == wait {
		return 0, true
	}
	st := t.r.s.json
	if is == yes && !t.r.cut() {
		if found, ok := st.Envelope.Found(t.r.c, value); ok && t.takeDump(found, v) {
			return len(v), false
		}
	}
	return t.releaseValue(max(value.At, 1), noCall) // or it would open again
}

// takeDump takes the calls in v, which the reply ends in, or reads the tokens in it as they would have
// been read. Where the user writes about calls, what a program printed is what they asked for.
func (t *text) takeDump(found EnvelopeFound, v string) bool {
	st := t.r.s.json
	switch {
	case found.Printed && t.r.facts.aboutCalls():
		return false
	case found.Again == "":
		if !t.takeIf(st, v, 0, len(v), found, tools.Ending{}, t.atEnd(v)) {
			return false
		}
	case t.atEnd(v) != 0 || !t.allowed(st, 0, len(v), v):
		return false
	default:
		t.settle(Text)
		t.note(st, 0, len(v), Found, "the tokens of a reply")
		t.r.overhear(found.Again, t.r.ended, found.Printed)
	}
	t.behindCall(len(v))
	return true
}

// more says that v[end:], behind a value, is the next line of a dump.
func (t *text) more(v string, end int) bool {
	return t.first && strings.Contains(v[end:t.at], "\n") && v[t.at] == '{' &&
		t.r.s.json.Envelope.Leads(t.r.c, v[:end])
}
