package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Whole reads doc as the answer of another API, in which calls stand below the keys of Through and
// beside known keys only. So a log, an example or a schema, which have other keys, yield none.
func (k *Keys) Whole(offered *tools.Catalog, doc string, depth int) (f Envelope, ok bool) {
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

// IsDump reports whether all of text is a printed value that holds calls.
func (k *Keys) IsDump(offered *tools.Catalog, text string, depth int) bool {
	first, text := k.Printed(), strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") && first.Begins(text, true) != yes {
		return false
	}
	v, is := first.Read(text, depth, true)
	_, ok := k.Found(offered, v)
	return is == yes && ok
}

// IsMessage reports whether doc, which is JSON, is a message of an API. Calls may follow it.
func (k *Keys) IsMessage(offered *tools.Catalog, doc string) bool {
	w := walker{k: k, offered: offered}
	_, ok := w.walk(gjson.Parse(doc), maxWalk)
	return ok && len(k.Through) > 0
}

// Printed returns the first keys of values that are printed in place of a call.
func (k *Keys) Printed() FirstKeys {
	if len(k.Through) == 0 {
		return nil
	}
	known := slices.Concat(k.Through, k.Name, k.Arguments, k.Calls, k.inside(), k.To, k.Body, k.Thinks,
		callMetadata)
	for _, b := range k.Beside {
		key, _, _ := strings.Cut(b, "=")
		known = append(known, key)
	}
	return known
}

// Found returns the calls in a printed value. What a program printed is in doubt: it may only be shown.
func (k *Keys) Found(offered *tools.Catalog, v Value) (f Envelope, ok bool) {
	root := gjson.Parse(v.Doc)
	w := walker{k: k, offered: offered, stream: v.Many, printed: v.Foreign}
	lists, ok := w.walk(root, maxWalk)
	w.join()
	w.f.Said, w.f.Reasoning = string(w.content), string(w.thought)
	if ok && w.f.Again != "" {
		w.f.Printed = w.printed
		return w.f, len(w.f.List) == 0
	}
	// messages, as in the record of a conversation
	if !ok || len(w.f.List) == 0 || root.IsArray() && !v.Many && !w.printed && lists > 1 {
		return Envelope{}, false
	}
	for i := range w.f.List {
		c := &w.f.List[i]
		_, refusal := offered.Name(strings.Clone(c.Name))
		if w.printed && (refusal != nil || !gjson.Valid(c.Args)) {
			return Envelope{}, false
		}
		c.Doubt = c.Doubt || w.printed
	}
	w.f.Printed = w.printed
	return w.f, true
}

// maxWalk bounds the objects and lists around a call.
const maxWalk = 12

// walker collects the calls in a value.
type walker struct {
	k       *Keys
	offered *tools.Catalog
	f       Envelope
	pieces  NativeCalls // of calls in pieces
	stream  bool        // text continues from value to value
	printed bool        // the value is no JSON
	piece   bool        // a delta
	content []byte
	thought []byte
}

// walk adds the contents of v and returns how many lists surround its calls. ok is false for any value
// that is no message.
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
	start := len(w.content)
	to, body := w.addressed(v)
	if ok = w.members(v, to, &lists, depth); !ok {
		return 0, false
	}
	if to != "" {
		w.f.List = append(w.f.List, Call{Name: to, Args: body})
	}
	if v.Get("channel").Str == harmony.Analysis || scan.Among(v.Get("type").Str, w.k.Thinks) {
		w.think(string(w.content[start:]))
		w.content = w.content[:start]
	}
	return lists, true
}

// members reads the members of an object, except the body of a message to a tool.
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
			ok = k.ignores(name, value) || scan.Among(name, k.To) || name == Type
		}
		return ok
	})
	return ok
}

// list reads the items of a list. Two items with lists of calls are alternatives: ok is false.
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

// calls adds each item of a list as a call or as a piece of one.
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

// join turns the pieces into calls.
func (w *walker) join() {
	for c := range w.pieces.Take(len(w.pieces), tools.Ended) {
		w.f.List = append(w.f.List, Call{Name: c.Name, Args: string(c.Args)})
	}
}

