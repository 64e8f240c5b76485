package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// value returns raw, one JSON value, changed so that s accepts it. What s accepts
// already, and what no way can mend, comes back as it is.
func (w *shaper) value(s *Schema, raw string) string {
	if w.accepts(s, raw) {
		return raw
	}
	mark := len(w.repairs)
	ways := [...]func(s *Schema, raw string) string{w.inside, w.scalar, w.decode, w.branch, w.list}
	for _, way := range ways {
		if w.left <= 0 {
			break
		}
		if out := way(target(s), raw); out != raw && w.accepts(s, out) {
			return out
		}
		w.repairs = w.repairs[:mark]
	}
	return raw
}

// accepts reports whether raw is valid, as long as there is budget to find out.
func (w *shaper) accepts(s *Schema, raw string) bool {
	w.left -= len(raw) + 32
	return w.left > 0 && s.Accepts(raw)
}

// inside mends what an object or a list holds.
func (w *shaper) inside(s *Schema, raw string) string {
	v := gjson.Parse(raw)
	switch {
	case v.IsObject():
		props, required := fields(s)
		return w.object(raw, s, props, required, w.rules.paramsOf(w.tool))
	case v.IsArray() && s.Items != nil:
		var out []string
		for _, e := range v.Array() {
			out = append(out, w.element(s.Items, e.Raw))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return raw
}

// scalar reads a number, boolean, null or word of a list that was written as
// another kind of value.
func (w *shaper) scalar(s *Schema, raw string) string {
	for _, as := range readings(s, raw) {
		if w.accepts(s, as) {
			w.note("args.coerce", raw, as, "")
			return as
		}
	}
	return raw
}

// decode reads an object or a list that was written as a string. Only the syntax of objects, in a list too,
// is repaired: a bracket may well begin a text. The template of Seed-OSS writes [{'text': 'a'}].
func (w *shaper) decode(s *Schema, raw string) string {
	v := gjson.Parse(raw)
	text := strings.TrimSpace(v.String())
	if v.Type != gjson.String || text == "" || text[0] != '{' && text[0] != '[' {
		return raw
	}
	var inner string // its quotes may have been escaped once more
	if !gjson.Valid(text) && json.Unmarshal([]byte(`"`+text+`"`), &inner) == nil && gjson.Valid(inner) {
		text = inner
	}
	fixed, err := jsonrepair.Repair(text, w.rules.MaxDepth)
	if err != nil || fixed.Cut >= jsonrepair.Unquoted || (fixed.Unsure || fixed.Words ||
		w.remark(fixed.Around) != "") && !w.harmless() || fixed.JSON[0] != text[0] || text[0] == '[' &&
		fixed.Total > 0 && !strings.HasPrefix(strings.TrimSpace(text[1:]), "{") {
		return raw
	}
	w.note("args.decode", raw, string(fixed.JSON), "")
	return w.value(s, string(fixed.JSON))
}

// list puts a value into the list that s wants, or takes it out of a list of one.
func (w *shaper) list(s *Schema, raw string) string {
	v := gjson.Parse(raw)
	if elements := v.Array(); v.IsArray() {
		if len(elements) != 1 || elements[0].IsArray() {
			return raw
		}
		w.note("args.unwrap", raw, elements[0].Raw, "")
		return w.value(s, elements[0].Raw)
	}
	if !typed(s, "array") || v.Type == gjson.Null || v.IsObject() && len(v.Map()) == 0 {
		return raw
	}
	element := raw
	if s.Items != nil {
		element = w.element(s.Items, raw)
	}
	w.note("args.wrap", raw, "["+element+"]", "")
	return "[" + element + "]"
}

// element is the value of an element of a list. Where its object must have one text and nothing else,
// and the tool only reads, that text alone may stand there: ["a.txt"] for [{"path": "a.txt"}].
func (w *shaper) element(s *Schema, raw string) string {
	out := w.value(s, raw)
	props, required := fields(target(s))
	if raw[0] != '"' || !w.harmless() || len(required) != 1 || props[required[0]] == nil ||
		w.accepts(s, out) {
		return out
	}
	object := "{" + jsontext.Quote(required[0]) + ":" + raw + "}"
	if !w.accepts(s, object) {
		return out
	}
	w.note("args.wrap", raw, object, "")
	return object
}

// branch mends raw for one of the schemas that s is made of.
func (w *shaper) branch(s *Schema, raw string) string {
	branches := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
	slices.SortStableFunc(branches, func(a, b *Schema) int {
		return strangeness(a, raw) - strangeness(b, raw)
	})
	for _, b := range branches {
		mark := len(w.repairs)
		if out := w.value(b, raw); out != raw && w.accepts(s, out) {
			return out
		}
		w.repairs = w.repairs[:mark]
	}
	return raw
}

// strangeness is 0 where s wants a list and raw is one, or an object and raw is
// one, and 1 elsewhere.
func strangeness(s *Schema, raw string) int {
	if raw[0] == '[' && typed(target(s), "array") || raw[0] == '{' && typed(target(s), "object") {
		return 0
	}
	return 1
}
