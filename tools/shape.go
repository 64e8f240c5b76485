package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
	"github.com/jgavinray/gpt-oss-executor/tools/notation"
)

// shaper turns the text of one call's arguments into the JSON object that its tool
// takes, and notes every repair. It makes no value up: what is missing stays missing,
// the null of damaged JSON is a guess, and what does not fit is refused.
type shaper struct {
	tool    string
	schema  *schema // nil where nothing is known of the arguments
	rules   *Rules
	open    bool // text without a parameter's name may become {"input": text}
	madeUp  bool // null stands where the text has no value
	repairs []Repair
	levels  int // how many objects around the arguments were taken off
	framed  int // how often something around them was
	left    int // bytes that may still be looked at, so that time stays linear
}

// reading is the object that a text holds, and how far it can be trusted.
type reading struct {
	object string
	cut    jsonrepair.Cut
	raw    bool // the text was no JSON: it became the value of one parameter, or was empty
	unsure bool // what it says was guessed
}

// readMended returns the one object that text means: as it stands, with its syntax
// repaired, decoded from a string, taken out of a list of one, or wrapped as the
// value of the only parameter it can be meant for.
func (w *shaper) readMended(text string) (reading, *Refusal) {
	body := w.decoded(w.body(text))
	if body == "" || body == "null" || nameless.MatchString(body) {
		w.note("args.empty", text, "{}", "")
		return reading{object: "{}", raw: true}, nil
	}
	if elided.MatchString(body) {
		return reading{}, w.refuse(BadJSON, "what came leaves them out")
	}
	if value, ok := w.lone(body); ok {
		return w.wrapValue(value)
	}
	fixed, err := jsonrepair.Repair(body, w.rules.MaxDepth)
	if err != nil {
		if body[0] == '{' && !w.open {
			return reading{}, w.refuse(BadJSON, err.Error())
		}
		return w.plain(w.wrapText(text))
	}
	w.madeUp = fixed.Has(jsonrepair.KindValue)
	if isText(body, fixed) || w.open && w.madeUp && !quotesName(body) {
		return w.readText(text, fixed)
	}
	return w.readJSON(fixed)
}

// isText reports whether body is rather a text in which some JSON was found, such
// as a script, than damaged JSON.
func isText(body string, found jsonrepair.Result) bool {
	json := string(found.JSON)
	if json == body {
		return false
	}
	switch json[0] {
	case '{':
		if found.Only(jsonrepair.KindComment, jsonrepair.KindWrapper) {
			return false
		}
		return body[0] != '{' && body[0] != '[' && body[0] != '"' && (body[0] != '`' || fencesCode(body))
	case '[':
		return !isOneObject(json)
	case '"':
		return !strings.ContainsAny(body[:1], "\"'`\\") || strings.Count(body, `"`)%2 == 0 &&
			!strings.HasPrefix(body, `"{`)
	}
	return true
}

// readText makes text the value of the only parameter. If the object found in it would do as well, the text
// is ambiguous. If no parameter takes text, the JSON that was found is all there is.
func (w *shaper) readText(text string, found jsonrepair.Result) (reading, *Refusal) {
	r, refusal := w.wrapText(text)
	switch {
	case w.schema == nil:
		return r, refusal
	case refusal != nil && (found.JSON[0] == '{' || found.JSON[0] == '[' || found.JSON[0] != '"' &&
		w.harmless()):
		return w.readJSON(found)
	case refusal == nil && found.JSON[0] == '{' && w.schema.Accepts(string(found.JSON)):
		if w.harmless() {
			return w.readJSON(found)
		}
		return reading{}, w.refuse(BadJSON, "there is text around the JSON object")
	}
	return w.plain(r, refusal)
}

// plain refuses text that became a value, unless the tool only reads, or a rule says that
// the parameter takes it: what a model writes in place of arguments is often a remark, and
// a remark must not be run.
func (w *shaper) plain(r reading, refusal *Refusal) (reading, *Refusal) {
	if refusal != nil || w.harmless() {
		return r, refusal
	}
	name, _ := w.only()
	if _, ok := w.rules.textParam(w.tool, name); !ok {
		return reading{}, w.refuse(BadJSON, "send {"+jsontext.Quote(name)+": …}")
	}
	return r, nil
}

