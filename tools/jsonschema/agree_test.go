package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	judge "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"pgregory.net/rapid"
)

// judged compiles a schema with a library that knows all of JSON Schema. It is a judge in tests
// only, because it compiles 20 schemas of its own at each start of a program.
func judged(text string) (*judge.Schema, error) {
	doc, err := judge.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := judge.NewCompiler()
	c.DefaultDraft(judge.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(func(s string) (judge.Regexp, error) {
		if re, err := regexp.Compile(s); err == nil {
			return re, nil
		}
		return regexp.Compile("")
	})
	if err := c.AddResource(place, doc); err != nil {
		return nil, err
	}
	return c.Compile(place)
}

type nowhere struct{}

func (nowhere) Load(string) (any, error) { return nil, errors.New("no remote schemas") }

func theirs(e *judge.ValidationError, out []string) []string {
	union := false
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		union = true
	}
	for _, cause := range e.Causes {
		if !union {
			out = theirs(cause, out)
		}
	}
	if len(e.Causes) > 0 && !union {
		return out
	}
	f := Fault{At: e.InstanceLocation, Keyword: strings.Join(e.ErrorKind.KeywordPath(), " ")}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		f.Types, f.Got = k.Want, k.Got
	case *kind.Enum:
		f.Want = k.Want
	case *kind.Const:
		f.Want = []any{k.Want}
	case *kind.Required:
		f.Names = k.Missing
	case *kind.Dependency:
		f.Names = k.Missing
	case *kind.DependentRequired:
		f.Names = k.Missing
	case *kind.AdditionalProperties:
		f.Names = slices.Sorted(slices.Values(k.Properties))
	}
	return append(out, inWords(f))
}

func inWords(f Fault) string {
	return fmt.Sprint(strings.Join(f.At, "/"), " ", f.Keyword, f.Names, f.Want, f.Types, f.Got)
}

func sorted(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// agree holds this package to the library: which schemas it reads, and what it says of a value.
func agree(t interface {
	Helper()
	Fatalf(string, ...any)
}, schema, value string) {
	t.Helper()
	ours, err := Compile([]byte(schema))
	library, judgedErr := judged(schema)
	// the library reads it all the same
	unused := err == nil && judgedErr != nil && strings.Contains(schema, "$dynamicAnchor")
	if errors.Is(err, errUnreadable) || unused {
		return
	}
	if (err == nil) != (judgedErr == nil) {
		t.Fatalf("schema %s: %v, the library: %v", schema, err, judgedErr)
	}
	v, valueErr := judge.UnmarshalJSON(strings.NewReader(value))
	if err != nil || valueErr != nil {
		return
	}
	var got, want []string
	for _, f := range ours.Faults(v) {
		got = append(got, inWords(f))
	}
	var invalid *judge.ValidationError
	if errors.As(library.Validate(v), &invalid) {
		want = theirs(invalid, nil)
	}
	if got, want = sorted(got), sorted(want); !slices.Equal(got, want) {
		t.Fatalf("schema %s, value %s:\n%q, the library:\n%q", schema, value, got, want)
	}
	if ours.Accepts(v) != (len(got) == 0) {
		t.Fatalf("schema %s, value %s: accepted: %v, and it has %d faults", schema, value, ours.Accepts(v),
			len(got))
	}
}

func TestAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := made{t, rapid.SampledFrom([]string{"", "", "http://json-schema.org/draft-07/schema#",
			"http://json-schema.org/draft-07/schema#",
			"http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-04/schema#",
			"https://json-schema.org/draft/2019-09/schema",
			"https://json-schema.org/draft/2020-12/schema", "https://example.com/mine"}).Draw(t, "draft")}
		schema := g.schema(3)
		if all, ok := schema.(map[string]any); ok && g.draft != "" {
			all["$schema"] = g.draft
		}
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			value, err := json.Marshal(g.value(3))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, string(text), string(value))
		}
	})
}

// made are made-up schemas and values; few names, so that they meet.
type made struct {
	*rapid.T
	draft string
}

func (g made) few(label string, most int) int { return rapid.IntRange(0, most).Draw(g.T, label) }

func (g made) pick(label string, from ...any) any { return rapid.SampledFrom(from).Draw(g.T, label) }

func (g made) name() string { return g.pick("name", "a", "b", "ab", "c/d").(string) }

func (g made) names() []any {
	out := []any{}
	for range g.few("names", 2) + 1 {
		out = append(out, g.name())
	}
	return out
}

func (g made) schemas(depth int) []any {
	out := []any{}
	for range g.few("schemas", 2) + 1 {
		out = append(out, g.schema(depth))
	}
	return out
}

func (g made) byName(depth int) map[string]any {
	out := map[string]any{}
	for range g.few("members", 3) {
		out[g.name()] = g.schema(depth)
	}
	return out
}

