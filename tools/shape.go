package tools

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// shaper turns the text of one call's arguments into the JSON object that its tool
// takes, and notes every repair. It never makes a value up: what is missing stays
// missing, and what does not fit is refused.
type shaper struct {
	tool    string
	schema  *schema // nil where nothing is known of the arguments
	rules   *Rules
	open    bool // text without a parameter's name may become {"input": text}
	repairs []Repair
	left    int // bytes that may still be looked at, so that time stays linear
}

// reading is the object that a text holds, and how far it can be trusted.
type reading struct {
	object string
	cut    Cut
	raw    bool // the text was no JSON and became the value of one parameter
}

// shape reads text and fits what it holds to the schema.
func (w *shaper) shape(text string) (string, *Refusal) {
	r, refusal := w.read(text)
	if refusal != nil {
		return "", refusal
	}
	return w.fit(r.object)
}

// read returns the one object that text means: as it stands, with its syntax
// repaired, decoded from a string, taken out of a list of one, or wrapped as the
// value of the only parameter it can be meant for.
func (w *shaper) read(text string) (reading, *Refusal) {
	body := w.body(text)
	if body == "" || body == "null" {
		w.note("args.empty", text, "{}", "")
		return reading{object: "{}"}, nil
	}
	fixed, err := RepairJSON(body, w.rules.MaxDepth)
	if err != nil {
		if body[0] == '{' && !w.open {
			return reading{}, w.refuse(BadJSON, err.Error())
		}
		return w.wrapText(text)
	}
	json := string(fixed.JSON)
	if !strings.ContainsRune("{[\"`", rune(body[0])) && json != body {
		return w.prose(text, json, fixed)
	}
	w.repairs = append(w.repairs, fixed.Repairs...)
	if json[0] == '{' {
		return reading{object: json, cut: fixed.Cut}, nil
	}
	r, refusal := w.unwrap(json)
	r.cut = max(r.cut, fixed.Cut)
	return r, refusal
}

// body is text without the blanks around it, and without the content type that
// servers leave glued in front of an object: json{"path": "."}.
func (w *shaper) body(text string) string {
	body := strings.TrimSpace(text)
	for _, g := range w.rules.Glued {
		rest, ok := strings.CutPrefix(body, g.Text)
		if rest = strings.TrimSpace(rest); ok && g.Text != "" && strings.HasPrefix(rest, "{") {
			w.note("args.unglue", g.Text, "", g.Place)
			return rest
		}
	}
	return body
}

// prose reads a text that is neither JSON nor begins like it, though some JSON was
// found in it. Where it could as well be the value of a parameter (a script that
// holds an object) and the object would do, nobody can tell which is meant.
func (w *shaper) prose(text, json string, fixed Repaired) (reading, *Refusal) {
	if json[0] != '{' {
		return w.wrapText(text)
	}
	r, refusal := w.wrapText(text)
	switch {
	case refusal != nil && w.schema != nil:
		w.repairs = append(w.repairs, fixed.Repairs...)
		return reading{object: json, cut: fixed.Cut}, nil
	case refusal == nil && w.schema != nil && check(w.schema.Schema, json) == nil:
		return reading{}, w.refuse(BadJSON, "there is text around the JSON object")
	}
	return r, refusal
}

// unwrap finds the object in a JSON value that is none.
func (w *shaper) unwrap(json string) (reading, *Refusal) {
	v := gjson.Parse(json)
	if v.Type == gjson.String {
		text := strings.TrimSpace(v.String())
		if strings.HasPrefix(text, "{") {
			if fixed, err := RepairJSON(text, w.rules.MaxDepth); err == nil && fixed.JSON[0] == '{' {
				w.note("args.decode", json, string(fixed.JSON), "")
				w.repairs = append(w.repairs, fixed.Repairs...)
				return reading{object: string(fixed.JSON), cut: fixed.Cut}, nil
			}
		}
		return w.wrapValue(json)
	}
	if list := v.Array(); v.IsArray() && len(list) == 1 && list[0].IsObject() {
		w.note("args.unwrap", json, list[0].Raw, "")
		return reading{object: list[0].Raw}, nil
	}
	return w.wrapValue(json)
}

// wrapText makes text that is no JSON the value of the tool's only parameter, if
// that takes a string.
func (w *shaper) wrapText(text string) (reading, *Refusal) {
	value := quote(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"))
	name, ok := w.only()
	w.refill(len(value))
	if !ok || w.schema != nil && !w.accepts(w.schema.props[name], value) {
		return reading{}, w.refuse(BadJSON, "")
	}
	r := w.wrap(name, value)
	r.raw = true
	return r, nil
}

// wrapValue makes a JSON value the value of the tool's only parameter.
func (w *shaper) wrapValue(json string) (reading, *Refusal) {
	name, ok := w.only()
	if ok && w.schema != nil {
		w.refill(len(json))
		json = w.value(w.schema.props[name], json)
		ok = w.accepts(w.schema.props[name], json)
	}
	if !ok {
		return reading{}, w.refuse(BadJSON, "")
	}
	return w.wrap(name, json), nil
}

// only returns the parameter that a value without a name is meant for.
func (w *shaper) only() (name string, ok bool) {
	if w.schema == nil {
		return "input", w.open
	}
	return w.schema.only()
}

func (w *shaper) wrap(name, json string) reading {
	object := "{" + quote(name) + ":" + json + "}"
	w.note("args.wrap", json, object, "")
	return reading{object: object}
}

// fit returns object as the schema wants it. One that is valid as the model wrote
// it comes back byte for byte.
func (w *shaper) fit(object string) (string, *Refusal) {
	if w.schema == nil || len(w.repairs) == 0 && check(w.schema.Schema, object) == nil {
		return object, nil
	}
	w.refill(len(object))
	out := w.object(object, w.schema.Schema, w.schema.props, w.schema.required, w.rules.paramsOf(w.tool))
	if !w.accepts(w.schema.Schema, out) {
		out = w.value(w.schema.Schema, out)
	}
	if err := check(w.schema.Schema, out); err != nil {
		return "", w.refuse(BadSchema, w.schema.why(w.tool, out, err))
	}
	return out, nil
}

// refill sets what may be spent on values of n bytes: enough for any sensible
// schema, little enough that no schema can make a short text take long.
func (w *shaper) refill(n int) { w.left = 32*n + 1<<16 }

func (w *shaper) note(kind, from, to, rule string) {
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
