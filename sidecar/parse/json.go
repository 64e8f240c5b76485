package parse

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// jsonStart looks at { or [ in prose: a call object may stand at the start of
// the reply, at the start of a line, or right behind an offered name.
func (t *text) jsonStart(v string, j int, eof bool) (opening, verdict) {
	if t.r.s.json == nil || t.r.c.Empty() || t.r.tired() {
		return opening{}, no
	}
	begin := func(t *text, _ string, _ int) { t.enter(inJSON) }
	if t.firstAt(v, j) {
		return opening{begin: begin}, yes
	}
	if w := t.nameBefore(v, j); w >= 0 {
		k := skipSpace(v, j+1)
		if k == len(v) && !eof {
			return opening{back: j - w}, wait
		}
		if k < len(v) && (v[k] == '"' || v[k] == '}') {
			return opening{back: j - w, begin: func(t *text, _ string, _ int) {
				t.enter(inGlued)
				t.scan.at = j - w
			}}, yes
		}
	}
	if !(j == 0 && t.bol || j > 0 && v[j-1] == '\n') {
		return opening{}, no
	}
	is := t.r.s.json.Envelope.starts(v[j:])
	if is == wait && eof {
		is = no
	}
	return opening{begin: begin}, is
}

// nameBefore is the offset of an offered name that ends at j, or -1.
func (t *text) nameBefore(v string, j int) int {
	w := j
	for w > 0 && isName(v[w-1]) {
		w--
	}
	if w == j || v[j] != '{' || w == 0 && !t.spaced || w > 0 && !isSpace(v[w-1]) || !t.r.c.Exact(v[w:j]) {
		return -1
	}
	return w
}

// starts says whether v begins like a call object: its first key names a call.
func (e *Envelope) starts(v string) verdict {
	i := 1
	if v[0] == '[' {
		if i = skipSpace(v, i); i == len(v) {
			return wait
		}
		if v[i] != '{' {
			return no
		}
		i++
	}
	i = skipSpace(v, i)
	if i == len(v) {
		return wait
	}
	if v[i] != '"' {
		return no
	}
	end := strings.IndexByte(v[i+1:], '"')
	if end < 0 {
		if len(v)-i > 32 {
			return no
		}
		return wait
	}
	key := v[i+1 : i+1+end]
	for _, list := range [][]string{e.Name, e.Calls, {"function"}} {
		for _, k := range list {
			if k == key {
				return yes
			}
		}
	}
	return no
}

// stepJSON holds a value until it is known to be a call or not.
func (t *text) stepJSON(v string, eof bool) (int, bool) {
	st := t.r.s.json
	if !t.scan.run(v, false, eof) {
		if len(v) > t.r.maxText {
			return t.release(st, len(v), "too long to be a call")
		}
		if !eof {
			return 0, true
		}
		if t.envelope(st, v, 0, len(v), v) {
			t.behindCall()
			return len(v), false
		}
		return t.release(st, len(v), "JSON that is no call")
	}
	end := t.scan.end
	if t.envelope(st, v, 0, end, v[:end]) {
		t.behindCall()
		return end, false
	}
	rest := skipSpace(v, end)
	if rest < len(v) || !t.first {
		return t.release(st, end, "JSON that is no call")
	}
	if !eof {
		return 0, true
	}
	if t.r.echoes(v[:end]) {
		t.note(st, 0, end, Dropped, "repeats the arguments of the server's own call")
		t.prose(0)
		return len(v), false
	}
	if call, ok := t.r.c.Fit(strings.Clone(v[:end])); ok {
		t.take(st, 0, end, call, nil, []tools.Repair{{Kind: "name.inferred", At: t.base, To: call.Name}})
		t.behindCall()
		return len(v), false
	}
	return t.release(st, end, "JSON that is no call")
}

// behindCall goes on behind a call found in text: more calls may follow, but
// text would depend on a result that does not exist yet.
func (t *text) behindCall() {
	t.prose(0)
	t.after = afterOpen
	t.bol, t.first, t.filler = true, true, true
}

// release gives a candidate back as prose.
func (t *text) release(st *Strategy, to int, why string) (int, bool) {
	t.note(st, 0, to, Released, why)
	t.r.wasted += max(to, len(t.pend))
	fenced := t.mode == inFence
	t.prose(1)
	if fenced {
		t.at = 0 // it is a code block; released keeps it from being tried again
	}
	t.released = true
	return 0, false
}

// fenceMayCall says whether a code fence at the start could be a whole reply.
func (t *text) fenceMayCall() bool {
	return !t.released && !t.r.tired() && t.r.s.json != nil && !t.r.c.Empty()
}

// stepFence holds a code fence at the start of the reply: a call, if JSON in it
// is one and nothing follows.
func (t *text) stepFence(v string, eof bool) (int, bool) {
	st := t.r.s.json
	line := strings.IndexByte(v, '\n')
	brace := strings.IndexAny(v, "{[")
	if brace < 0 || line < 0 && brace > 64 {
		if !eof && len(v) < 256 {
			return 0, true
		}
		return t.release(st, len(v), "a code fence without JSON")
	}
	info := strings.Trim(v[:brace], "`~ \n\t\r")
	if info != "" && info != "json" && info != "tool_call" && info != "tool_calls" && info != "tool_code" {
		return t.release(st, brace, "a code fence")
	}
	t.scan.at = max(t.scan.at, brace)
	if !t.scan.run(v, false, eof) {
		if !eof && len(v) <= t.r.maxText {
			return 0, true
		}
		return t.release(st, len(v), "a code fence")
	}
	end := t.scan.end
	if !t.isEnvelope(st, v[brace:end]) {
		return t.release(st, end, "a code fence without a call")
	}
	rest := v[skipSpace(v, end):]
	rest = strings.TrimLeft(rest, "`~")
	if !blank(rest) {
		return t.release(st, end, "a code fence that text follows")
	}
	if !eof {
		return 0, true
	}
	t.envelope(st, v, brace, end, v[brace:end])
	t.behindCall()
	return len(v), false
}

