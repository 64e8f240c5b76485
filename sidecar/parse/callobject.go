package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Keys are the keys of the parts of a call object, as the part json of a strategy names them in rule
// files.
type Keys struct {
	Calls     []string `rule:"calls" doc:"Keys that hold the list of calls." eg:"[tool_calls, calls]"`
	Name      []string `rule:"name,required" doc:"Keys that hold the name of the tool." eg:"[name, tool, function]"`
	Inside    []string `rule:"inside" doc:"Keys that hold the call object itself. If left out, it is function." eg:"[function, function_call]"`
	Arguments []string `rule:"arguments,required" doc:"Keys that hold the arguments." eg:"[arguments, parameters, args]"`
	Through   []string `rule:"through" doc:"Keys that lead to a call where the whole reply is an object of another API." eg:"[choices, message, toolUse]"`
	Beside    []string `rule:"beside" doc:"Keys that may stand beside those of through; any other one makes it text. With = only with this value." eg:"[id, model, role=assistant]"`
	To        []string `rule:"to" doc:"Keys that hold whom a message is sent to; a tool, and the message is a call." eg:"[recipient, to]"`
	Body      []string `rule:"body" doc:"Keys that hold the text of a message, or the arguments of such a call." eg:"[content, text]"`
	Thinks    []string `rule:"thinks" doc:"Keys that hold thoughts, and types of what does." eg:"[thinking, reasoning_content]"`
	Done      []string `rule:"done" doc:"Keys that end the turn if they are true." eg:"[done]"`
	Answer    []string `rule:"answer" doc:"Keys that hold the text for the user if there is no call." eg:"[answer, response]"`
}

// DefaultKeys are the keys of a strategy that names none.
func DefaultKeys() *Keys {
	return &Keys{
		Calls:     []string{"tool_calls", "tool_uses"},
		Name:      []string{"name", "tool", "tool_name", "recipient_name"},
		Arguments: []string{"arguments", "parameters", "args", "input"},
		Answer:    []string{"answer", "response", "final_answer"},
	}
}

// AnswerOf returns the answer in an object that ends the turn, or "".
func (k *Keys) AnswerOf(doc string) string {
	if !gjson.Valid(doc) {
		return ""
	}
	return firstOf(gjson.Parse(doc), k.Answer).Str
}

// thoughtKeys hold the thoughts of a guided reply.
var thoughtKeys = []string{"reasoning", "thought"}

// callMetadata are keys that may stand beside a name and arguments.
var callMetadata = []string{"id", "type", "call_id", "tool_call_id", "index", "toolUseId", "status"}

// Starts reports whether v begins like a call object: its first key names a call or a tool in c.
// Metadata may precede it.
func (k *Keys) Starts(c *tools.Catalog, v string, eof bool) verdict {
	short := scan.WaitUnless(eof)
	i := scan.SkipSpace(v, 1)
	if v[0] == '[' {
		if i == len(v) {
			return short
		}
		if v[i] != '{' {
			return no
		}
		i = scan.SkipSpace(v, i+1)
	}
	for {
		switch {
		case i == len(v):
			return short
		case v[i] != '"':
			return no
		}
		key, rest, whole := strings.Cut(v[i+1:], `"`)
		switch {
		case !whole:
			return short
		case scan.Among(key, k.Name, k.Calls, k.inside()), c.Exact(key):
			return yes
		case !scan.Among(key, callMetadata):
			return no
		}
		value, rest, whole := strings.Cut(rest, ",") // what the call is called, or its type
		switch {
		case strings.ContainsAny(value, "{[]}"):
			return no
		case !whole:
			return short
		}
		i = scan.SkipSpace(v, len(v)-len(rest))
	}
}

// Headed reports whether v begins with an object whose name is a header, as servers write an answer for
// which they know no tool: {"name": "assistant<|channel|>final", …
func (k *Keys) Headed(a *harmony.Alphabet, v string, eof bool) verdict {
	const most = 64
	part := strings.SplitN(v[:min(len(v), most)], `"`, 5) // around the first key and a text behind it
	switch {
	case strings.Trim(part[0], "{ \n\t\r") != "", len(part) > 2 && !slices.Contains(k.Name, part[1]):
		return no
	case len(part) > 3:
		if at, _, _ := a.Find(part[3], 0, false); at >= 0 {
			return yes
		}
	}
	return scan.WaitUnless(eof || len(part) > 4 || len(v) >= most)
}

// Envelope is the content of a value: calls, and what a guided reply says beside them.
type Envelope struct {
	List      []Call
	Reasoning string
	Answer    string
	Said      string // beside calls
	Again     string // the reply as tokens, in place of calls
	Printed   bool   // by a program: no JSON
	Done      bool
	Repairs   []tools.Repair
}