// call reads a call object. Ignorable members may stand beside its name and arguments; a status or a
// result makes it no call.
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
		if scan.Among(key.Str, w.k.Name, w.k.Arguments) || !w.ignorable(key.Str, value) {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
	return w.k.object(w.offered, gjson.Parse("{"+strings.Join(members, ",")+"}"))
}

// only reports whether an object has no members but those of keys and ignorable ones.
func (w *walker) only(v gjson.Result, keys ...[]string) (yes bool) {
	yes = true
	v.ForEach(func(key, value gjson.Result) bool {
		yes = scan.Among(key.Str, keys...) || w.ignorable(key.Str, value)
		return yes
	})
	return yes
}

// ignorable reports whether a member beside the parts of a call says nothing about it.
func (w *walker) ignorable(key string, value gjson.Result) bool {
	empty := value.Type == gjson.Null || value.Type == gjson.False || value.Type == gjson.String &&
		(value.Str == "" || value.Str == "false")
	return empty || key == Type || !scan.Among(key, w.k.Done) && (scan.Among(key, callMetadata) ||
		w.k.ignores(key, value))
}

// addressed returns the tool that a message is sent to, and its arguments: an object, or the text of
// one.
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

// texts joins the texts in a value, without metadata.
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
			if key.Type == gjson.Null || !strings.HasPrefix(key.Str, "@") &&
				!scan.Among(key.Str, callMetadata) && !k.ignores(key.Str, value) {
				collect(k, value, depth-1, all)
			}
			return true
		})
	}
}

func (w *walker) say(text string) { w.content = w.appendText(w.content, text) }

func (w *walker) think(text string) { w.thought = w.appendText(w.thought, text) }

// appendText appends text on a new line, or directly in a stream.
func (w *walker) appendText(all []byte, text string) []byte {
	if len(all) > 0 && text != "" && !w.stream {
		all = append(all, '\n')
	}
	return append(all, text...)
}

// tokens joins the tokens of a reply that is given token by token: strings, or objects with one each.
// The first is a control token.
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

// otherSpeaker reports whether name is the type of another speaker's message, such as HumanMessage.
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

// A dump is the message of an API or of a library in place of the call in it: JSON in several lines, or
// the output of a print statement. It is the whole reply, or all that follows a sentence that announces
// a call.

// dumpStart looks for a dump at the start of a line. v[p:] is the first byte that is no blank.
func (t *text) dumpStart(v string, p int, first, eof bool) (opening, verdict) {
	if t.r.s.printed == nil || t.r.c.Empty() || t.r.exhausted() {
		return opening{}, no
	}
	is := t.r.s.printed.Begins(v[p:], eof)
	if is != no && !first {
		front := t.front
		if front.Add(v[:p]); t.r.c.Open() || !front.EndsInWords() || t.introduces(&front) {
			return opening{}, no
		}
	}
	return opening{begin: func(t *text, _ string, _ int) { t.enter(inDump) }}, is
}

// stepDump holds a possible dump up to the end of the reply.
func (t *text) stepDump(v string, eof bool) (int, bool) {
	if t.tooEarly(v, eof) {
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

// takeDump takes the calls in v, which ends the reply, or reads the tokens in it as a reply. If the user
// writes about calls, a printed value is an answer.
func (t *text) takeDump(found Envelope, v string) bool {
	st := t.r.s.json
	switch {
	case found.Printed && t.r.facts.aboutCalls():
		return false
	case found.Again == "":
		if !t.takeFound(st, v, 0, len(v), found, tools.Ending{}, t.atEnd(v)) {
			return false
		}
	case t.atEnd(v) != 0 || !t.allowed(st, 0, len(v), v):
		return false
	default:
		t.settle(Text)
		t.note(st, 0, len(v), Found, "the tokens of a reply")
		t.r.readLeftover(found.Again, t.r.ended, found.Printed)
	}
	t.afterCall(len(v))
	return true
}

// continuesDump reports whether v[end:], behind a value, is the next line of a dump.
func (t *text) continuesDump(v string, end int) bool {
	return t.first && strings.Contains(v[end:t.at], "\n") && v[t.at] == '{' &&
		t.r.s.json.Envelope.IsMessage(t.r.c, v[:end])
}
