package tools

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// shaper converts the text of a call's arguments to the JSON object that the tool takes, and notes every
// repair. It invents no value: what is missing stays missing, a null of damaged JSON is a guess, and
// what does not fit is refused.
type shaper struct {
	ops          args.Table
	tool         string
	schema       *schema // nil: unknown
	rules        *Rules
	open         bool // text without a parameter may become {"input": text}
	inventedNull bool // a null stands for a missing value
	repairs      []Repair
	trailing     bool // the text ends in a blank or a comment, which may belong to a value without its quote
	levels       int  // removed objects around the arguments
	budget       int  // bytes that may still be checked, so that time stays linear
}

// argsTarget is the target of a search for arguments in one text.
type argsTarget struct {
	*shaper
	text        string
	take        func(w *shaper, r args.Reading) (object string, refusal *Refusal)
	refusal     *Refusal // of the reading nearest to the text
	steps       int      // of that reading
	soleRefusal *Refusal // why the text is no value of the only parameter
	repairs     []Repair // of the accepted reading
}

// trail matches what may follow a value or belong to it.
var trail = regexp.MustCompile(`[ \t]$|\s(?:#|//|--|/\*)[^"]*$`)

// read returns the result of take for the one object that a text means.
func (w *shaper) read(text string, take func(*shaper, args.Reading) (string, *Refusal)) (string, *Refusal) {
	body := strings.TrimSpace(text)
	w.trailing = trail.MatchString(text)
	switch {
	case body == "" || body == "null" || noArguments.MatchString(body):
		w.note("args.empty", text, "{}", "")
		return take(w, args.Reading{Text: "{}", Raw: true})
	case ellipsis.MatchString(body):
		return "", w.refuse(BadJSON, "what came leaves them out")
	}
	t := argsTarget{shaper: w, text: body, take: take}
	found, twice, ok := w.ops.Read(body, cmp.Or(w.rules.MaxDepth, jsontext.MaxDepth), &t)
	switch {
	case twice:
		return "", w.refuse(BadJSON, "they can be read in two ways")
	case ok:
		w.repairs = t.repairs
		return found.Object, nil
	case t.refusal != nil:
		return "", t.refusal
	case t.soleRefusal != nil && body[0] != '{':
		return "", t.soleRefusal
	}
	why := ""
	if _, err := jsonrepair.Repair(body, w.rules.MaxDepth); err != nil && body[0] == '{' {
		why = err.Error()
	}
	return "", w.refuse(BadJSON, why)
}

func (t *argsTarget) Name() string   { return t.tool }
func (t *argsTarget) Known() bool    { return t.schema != nil }
func (t *argsTarget) Harmless() bool { return t.harmless() }

func (t *argsTarget) Denies(words string) bool { return t.remark(words) != "" }

// Unsure reports whether repaired text may be another object: {"a":{"a":1} begins twice, or lacks its
// end.
func (t *argsTarget) Unsure(found jsonrepair.Result, object string) bool {
	ended := t.text + "}"
	return t.unsure(found, object) || found.Has(jsonrepair.KindRepeat) && gjson.Valid(ended) &&
		(t.schema == nil || t.schema.Accepts(ended))
}

// Accept tries a reading. The repairs of the first accepted one are kept.
func (t *argsTarget) Accept(r args.Reading) (string, bool) {
	w := *t.shaper
	w.repairs, w.inventedNull = slices.Clone(w.repairs), r.MadeUp
	for _, s := range r.Steps {
		place := ""
		if s.ID == "args.wrap" {
			name, _ := w.only()
			rule, _ := w.rules.textParam(w.tool, name)
			place = rule.Place
		}
		w.note(s.ID, s.From, s.To, place)
		w.repairs[len(w.repairs)-1].At = s.At
	}
	object, refusal := "", t.doubt(&w, r)
	if refusal == nil {
		object, refusal = t.take(&w, r)
	}
	if refusal != nil {
		off := 0
		for _, s := range r.Steps {
			if strings.HasPrefix(s.ID, "args.") {
				off++
			}
		}
		if t.refusal == nil || off < t.steps {
			t.refusal, t.steps = refusal, off
		}
		return "", false
	}
	if t.repairs == nil {
		t.repairs = w.repairs
	}
	return object, true
}

// doubt refuses a reading that may be something else than arguments: code = "x" is Python, {code: true}
// may be a text without its quotes, and the backslash of it\'s may be for a shell.
func (t *argsTarget) doubt(w *shaper, r args.Reading) *Refusal {
	if len(r.Steps) > 0 && args.Marked(r.Text) && !r.Did("args.blanks", "args.bytes", "args.byte_tokens") {
		return w.refuse(BadJSON, "marks of a tokenizer stand in it")
	}
	if t.schema == nil {
		inner, object := strings.CutPrefix(t.text, "{") // {"path": } is damaged JSON, {words} is text
		if t.open && r.MadeUp && !(object && strings.HasPrefix(strings.TrimSpace(inner), `"`)) {
			return w.refuse(BadJSON, "")
		}
		return nil
	}
	if r.Proof {
		object := r.Text
		if e := readEnvelope([]byte(object)); e.nameKey != "" &&
			strings.TrimPrefix(e.name, "functions.") == w.tool {
			object = e.args
		}
		name, _ := t.only()
		_, takes := t.rules.textParam(t.tool, name)
		inProgram := r.Did("args.literal", "args.keywords")
		if inProgram && !t.schema.Accepts(object) ||
			takes && r.Open && (inProgram || r.Did("args.lines", "args.toml")) ||
			inProgram && t.rules.Class(t.tool) == Exec && args.Contracted(t.text) || !w.proves(object,
			r.Open) {
			return w.refuse(BadJSON, "")
		}
		return nil
	}
	if r.Did("args.wrap") && t.harmless() && t.schema.labelsParam(t.text, "") {
		return w.refuse(BadJSON, "what came names arguments in a way of its own")
	}
	return nil
}