// Read reads doc, repaired if needed, as calls of the offered tools. depth bounds the nesting. cut
// reports that the reply ended at its token limit within doc.
func (k *Keys) Read(offered *tools.Catalog, doc string, depth int, cut bool) (c Envelope, ok bool) {
	clean, unsure := strings.Clone(doc), false
	if !gjson.Valid(clean) {
		if box, args, ok := k.boxed(clean); ok && !cut {
			if f, ok := k.Read(offered, box, depth, cut); ok && certain(offered, f.List, args) {
				return f, true
			}
		}
		clean, c.Repairs = offered.Plain(clean)
		fixed, err := jsonrepair.Repair(clean, depth)
		if err != nil {
			return c, false
		}
		unsure = fixed.Unsure || fixed.Words || fixed.Cut == jsonrepair.Unquoted || args.Beats(clean)
		if fixed.Cut >= jsonrepair.Unended || cut && fixed.Cut != jsonrepair.Whole ||
			fixed.Has(jsonrepair.KindValue) {
			return c, false
		}
		clean, c.Repairs = string(fixed.JSON), append(c.Repairs, tools.Mended(fixed.Changes)...)
	}
	root := gjson.Parse(clean)
	doubt := k.annotated(root) ||
		slices.ContainsFunc(c.Repairs, func(r tools.Repair) bool { return r.Kind == jsonrepair.KindComment })
	if list, guided := k.listIn(root); guided {
		if c.List, ok = k.list(offered, list); !ok || k.otherRole(root) {
			return Envelope{}, false
		}
		for i := range c.List {
			c.List[i].Unsure, c.List[i].Doubt = unsure, doubt || c.List[i].Doubt
		}
		c.Reasoning = firstOf(root, thoughtKeys).Str
		c.Answer = firstOf(root, k.Answer).Str
		c.Done = firstOf(root, k.Done).Bool()
		return c, len(c.List) > 0 || c.Answer != "" || c.Done
	}
	one, ok := k.object(offered, root)
	if one.Unsure, one.Doubt = unsure, doubt || one.Doubt; ok {
		c.List = []Call{one}
	}
	return c, ok
}

// listIn returns the list of calls in a value: itself, or that under a key of Calls.
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

// object reads one call object. Other keys make it data, unless they are parameters of the tool that it
// names.
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
	c = Call{Name: name.Str, Args: args.Raw, Doubt: hasSeveral(v, k.Name) || hasSeveral(v, k.Arguments)}
	switch args.Type {
	case gjson.String:
		c.Args = args.Str
	case gjson.Null:
		c.Args = "{}"
	}
	if only(v, false, k.Name, k.Arguments, callMetadata, thoughtKeys) {
		return c, true
	}
	return k.flat(offered, v, name.Str) // a parameter of the tool has the name of such a key
}

// hasSeveral reports whether an object has more than one of keys, so that it is unclear which counts.
func hasSeveral(v gjson.Result, keys []string) bool {
	n := 0
	v.ForEach(func(key, _ gjson.Result) bool {
		if scan.Among(key.Str, keys) {
			n++
		}
		return true
	})
	return n > 1
}

// flat reads {"name":"read","path":"a"}, with the arguments beside the name.
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
			scan.Among(key.Str, callMetadata, thoughtKeys) && !offered.Takes(m.Name, key.Str):
			return true
		}
		ok = ok && offered.Takes(m.Name, key.Str)
		members = append(members, key.Raw+":"+value.Raw)
		return ok
	})
	return Call{Name: strings.Clone(name), Args: "{" + strings.Join(members, ",") + "}"}, ok &&
		len(members) > 0
}

// keyed reads {"read":{"path":"a"}}, with the name as the only key.
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

// inner returns the call in {"type": "function", "function": {…}}.
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

// insideKeys are the default of Inside.
var insideKeys = []string{"function"}

func firstOf(v gjson.Result, keys []string) gjson.Result {
	for _, k := range keys {
		if r := v.Get(gjson.Escape(k)); r.Exists() {
			return r
		}
	}
	return gjson.Result{}
}

// callTypes are the types of a call in APIs.
var callTypes = []string{"function", "function_call", "tool", "tool_call", "tool_use", "call", "custom",
	"custom_tool_call"}

// annotated reports whether an object with calls has more than those of a guided reply or an API:
// another key, a status, an answer, or words in an id or a state. The calls may then be examples.
func (k *Keys) annotated(v gjson.Result) (yes bool) {
	if v.IsArray() {
		return false
	}
	_, guided := k.listIn(v)
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case !guided: // a call, and its own id and type
			yes = scan.Among(key.Str, callMetadata) && (strings.Contains(value.Str, " ") ||
				key.Str == "type" && !scan.AmongFold(value.Str, callTypes))
		case scan.Among(key.Str, k.Calls, thoughtKeys), value.Type == gjson.Null:
		case scan.Among(key.Str, k.Done) && !scan.Among(key.Str, k.Answer):
			yes = value.Bool()
		case scan.Among(key.Str, k.Answer):
			yes = !scan.Blank(value.String())
		default:
			yes = !k.ignores(key.Str, value) || strings.Contains(value.Str, " ")
		}
		return !yes
	})
	return yes
}

