package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// value returns raw, one JSON value, changed so that s accepts it; unchanged if it is valid or cannot be
// repaired.
func (w *shaper) value(s *Schema, raw string) string {
	if w.accepts(s, raw) {
		return raw
	}
	mark := len(w.repairs)
	ways := [...]func(s *Schema, raw string) string{w.nestedValues, w.scalar, w.decode, w.branch, w.list}
	for _, way := range ways {
		if w.budget <= 0 {
			break
		}
		if out := way(target(s), raw); out != raw && w.accepts(s, out) {
			return out
		}
		w.repairs = w.repairs[:mark]
	}
	return raw
}

// accepts reports whether raw is valid, within the budget.
func (w *shaper) accepts(s *Schema, raw string) bool {
	w.budget -= len(raw) + 32
	return w.budget > 0 && s.Accepts(raw)
}

// nestedValues repairs the values of an object or a list.
func (w *shaper) nestedValues(s *Schema, raw string) string {
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

// scalar reads a number, boolean, null or enum value that was written as another kind of value.
func (w *shaper) scalar(s *Schema, raw string) string {
	for _, as := range readings(s, raw) {
		if w.accepts(s, as) {
			w.note("args.coerce", raw, as, "")
			return as
		}
	}
	return raw
}

// decode reads an object or a list written as a string. Only the syntax of objects is repaired, as a
// bracket may begin a text. The template of Seed-OSS writes [{'text': 'a'}].
func (w *shaper) decode(s *Schema, raw string) string {
	v := gjson.Parse(raw)
	text := strings.TrimSpace(v.String())
	if v.Type != gjson.String || text == "" || text[0] != '{' && text[0] != '[' {
		return raw
	}
	var inner string // its quotes may be escaped twice
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

// list wraps a value in the list that s wants, or unwraps a list of one.
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

// element returns the value of an element of a list. For a tool that reads, a text may stand for an
// object with one text: ["a.txt"] for [{"path": "a.txt"}].
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

// branch repairs raw for one of the schemas of a union.
func (w *shaper) branch(s *Schema, raw string) string {
	branches := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
	slices.SortStableFunc(branches, func(a, b *Schema) int {
		return mismatch(a, raw) - mismatch(b, raw)
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

// mismatch is 0 if raw is the list or the object that s wants, else 1.
func mismatch(s *Schema, raw string) int {
	if raw[0] == '[' && typed(target(s), "array") || raw[0] == '{' && typed(target(s), "object") {
		return 0
	}
	return 1
}
