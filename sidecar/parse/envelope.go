package parse

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// plainEnvelope is how calls are written where no strategy says otherwise.
var plainEnvelope = Envelope{
	Calls:     []string{"tool_calls"},
	Name:      []string{"name", "tool"},
	Arguments: []string{"arguments", "parameters", "args", "input"},
}

// thoughtKeys are where a guided reply thinks.
var thoughtKeys = []string{"reasoning", "thought"}

// besides are the keys that a call object may have beside its name and arguments.
var besides = []string{"id", "type", "call_id", "index"}

// starts says whether v begins like a call object: its first key names a call.
func (e *Envelope) starts(v string, eof bool) verdict {
	short := waitUnless(eof)
	i := skipSpace(v, 1)
	if v[0] == '[' {
		if i == len(v) {
			return short
		}
		if v[i] != '{' {
			return no
		}
		i = skipSpace(v, i+1)
	}
	if i == len(v) {
		return short
	}
	if v[i] != '"' {
		return no
	}
	key, _, whole := strings.Cut(v[i+1:], `"`)
	switch {
	case !whole:
		return short
	case key == "function" || among(key, e.Name, e.Calls):
		return yes
	}
	return no
}

// calls is what an envelope holds: calls, and what a guided reply says beside them.
type calls struct {
	list      []rawCall
	reasoning string
	answer    string
	done      bool
	repairs   []tools.Repair
}

// envelope takes the calls in v[from:to]. It is false where that is none of our
// forms, or may be a quotation, or the strategy's condition does not hold.
func (t *text) envelope(st *Strategy, v string, from, to int, end tools.Ending, a around) bool {
	doc := v[from:to]
	found, ok := t.unwrap(st, doc, end.Length)
	if !ok || !t.mayRun(a, found.list...) || !t.allowed(st, from, to, doc) {
		return false
	}
	t.takeAll(st, from, to, found, end)
	return true
}

// takeAll takes calls that stand in v[from:to], and what is said beside them.
func (t *text) takeAll(st *Strategy, from, to int, found calls, end tools.Ending) {
	if found.reasoning != "" {
		t.settle(Text)
		t.r.emit(Thought, found.reasoning)
	}
	for _, c := range found.list {
		call, refusal := t.r.c.Call(c.name, []byte(c.args), end)
		t.take(st, from, to, call, refusal, found.repairs)
	}
	if len(found.list) == 0 && found.answer != "" {
		t.note(st, from, to, Shown, "the answer of a guided reply")
		t.settle(Text)
		t.r.emit(Text, found.answer)
	}
	if found.done {
		t.note(st, from, to, Finished, "done")
		t.r.done = true
	}
}

// unwrap reads doc, mended where needed, as calls. cut says that the reply ended
// at its token limit inside of doc.
func (t *text) unwrap(st *Strategy, doc string, cut bool) (c calls, ok bool) {
	clean := strings.Clone(doc)
	if !gjson.Valid(clean) {
		fixed, err := jsonrepair.Repair(clean, t.r.depth)
		if err != nil || fixed.Cut == jsonrepair.MidValue || cut && fixed.Cut != jsonrepair.Whole || fixed.Has(jsonrepair.KindValue) {
			return c, false
		}
		clean, c.repairs = string(fixed.JSON), tools.Mended(fixed.Changes)
	}
	e := t.envelopeOf(st)
	root := gjson.Parse(clean)
	if list, guided := e.listIn(root); guided {
		if c.list, ok = e.list(list); !ok {
			return calls{}, false
		}
		c.reasoning = firstOf(root, thoughtKeys).Str
		c.answer = firstOf(root, e.Answer).Str
		c.done = firstOf(root, e.Done).Bool()
		return c, len(c.list) > 0 || c.answer != "" || c.done
	}
	one, ok := e.object(root)
	if ok {
		c.list = []rawCall{one}
	}
	return c, ok
}

// envelopeOf is the envelope of a strategy: its own, or that of the JSON kind.
func (t *text) envelopeOf(st *Strategy) *Envelope {
	switch {
	case len(st.Envelope.Name) > 0:
		return &st.Envelope
	case t.r.s.json != nil:
		return &t.r.s.json.Envelope
	}
	return &plainEnvelope
}

// listIn is the list of calls in a value: itself, or what one of its keys holds.
func (e *Envelope) listIn(v gjson.Result) (list gjson.Result, ok bool) {
	if v.IsArray() {
		return v, true
	}
	for _, key := range e.Calls {
		if list = v.Get(gjson.Escape(key)); list.IsArray() {
			return list, true
		}
	}
	return gjson.Result{}, false
}

func (e *Envelope) list(v gjson.Result) (calls []rawCall, ok bool) {
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		var c rawCall
		c, ok = e.object(item)
		calls = append(calls, c)
		return ok
	})
	return calls, ok
}

// object reads one call object. Keys beside the known ones make it data.
func (e *Envelope) object(v gjson.Result) (c rawCall, ok bool) {
	v = inner(v)
	name, args := firstOf(v, e.Name), firstOf(v, e.Arguments)
	if !v.IsObject() || name.Type != gjson.String || !args.Exists() {
		return c, false
	}
	c = rawCall{name: name.Str, args: args.Raw}
	switch args.Type {
	case gjson.String:
		c.args = args.Str
	case gjson.Null:
		c.args = "{}"
	}
	return c, only(v, false, e.Name, e.Arguments, besides, thoughtKeys)
}

// inner is the call in {"type": "function", "function": {…}}.
func inner(v gjson.Result) gjson.Result {
	for i := 0; i < 8 && v.Get("function").IsObject(); i++ {
		v = v.Get("function")
	}
	return v
}

func firstOf(v gjson.Result, keys []string) gjson.Result {
	for _, k := range keys {
		if r := v.Get(gjson.Escape(k)); r.Exists() {
			return r
		}
	}
	return gjson.Result{}
}