// proves reports whether the tool takes object, with each key once. Without a frame of its own (open),
// its keys must be exact.
func (w *shaper) proves(object string, open bool) bool {
	try := *w
	try.repairs = []Repair{{}} // as repaired: every value is checked
	given := membersOf(object)
	object, refusal := try.fit(object)
	if !open {
		given = membersOf(object)
	}
	seen := map[string]bool{}
	return refusal == nil && len(given) > 0 && len(given) <= len(w.schema.props) &&
		!slices.ContainsFunc(given, func(m member) bool {
			again := seen[m.name]
			seen[m.name] = true
			return again || w.schema.props[m.name] == nil
		})
}

// Sole makes a value, or text that is no JSON, the value of the tool's only parameter. Models often
// write a remark in place of arguments, which must not run: a text must look like what the parameter
// takes, and a rule must allow it, unless the tool reads.
func (t *argsTarget) Sole(value string, raw bool) (object string, ok bool) {
	w := *t.shaper
	name, known := w.only()
	refuse := func(why string) (string, bool) {
		t.soleRefusal = cmp.Or(t.soleRefusal, w.refuse(BadJSON, why))
		return "", false
	}
	if !known {
		return refuse("")
	}
	send := "send {" + jsontext.Quote(name) + ": …}"
	var param *Schema
	w.refill(len(value))
	if w.schema != nil {
		param = w.schema.props[name]
	}
	if param != nil && !raw {
		value = w.value(param, value)
	}
	if text := value; raw || param != nil && value[0] == '"' {
		if !raw {
			text = gjson.Parse(value).String()
		}
		plain, why := w.cleanText(name, text)
		value = jsontext.Quote(plain)
		if param != nil && !w.accepts(param, value) {
			return refuse("")
		}
		if why != "" {
			return refuse(send + "; what came " + why)
		}
	}
	if param != nil && !w.accepts(param, value) {
		return refuse("")
	}
	_, takes := w.rules.textParam(w.tool, name)
	if !w.harmless() && !takes && (value[0] == '"' || param != nil && target(param).Types == nil) {
		return refuse(send)
	}
	return "{" + jsontext.Quote(name) + ":" + value + "}", true
}

// unsure reports whether a value of the object may be another: an unquoted word is certain only as a
// text of its parameter.
func (w *shaper) unsure(found jsonrepair.Result, object string) bool {
	return found.Unsure || found.Words && slices.ContainsFunc(membersOf(object), func(m member) bool {
		switch v := gjson.Parse(m.val); {
		case v.Type == gjson.String:
			return false
		case v.IsObject() || v.IsArray():
			return strings.Contains(m.val, "true") || strings.Contains(m.val, "false") ||
				strings.Contains(m.val, "null") || found.Has(jsonrepair.KindNumber)
		}
		return w.schema == nil || takesText(w.schema.props[m.name], 0)
	})
}

// closerAdded reports whether a closer was added: the text may have been cut there.
func (w *shaper) closerAdded() bool {
	return slices.ContainsFunc(w.repairs, func(r Repair) bool { return r.Kind == jsonrepair.KindCloser })
}

// harmless reports whether a wrong value does no harm: the tool reads, or is unknown.
func (w *shaper) harmless() bool { return w.open || w.rules.Class(w.tool) == Read }

// only returns the parameter that an unnamed value is meant for.
func (w *shaper) only() (name string, ok bool) {
	if w.schema == nil {
		return "input", w.open
	}
	return w.schema.only()
}

// fit returns object as the schema wants it; unchanged if it is valid, unless a sign sticks to a
// parameter name. A forbidden argument is refused, not dropped: it may have made the call safe.
func (w *shaper) fit(object string) (string, *Refusal) {
	if s := w.schema; s != nil && (len(w.repairs) > 0 || !s.Accepts(object) || !w.keysExact(object, s)) {
		w.refill(len(object))
		object = w.object(object, s.Schema, s.props, s.required, w.rules.paramsOf(w.tool))
		if !w.accepts(s.Schema, object) {
			object = w.value(s.Schema, object)
		}
		if faults := s.Faults(object); len(faults) > 0 {
			return "", w.refuse(BadSchema, s.why(w.tool, object, faults))
		}
	}
	if w.inventedNull && slices.ContainsFunc(membersOf(object),
		func(m member) bool { return m.val == "null" }) {
		return "", w.refuse(BadJSON, "a name has no value")
	}
	return object, nil
}

// refill sets the budget for values of n bytes: enough for any sensible schema, too little for one that
// makes a short text slow.
func (w *shaper) refill(n int) { w.budget = 32*n + 1<<16 }

func (w *shaper) note(kind, from, to, rule string) {
	const most = 64
	if len(w.repairs) >= most {
		return
	}
	w.repairs = append(w.repairs, renamed(kind, from, to, rule))
}

func (w *shaper) refuse(code RefusalCode, why string) *Refusal {
	if code != BadJSON {
		return &Refusal{Code: code, Name: w.tool, Why: why}
	}
	full := fmt.Sprintf("the arguments of %s must be one JSON object", w.tool)
	if w.schema != nil && len(w.schema.required) > 0 {
		full += " with " + w.schema.typedNames(w.schema.required)
	}
	if why != "" {
		full += "; " + why
	}
	return &Refusal{Code: code, Name: w.tool, Why: full}
}
