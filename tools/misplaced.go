package tools

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// noArguments matches an object with one empty name and value: {"": {}} is how some models send none.
var noArguments = regexp.MustCompile(`^\{\s*""\s*:\s*(?:\{\s*\}|\[\s*\]|""|null)\s*\}$`)

// ellipsis matches arguments that were left out.
var ellipsis = regexp.MustCompile(`^[\[{(]\s*"?(?:\.{3,}|…+)"?\s*[\]})]$`)

// wrapMissing adds the one required object, or list of objects, that the model left out around arguments
// which the tool does not take. All of them must be its members.
func (w *shaper) wrapMissing(object string) (outer string, ok bool) {
	if w.schema == nil {
		return "", false
	}
	given := membersOf(object)
	aliases := w.rules.paramsOf(w.tool)
	own := func(name string) string { // the top-level parameter that a name means
		if same := sameKey(name, w.schema.props, w.known); same != "" {
			return same
		}
		name, _ = aliasOf(name, aliases, w.schema.props,
			func(name string) bool { return w.known(name) && !isContainer(w.schema.props[name]) })
		return name
	}
	missing := slices.DeleteFunc(slices.Clone(w.schema.required), func(name string) bool {
		return slices.ContainsFunc(given, func(m member) bool { return own(m.name) == name })
	})
	if len(missing) != 1 || !w.known(missing[0]) {
		return "", false
	}
	frame := target(w.schema.props[missing[0]])
	list := typed(frame, "array") && frame.Items != nil
	if list {
		frame = target(frame.Items)
	}
	within, _ := fields(frame)
	if len(within) == 0 {
		return "", false
	}
	var inner, kept []member
	for _, m := range given {
		if own(m.name) == "" {
			inner = append(inner, m)
		} else {
			kept = append(kept, m)
		}
	}
	if len(inner) == 0 || slices.ContainsFunc(inner, func(m member) bool {
		name, _ := w.renames(m.name, within, aliases, func(name string) bool { return within[name] != nil })
		return name == ""
	}) {
		return "", false
	}
	val := join(inner)
	if list {
		val = "[" + val + "]"
	}
	outer = join(append(kept, member{key: jsontext.Quote(missing[0]), val: val}))
	noted := len(w.repairs)
	w.refill(len(outer))
	mended := w.object(outer, w.schema.Schema, w.schema.props, w.schema.required, aliases)
	w.repairs = w.repairs[:noted]
	return outer, w.schema.Accepts(mended)
}

// schemaValues returns the values in place of schemas: {"type": "object", "properties": {"path": "a"},
// "required": ["path"]}. A real schema has none.
func (w *shaper) schemaValues(object string) (values string, ok bool) {
	if w.schema == nil || !strings.Contains(object, `"properties"`) {
		return "", false
	}
	framed := false
	for _, m := range membersOf(object) {
		switch {
		case w.schema.props[m.name] != nil:
			return "", false
		case m.name == "properties" && values == "":
			values = m.val
		case m.name == "type":
			framed = m.val == `"object"`
		case m.name == "required":
			framed = framed || m.val[0] == '['
		case !slices.Contains([]string{"$schema", "additionalProperties", "title", "description", "strict"},
			m.name):
			return "", false
		}
	}
	s := jsontext.Scanner{Doc: []byte(values), Depth: jsontext.MaxDepth}
	if !framed || !s.Enter('{') {
		return "", false
	}
	return values, !slices.ContainsFunc(membersOf(values), func(m member) bool {
		v := gjson.Parse(m.val)
		return m.name == "required" && !w.known(m.name) || v.IsObject() &&
			v.Get("type").Type == gjson.String && !v.Get("value").Exists()
	})
}
