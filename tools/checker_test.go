package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// sure reports what the checker of a schema says of a text.
func sure(s *schema, text string) bool {
	scan := jsontext.Scanner{Doc: []byte(text)}
	return s.checker.accepts(&scan) && scan.End() == nil
}

func TestChecker(t *testing.T) {
	const text = `{"type":"string"}`
	for _, row := range []struct {
		schema, text string
		sure         bool
	}{
		{`{"type":"object","properties":{"a":` + text + `},"required":["a"]}`,
			` {"b":[{}], "a" : "x\n\u00e9"} `, true},
		{`{"type":"object","properties":{"a":` + text + `},"required":["a"]}`, `{"b":"a"}`, false},
		{`{"type":"object","properties":{"a":` + text + `}}`, `{"a":1}`, false},
		{`{"type":"object","properties":{"a":` + text + `}}`, `{"a":"x","a":1}`, false},
		{`{"type":"object","properties":{"a":` + text + `}}`, `{"\u0061":"x"}`, false},
		{`{"type":"object","properties":{"a":` + text + `}}`, `{"a":"x"`, false},
		{`{"type":"object","properties":{"a":` + text + `}}`, `{"a":"x"}}`, false},
		{`{"type":"object","required":["b"]}`, `{"b":null}`, true},
		{`{"type":"object","required":["b"],"additionalProperties":false}`, `{"b":null}`, false},
		{`{"type":"object","additionalProperties":false}`, `{"b":null}`, false},
		{`{"type":"object","additionalProperties":` + text + `}`, `{"b":"x"}`, true},
		{`{"type":"object","additionalProperties":` + text + `}`, `{"b":1}`, false},
		{`{"type":["integer","null"]}`, `-12`, true},
		{`{"type":["integer","null"]}`, `null`, true},
		{`{"type":"integer"}`, `1.0`, false}, // valid; the schema has to say so
		{`{"type":"integer"}`, `2.5`, false},
		{`{"type":"number"}`, `1.5e3`, true},
		{`{"type":"array","items":` + text + `}`, `["a","b"]`, true},
		{`{"type":"array","items":` + text + `}`, `["a",1]`, false},
		{`{}`, `[tru]`, false},
		{`true`, `{"a":1}`, true},
		{`false`, `{"a":1}`, false},

		// What the schema is asked about, value by value.
		{`{"type":"object","properties":{"a":{"enum":["x","y"]},"b":{"type":"string","maxLength":2}}}`,
			`{"a":"y","b":"éé","c":1}`, true},
		{`{"type":"object","properties":{"a":{"enum":["x","y"]}}}`, `{"a":"z"}`, false},
		{`{"type":"object","properties":{"a":{"minimum":1}}}`, `{"a":1.0}`, true},
		{`{"type":"object","patternProperties":{"^a":` + text + `}}`, `{"ab":1}`, false},
		{`{"$defs":{"t":` + text + `},"properties":{"a":{"$ref":"#/$defs/t"}}}`, `{"a":"x"}`, true},
		{`{"$defs":{"t":` + text + `},"properties":{"a":{"$ref":"#/$defs/t"}}}`, `{"a":1}`, false},
		{`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"required":["a"]}`, `{"a":{}}`,
			false},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[` + text + `]}`, `[1]`, false},
	} {
		s, err := compile([]byte(row.schema))
		if err != nil {
			t.Fatalf("%s: %v", row.schema, err)
		}
		if got := sure(s, row.text); got != row.sure {
			t.Errorf("%s of %s: %v", row.schema, row.text, got)
		}
	}
}

// What the checker is sure of, the schema accepts; and what the schema accepts, the
// checker is sure of, unless the text is odd.
func TestCheckerAgreesWithTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.Bool().Draw(t, "odd")
		doc, err := json.Marshal(anySchema(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		s, err := compile(doc)
		if err != nil {
			t.Skip(err)
		}
		text := anyValue(t, s.Schema, 4, odd)
		if odd && rapid.Bool().Draw(t, "broken") {
			cut := rapid.IntRange(0, len(text)-1).Draw(t, "cut")
			text = text[:cut] + text[cut+1:]
		}
		valid := json.Valid([]byte(text)) && s.Accepts(text)
		if got := sure(s, text); got && !valid || valid && !got && !odd {
			t.Fatalf("schema %s, value %s: sure %v, valid %v", doc, text, got, valid)
		}
	})
}

var propertyNames = []string{"a", "b", "ä", "path"}

// anySchema is a schema in which most keywords are those of tools.
func anySchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	has := func(keyword string) bool { return rapid.IntRange(0, 3).Draw(t, keyword) == 0 }
	if !has("untyped") {
		s["type"] = rapid.SampledFrom([]any{"object", "object", "object", "array", "string", "integer",
			"number", "boolean", "null",
			[]string{"string", "null"}, []string{"object", "integer"}}).Draw(t, "type")
	}
	for _, more := range []struct {
		keyword string
		value   any
	}{
		{"enum", []any{"x", 1, nil}}, {"const", "x"}, {"minLength", 2}, {"minimum", 0}, {"maxProperties",
			1}, {"pattern", "^a"},
		{"format", "date"}, {"default", 1}, {"uniqueItems", true}, {"patternProperties",
			map[string]any{"^p": map[string]any{"type": "string"}}},
		{"not", map[string]any{"type": "null"}}, {"anyOf", []any{map[string]any{"type": "string"},
			map[string]any{"required": []string{"a"}}}},
		{"unevaluatedProperties", false}, {"$ref", "#"}, {"dependentRequired",
			map[string]any{"a": []string{"b"}}},
	} {
		if rapid.IntRange(0, 40).Draw(t, more.keyword) == 0 {
			s[more.keyword] = more.value
		}
	}
	if depth == 0 {
		return s
	}
	if has("properties") {
		props := map[string]any{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(propertyNames), rapid.ID).Draw(t,
			"names") {
			props[name] = anySchema(t, depth-1)
		}
		s["properties"] = props
	}
	if has("required") {
		s["required"] = rapid.SliceOfDistinct(rapid.SampledFrom(propertyNames[:2]), rapid.ID).Draw(t,
			"needed")
	}
	if has("additionalProperties") {
		s["additionalProperties"] = rapid.SampledFrom([]any{false, true,
			map[string]any{"type": "string"}}).Draw(t, "more")
	}
	if has("items") {
		s["items"] = anySchema(t, depth-1)
	}
	return s
}

// anyValue is the text of a value, mostly of the kind that a schema wants. An odd one may
// have a key twice, escapes in keys, and whole numbers with a fraction.
func anyValue(t *rapid.T, s *Schema, depth int, odd bool) string {
	scalars := map[string][]string{"string": {`"x"`, `"ab\n"`, `""`}, "integer": {`1`, `-7`},
		"number": {`2.5`}, "boolean": {`true`}, "null": {`null`}}
	if odd {
		scalars["integer"] = []string{`1.0`, `1e2`, `0`}
		scalars["string"] = []string{"\"\xff\"", `"\ud800"`}
	}
	kind := rapid.SampledFrom([]string{"object", "array", "string", "integer", "number", "boolean",
		"null"}).Draw(t, "kind")
	if s == nil {
		s = &Schema{}
	}
	if s.Types != nil && rapid.IntRange(0, 9).Draw(t, "obey") > 0 {
		kind = s.Types[0]
	}
	switch {
	case kind == "array":
		var parts []string
		for range rapid.IntRange(0, depth).Draw(t, "length") {
			parts = append(parts, anyValue(t, s.Items, depth-1, odd))
		}
		return "[" + strings.Join(parts, " , ") + "]"
	case kind != "object":
		return rapid.SampledFrom(scalars[kind]).Draw(t, "scalar")
	case depth <= 0:
		return "{}"
	}
	keys := rapid.SliceOfDistinct(rapid.SampledFrom(propertyNames), rapid.ID)
	if odd {
		keys = rapid.SliceOf(rapid.SampledFrom(append([]string{`\u0061`, `pa\th`}, propertyNames...)))
	}
	var parts []string
	for _, name := range keys.Draw(t, "keys") {
		parts = append(parts, `"`+name+`": `+anyValue(t, s.Properties[name], depth-1, odd))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