// stepGlued reads an offered name that a JSON object follows directly.
func (t *text) stepGlued(v string, eof bool) (int, bool) {
	st := t.r.s.json
	brace := strings.IndexByte(v, '{')
	t.scan.at = max(t.scan.at, brace)
	if !t.scan.run(v, false, eof) {
		if !eof && len(v) <= t.r.maxText {
			return 0, true
		}
		t.release(st, len(v), "an unfinished object behind a name")
		t.at = brace + 1
		return 0, false
	}
	end := t.scan.end
	if !json.Valid([]byte(v[brace:end])) {
		t.release(st, end, "no JSON behind a name")
		t.at = brace + 1
		return 0, false
	}
	t.found(st, v, 0, end, v[:brace], v[brace:end], tools.Ending{Terminated: true}, tools.Repair{Kind: "call.glued", At: t.base})
	t.behindCall()
	return end, false
}

// plainEnvelope is how calls are written where no strategy says otherwise.
var plainEnvelope = Envelope{
	Calls:     []string{"tool_calls"},
	Name:      []string{"name", "tool"},
	Arguments: []string{"arguments", "parameters", "args", "input"},
}

// rawCall is a call object before its name and arguments are looked at.
type rawCall struct{ name, args string }

// isEnvelope says whether doc holds calls.
func (t *text) isEnvelope(st *Strategy, doc string) bool {
	calls, _, _, ok := t.unwrap(st, doc)
	return ok && len(calls) > 0
}

// envelope takes the calls in doc. It is false where doc is none of our forms.
func (t *text) envelope(st *Strategy, v string, from, to int, doc string) bool {
	calls, g, repairs, ok := t.unwrap(st, doc)
	if !ok {
		return false
	}
	if !t.r.allowed(st, t.field, doc) {
		return false
	}
	if g.reasoning != "" {
		t.settle(Text)
		t.r.emit(Thought, g.reasoning)
	}
	for _, c := range calls {
		call, refusal := t.r.c.Call(c.name, c.args, tools.Ending{Terminated: true})
		t.take(st, from, to, call, refusal, repairs)
	}
	if len(calls) == 0 && g.answer != "" {
		t.note(st, from, to, Shown, "the answer of a guided reply")
		t.settle(Text)
		t.r.emit(Text, g.answer)
	}
	if g.done {
		t.note(st, from, to, Finished, "done")
		t.r.done = true
	}
	return true
}

// guided is what a guided reply holds beside its calls.
type guided struct {
	reasoning, answer string
	done              bool
}

// unwrap reads doc, mended where needed, as calls.
func (t *text) unwrap(st *Strategy, doc string) (calls []rawCall, g guided, repairs []tools.Repair, ok bool) {
	e := &plainEnvelope
	switch {
	case st != nil && len(st.Envelope.Name) > 0:
		e = &st.Envelope
	case t.r.s.json != nil:
		e = &t.r.s.json.Envelope
	}
	clean := strings.Clone(doc)
	if !gjson.Valid(clean) {
		fixed, err := tools.RepairJSON(clean, t.r.depth)
		if err != nil || fixed.Cut == tools.MidValue {
			return nil, g, nil, false
		}
		clean, repairs = string(fixed.JSON), fixed.Repairs
	}
	root := gjson.Parse(clean)
	if root.IsArray() {
		calls, ok = e.list(root)
		return calls, g, repairs, ok && len(calls) > 0
	}
	for _, key := range e.Calls {
		list := root.Get(gjson.Escape(key))
		if !list.IsArray() {
			continue
		}
		if calls, ok = e.list(list); !ok {
			return nil, g, nil, false
		}
		g.reasoning = first(root, []string{"reasoning", "thought"}).Str
		g.answer = first(root, e.Answer).Str
		g.done = first(root, e.Done).Bool()
		return calls, g, repairs, len(calls) > 0 || g.answer != "" || g.done
	}
	c, ok := e.object(root)
	return []rawCall{c}, g, repairs, ok
}

func (e *Envelope) list(v gjson.Result) (calls []rawCall, ok bool) {
	ok = true
	v.ForEach(func(_, item gjson.Result) bool {
		c, is := e.object(item)
		calls = append(calls, c)
		ok = is
		return is
	})
	return calls, ok
}

// object reads one call object. Keys beside the known ones make it data.
func (e *Envelope) object(v gjson.Result) (c rawCall, ok bool) {
	if !v.IsObject() {
		return c, false
	}
	if inner := v.Get("function"); inner.IsObject() {
		return e.object(inner)
	}
	name, args := first(v, e.Name), first(v, e.Arguments)
	if name.Type != gjson.String || !args.Exists() {
		return c, false
	}
	known := true
	v.ForEach(func(k, _ gjson.Result) bool {
		known = among(k.Str, e.Name, e.Arguments, []string{"id", "type", "call_id", "index", "thought", "reasoning"})
		return known
	})
	c = rawCall{name: name.Str, args: args.Raw}
	switch args.Type {
	case gjson.String:
		c.args = args.Str
	case gjson.Null:
		c.args = "{}"
	}
	return c, known
}

func first(v gjson.Result, keys []string) gjson.Result {
	for _, k := range keys {
		if r := v.Get(gjson.Escape(k)); r.Exists() {
			return r
		}
	}
	return gjson.Result{}
}

func among(s string, lists ...[]string) bool {
	for _, l := range lists {
		for _, x := range l {
			if x == s {
				return true
			}
		}
	}
	return false
}