func (g made) schema(depth int) any {
	if depth < 0 || g.few("bool", 12) == 0 {
		return g.pick("whole", true, false, map[string]any{}, map[string]any{"type": "string"})
	}
	keywords := []string{"type", "type", "type", "properties", "properties", "required",
		"additionalProperties", "items", "enum", "const", "anyOf", "oneOf",
		"allOf", "not", "$ref", "$defs", "definitions", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"pattern", "format", "minItems", "maxItems", "uniqueItems", "prefixItems", "additionalItems",
		"contains", "minContains", "maxContains",
		"minProperties", "maxProperties", "patternProperties", "propertyNames", "dependencies",
		"dependentRequired", "dependentSchemas", "if", "then", "else",
		"unevaluatedProperties", "unevaluatedItems", "title", "default", "$id", "$anchor", "$dynamicAnchor",
		"$dynamicRef", "examples", "nonsense"}
	out := map[string]any{}
	for range g.few("keywords", 5) + 1 {
		key := rapid.SampledFrom(keywords).Draw(g.T, "keyword")
		if key == "additionalItems" && (g.draft == "" || strings.Contains(g.draft, "2020")) {
			continue // unknown in this draft, but the library knows names in it
		}
		if out[key] = g.held(key, depth-1); g.few("broken", 150) == 0 {
			out[key] = g.value(1)
		}
	}
	if _, refers := out["$ref"]; refers && strings.Contains(g.draft, "draft-0") {
		delete(out, "const") // old drafts ignore what stands beside $ref, the library not this
	}
	return out
}

func (g made) held(key string, depth int) any {
	switch key {
	case "type":
		return g.pick(key, "object", "object", "array", "string", "integer", "number", "boolean", "null",
			[]any{"string", "null"}, []any{"integer", "array", "object"})
	case "properties", "$defs", "definitions", "dependentSchemas":
		return g.byName(depth)
	case "patternProperties":
		return map[string]any{g.pick(key, "^a", "b$", "(?=a)", ".").(string): g.schema(depth)}
	case "dependencies":
		return map[string]any{g.name(): g.schema(depth), g.name(): g.names()}
	case "dependentRequired":
		return map[string]any{g.name(): g.names()}
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return g.schemas(depth)
	case "items":
		if g.few("tuple", 3) == 0 {
			return g.schemas(depth)
		}
	case "required":
		return g.names()
	case "enum", "examples":
		return []any{g.value(1), g.value(0)}
	case "const", "default":
		return g.value(1)
	case "minimum", "maximum", "multipleOf":
		return g.pick(key, 0, 1, 2.5, json.Number("3.0"))
	case "exclusiveMinimum", "exclusiveMaximum":
		return g.pick(key, 0, 1, 2.5, true, false)
	case "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties",
		"maxProperties":
		return g.pick(key, 0, 1, 1, 2, json.Number("2.0"), -1)
	case "uniqueItems":
		return g.few(key, 3) > 0
	case "pattern":
		return g.pick(key, "^a", "b$", "(?!a)", "(")
	case "format":
		return g.pick(key, "date", "date-time", "email", "uri", "ipv4", "uuid", "regex", "mine")
	case "title", "nonsense":
		return "a"
	case "$ref":
		return g.pick(key, "#", "#/$defs/a", "#/definitions/a", "#/definitions/b", "#/properties/a",
			"#/$defs/c~1d", "#a", "a", "a#/properties/b", "tool:///b", "#/items/0",
			"https://json-schema.org/draft/2020-12/nothing")
	case "$id", "$anchor", "$dynamicAnchor":
		return g.pick(key, "a", "b", "a", "#a")
	case "$dynamicRef":
		return g.pick(key, "#a", "#", "#/$defs/a")
	}
	return g.schema(depth)
}

func (g made) value(depth int) any {
	switch kind := g.few("kind", 9); {
	case depth > 0 && kind < 4:
		out := map[string]any{}
		for range g.few("members", 3) {
			out[g.name()] = g.value(depth - 1)
		}
		return out
	case depth > 0 && kind < 6:
		out := []any{}
		for range g.few("elements", 3) {
			out = append(out, g.value(depth-1))
		}
		return out
	}
	return g.pick("scalar", "a", "ab", "b", "", "ä", 0, 1, 2, -1, 2.5, json.Number("1.0"), json.Number("1e2"),
		true, false, nil, "2026-01-02", "a@b.c", "x:y")
}

// Formats are checked in drafts before 2019.
func TestFormatsAgreeWithTheLibrary(t *testing.T) {
	forms := map[string]string{
		"date":      `[0-9]{3,4}-[01][0-9]-[0-3][0-9]`,
		"time":      `[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,2})?([zZ]|[+-][0-2][0-9]:[0-6][0-9])?`,
		"date-time": `2026-0[0-9]-[0-3][0-9][tT ](23:59|22:58|00:00):(60|59|[0-9]{2})(\.5)?(Z|[+-]01:00|[+-]23:59)`,
		"duration":  `P?([0-9]?[YMDW]){0,3}(T([0-9]{0,2}[HMS]){0,3})?`,
		"email":     `["a.\\ä+]{0,4}@?(\[(IPv6:)?[0-9.:a]{0,9}\]|[a-b.-]{1,4})`,
		"hostname":  `([a-z0-9ä_-]{0,3}\.?){0,4}`, "ipv4": `[0-9]{1,3}(\.[0-9]{1,3}){2,4}`,
		"ipv6":          `[0-9a-g:]{2,12}(%e|\.1\.2\.3)?`,
		"uri":           `([a-z]{1,3}:)?(//)?[a-z\[\]:@%20 /?#\\]{0,8}`,
		"uri-reference": `([a-z]{1,3}:)?(//)?[a-z\[\]:@%20 /?#\\^]{0,8}`,
		"uuid":          `[0-9a-gA-F]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{11,12}`,
		"json-pointer":  `/?([a~01/]{0,4})`,
	}
	for name, form := range forms {
		schema := draft7 + `"format":"` + name + `"}`
		rapid.Check(t, func(t *rapid.T) {
			value, err := json.Marshal(rapid.StringMatching(form).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, schema, string(value))
		})
	}
}