// otherRole reports whether an object is the message of a role other than assistant, which calls
// nothing.
func (k *Keys) otherRole(v gjson.Result) bool {
	role := v.Get("role")
	return role.Type == gjson.String && role.Str != harmony.Assistant && !k.ignores("role", role)
}

// ignores reports whether a key may stand beside calls, with its value if the rule names one.
func (k *Keys) ignores(key string, value gjson.Result) bool {
	return slices.ContainsFunc(k.Beside, func(entry string) bool {
		name, want, fixed := strings.Cut(entry, "=")
		return name == key && (!fixed || strings.EqualFold(value.Str, want))
	})
}

// defines reports whether parameters are a schema: the object defines a tool.
func defines(parameters gjson.Result) (yes bool) {
	if parameters.Get("properties").IsObject() && parameters.Get("type").Str == "object" {
		return true
	}
	types := []string{"string", "number", "integer", "boolean", "object", "array"}
	parameters.ForEach(func(_, value gjson.Result) bool {
		yes = value.Type == gjson.String && slices.Contains(types, value.Str)
		return yes
	})
	return yes
}

// Several returns the calls in the arguments of a wrapper, such as multi_tool_use.parallel of OpenAI's
// models, which the request does not offer. In an unknown wrapper every call must be one that reads.
func (k *Keys) Several(offered *tools.Catalog, c Call, depth int, cut bool) []Call {
	// at a glance
	if !slices.ContainsFunc(k.Calls, func(key string) bool { return strings.Contains(c.Args, `"`+key+`"`) }) {
		return nil
	}
	if _, refusal := offered.Name(strings.Clone(c.Name)); refusal == nil {
		return nil
	}
	changes := func(c Call) bool { class, _ := offered.ClassOf(c.Name); return class != tools.Read }
	found, ok := k.Read(offered, c.Args, depth, cut)
	if !ok || !scan.Among(c.Name, k.Calls, k.Inside) && !offered.Wraps(c.Name) &&
		slices.ContainsFunc(found.List, changes) {
		return nil
	}
	return found.List
}

// objects returns the objects of a text that consists of several, as a server joins the arguments of
// calls of one tool.
func objects(text string) (all []string) {
	for s := (jsontext.Scanner{Doc: []byte(text)}); ; {
		switch {
		case s.Peek() == '{':
			at := s.Skip()
			all = append(all, string(at.Of(s.Doc)))
		case len(all) < 2 || s.End() != nil:
			return nil
		default:
			return slices.Compact(all)
		}
	}
}

// takeEnvelope takes the calls in v[from:to]. It returns false if there are none, they may be quoted, or
// the strategy's condition does not hold.
func (t *text) takeEnvelope(st *Strategy, v string, from, to int, end tools.Ending, a Signs) bool {
	found, ok := t.unwrap(st, v[from:to], end.How == tools.Cut)
	return ok && t.takeFound(st, v, from, to, found, end, a)
}

// takeFound takes the calls found in v[from:to] if their signs and the strategy's condition allow it.
func (t *text) takeFound(st *Strategy, v string, from, to int, found Envelope, end tools.Ending,
	a Signs) bool {
	if !t.accepts(Object, a, found.List...) || !t.allowed(st, from, to, v[from:to]) {
		return false
	}
	t.addAll(st, from, to, found, end)
	return true
}

// allKnown reports whether doc holds calls of offered tools only.
func (t *text) allKnown(st *Strategy, doc string) bool {
	found, ok := t.unwrap(st, doc, false)
	return ok && !slices.ContainsFunc(found.List, func(c Call) bool { return !t.r.names.Known(c.Name) })
}

// addAll adds the calls in v[from:to] and the text beside them.
func (t *text) addAll(st *Strategy, from, to int, found Envelope, end tools.Ending) {
	if found.Reasoning+found.Said != "" {
		t.settle(Text)
		t.r.emit(Thought, found.Reasoning)
		t.r.emit(Text, found.Said)
	}
	for _, c := range found.List {
		t.addCall(st, from, to, c, end, found.Repairs)
	}
	if len(found.List) == 0 && found.Answer != "" {
		t.note(st, from, to, Shown, "the answer of a guided reply")
		t.settle(Text)
		t.r.emit(Text, found.Answer)
	}
	if found.Done {
		t.note(st, from, to, Finished, "done")
		t.r.done = true
	}
}

// unwrap reads doc as calls, with the keys of a strategy. cut reports that the reply ended at its token
// limit within doc.
func (t *text) unwrap(st *Strategy, doc string, cut bool) (Envelope, bool) {
	return t.envelopeOf(st).Read(t.r.c, doc, t.r.facts.MaxDepth, cut)
}

// envelopeOf returns the keys of the strategy, of the JSON strategy, or the default ones.
func (t *text) envelopeOf(st *Strategy) *Keys {
	switch {
	case len(st.Envelope.Name) > 0:
		return &st.Envelope
	case t.r.s.json != nil:
		return &t.r.s.json.Envelope
	}
	return DefaultKeys()
}