// readJSON finds the object in a JSON value: the value itself, one encoded in a
// string, the only one of a list, or the value of the only parameter.
func (w *shaper) readJSON(found jsonrepair.Result) (reading, *Refusal) {
	if refusal := w.beside(found.Around); refusal != nil {
		return reading{}, refusal
	}
	w.repairs = append(w.repairs, Mended(found.Changes)...)
	json := string(found.JSON)
	if json[0] == '{' {
		if w.madeUp {
			json = withValues(json)
		}
		return reading{object: json, cut: found.Cut, unsure: w.unsure(found, json)}, nil
	}
	if isOneObject(json) {
		object := gjson.Parse(json).Array()[0].Raw
		w.note("args.unwrap", json, object, "")
		return reading{object: object, cut: found.Cut, unsure: w.unsure(found, object)}, nil
	}
	if json[0] == '"' && w.schema != nil {
		if r, refusal, ok := w.notated(notation.Of(gjson.Parse(json).String(), w.rules.MaxDepth)); ok {
			r.unsure = found.Unsure
			return r, refusal
		}
	}
	if text := strings.TrimSpace(gjson.Parse(json).String()); json[0] == '"' && strings.HasPrefix(text, "{") {
		if inner, err := jsonrepair.Repair(text, w.rules.MaxDepth); err == nil && inner.JSON[0] == '{' {
			if refusal := w.beside(inner.Around); refusal != nil {
				return reading{}, refusal
			}
			w.note("args.decode", json, string(inner.JSON), "")
			w.repairs = append(w.repairs, Mended(inner.Changes)...)
			return reading{object: string(inner.JSON), cut: max(inner.Cut, found.Cut), unsure: found.Unsure ||
				w.unsure(inner, string(inner.JSON))}, nil
		}
	}
	if object, ok := paired(json); ok && json[0] == '[' && w.schema != nil && w.proves(object, true) {
		w.note("args.pairs", json, object, "")
		return reading{object: object, cut: found.Cut, unsure: found.Unsure || found.Words}, nil
	}
	r, refusal := w.wrapValue(json)
	r.cut, r.unsure = found.Cut, found.Unsure || found.Words
	return r, refusal
}

// unsure says that a value of the object may be another: a word without quotes is no text
// only where its parameter takes none.
func (w *shaper) unsure(found jsonrepair.Result, object string) bool {
	if s := w.schema; found.Inside != "" && (s == nil || s.props[found.Inside] == nil ||
		takesObject(s.props[found.Inside])) {
		return true
	}
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

// closed reports whether a closer was put where none stood: the text may have been cut there.
func (w *shaper) closed() bool {
	return slices.ContainsFunc(w.repairs, func(r Repair) bool { return r.Kind == jsonrepair.KindCloser })
}

// harmless reports whether a wrong value does no harm: the tool reads, or none is known.
func (w *shaper) harmless() bool { return w.open || w.rules.Class(w.tool) == Read }

// wrapText makes text that is no JSON the value of the tool's only parameter, if
// that takes a string, and the text looks like what the parameter takes.
func (w *shaper) wrapText(text string) (reading, *Refusal) {
	name, ok := w.only()
	plain, why := w.wording(name, text)
	value := jsontext.Quote(plain)
	w.refill(len(value))
	if !ok || w.schema != nil && !w.accepts(w.schema.props[name], value) {
		return reading{}, w.refuse(BadJSON, "")
	}
	if why != "" {
		return reading{}, w.unlike(name, why)
	}
	r := w.wrap(name, value)
	r.raw = true
	return r, nil
}

// unlike refuses text that does not look like what the parameter takes.
func (w *shaper) unlike(param, why string) *Refusal {
	return w.refuse(BadJSON, "send {"+jsontext.Quote(param)+": …}; what came "+why)
}

// wrapValue makes a JSON value the value of the tool's only parameter.
func (w *shaper) wrapValue(json string) (reading, *Refusal) {
	name, ok := w.only()
	open := strings.IndexByte("\"[{", json[0]) < 0 // more of it may have been to come
	if ok && w.schema != nil {
		w.refill(len(json))
		json = w.value(w.schema.props[name], json)
		if json[0] == '"' {
			plain, why := w.wording(name, gjson.Parse(json).String())
			if why != "" {
				return reading{}, w.unlike(name, why)
			}
			json = jsontext.Quote(plain)
		}
		ok = w.accepts(w.schema.props[name], json)
	}
	if !ok {
		return reading{}, w.refuse(BadJSON, "")
	}
	r := w.wrap(name, json)
	r.raw = open
	if json[0] == '"' || w.schema != nil && target(w.schema.props[name]).Types == nil {
		return w.plain(r, nil)
	}
	return r, nil
}

// only returns the parameter that a value without a name is meant for.
func (w *shaper) only() (name string, ok bool) {
	if w.schema == nil {
		return "input", w.open
	}
	return w.schema.only()
}

func (w *shaper) wrap(name, json string) reading {
	object := "{" + jsontext.Quote(name) + ":" + json + "}"
	rule, _ := w.rules.textParam(w.tool, name)
	w.note("args.wrap", json, object, rule.Place)
	return reading{object: object}
}

// fit returns object as the schema wants it. One that is valid as the model wrote
// it comes back byte for byte, unless a sign is stuck to the name of a parameter. An argument that the schema
// forbids is refused, not dropped: it may be the one that made the call safe.
func (w *shaper) fit(object string) (string, *Refusal) {
	if s := w.schema; s != nil && (len(w.repairs) > 0 || !s.Accepts(object) || !w.spelt(object, s)) {
		w.refill(len(object))
		object = w.object(object, s.Schema, s.props, s.required, w.rules.paramsOf(w.tool))
		if !w.accepts(s.Schema, object) {
			object = w.value(s.Schema, object)
		}
		if faults := s.Faults(object); len(faults) > 0 {
			return "", w.refuse(BadSchema, s.why(w.tool, object, faults))
		}
	}
	if w.madeUp && slices.ContainsFunc(membersOf(object), func(m member) bool { return m.val == "null" }) {
		return "", w.refuse(BadJSON, "a name has no value")
	}
	return object, nil
}

// refill sets what may be spent on values of n bytes: enough for any sensible
// schema, little enough that no schema can make a short text take long.
func (w *shaper) refill(n int) { w.left = 32*n + 1<<16 }

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
