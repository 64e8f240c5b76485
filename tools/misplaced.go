package tools

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// nameless matches arguments of one without a name or a value: {"": {}} is how some models send none.
var nameless = regexp.MustCompile(`^\{\s*""\s*:\s*(?:\{\s*\}|\[\s*\]|""|null)\s*\}$`)

// elided are arguments of which the model left all out.
var elided = regexp.MustCompile(`^[\[{(]\s*"?(?:\.{3,}|…+)"?\s*[\]})]$`)

// unschemed returns the values that stand in place of schemas: {"type": "object", "properties":
// {"path": "a"}, "required": ["path"]}. A schema itself has none.
func (w *shaper) unschemed(object string) (values string, ok bool) {
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
