package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

// Schema is a schema or a part of one, for checking and reading values. Absent keywords are zero.
// Schemas may be cyclic.
type Schema struct {
	Bool     *bool // true accepts everything, false nothing
	Plain    bool  // it has only Types, Properties, Required, Others, Closed and Items
	Branched bool  // its properties depend on others, or on the path to it

	Ref                 *Schema
	Types               []string // in the order null, boolean, number, integer, string, array, object
	Enum                []any
	Const               *any
	AllOf, AnyOf, OneOf []*Schema
	Items               *Schema // of elements behind those with their own schemas
	Required            []string
	Properties          map[string]*Schema
	PatternProperties   []Pattern // in alphabetical order
	Others              *Schema   // additionalProperties, unless false
	Closed              bool      // additionalProperties: false

	compiled *jsonschema.Schema
}

// Pattern is the schema of properties with matching names.
type Pattern struct {
	Name jsonschema.Regexp
	*Schema
}

// CompileSchema compiles a schema, by default of draft 2020-12. The keyword nullable is that of OpenAPI
// 3.0.
func CompileSchema(text []byte) (*Schema, error) {
	const place = "tool:///arguments"
	if !json.Valid(text) {
		return nil, errors.New("read a JSON Schema: it is no JSON")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // without any scheme
	c.UseRegexpEngine(regexpOrAny)
	doc := value(gjson.ParseBytes(text))
	if parts(doc, 0) > mostParts {
		return nil, fmt.Errorf("read a JSON Schema: it has more than %d values, or is nested deeper than %d",
			mostParts, deepest)
	}
	normalize(doc)
	if err := c.AddResource(place, doc); err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	s, err := c.Compile(place)
	var invalid *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &invalid):
		at := strings.Join(libraryFaults(invalid.Err)[0].At, "/")
		return nil, fmt.Errorf("read a JSON Schema: /%s: the draft forbids this value", at)
	case err != nil:
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	return reader{}.read(s), nil
}

// Compiling takes quadratic time in the values of a schema and cubic time in their nesting.
const mostParts, deepest = 5_000, 100

// parts counts the values in a value; one nested too deeply counts as too many.
func parts(v any, depth int) int {
	n := 1
	if depth > deepest {
		n += mostParts
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += parts(e, depth+1)
		}
	case []any:
		for _, e := range v {
			n += parts(e, depth+1)
		}
	}
	return n
}

// regexpOrAny compiles a pattern. One of ECMAScript that Go lacks, such as look-ahead, matches
// everything, so that the rest of the schema applies.
func regexpOrAny(pattern string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	return regexp.Compile("")
}

// typeNames maps names in programming languages to types of JSON Schema.
var typeNames = map[string]string{"float": "number", "double": "number", "int": "integer", "long": "integer",
	"str": "string", "text": "string", "bool": "boolean", "list": "array", "tuple": "array", "dict": "object"}

// normalize rewrites type names, and the nullable of OpenAPI 3.0, in place.
func normalize(schema any) {
	switch v := schema.(type) {
	case []any:
		for _, e := range v {
			normalize(e)
		}
	case map[string]any:
		for key, e := range v {
			switch key {
			case "enum", "const", "default", "examples":
			case "properties", "patternProperties", "$defs", "definitions", "dependencies",
				"dependentSchemas":
				named, _ := e.(map[string]any)
				for _, sub := range named {
					normalize(sub)
				}
			default:
				normalize(e)
			}
		}
		if name, ok := v["type"].(string); ok && typeNames[name] != "" {
			v["type"] = typeNames[name]
		}
		if v["nullable"] == true {
			allowNull(v)
		}
	}
}

func allowNull(schema map[string]any) {
	if value, ok := schema["const"]; ok {
		schema["enum"] = []any{value}
		delete(schema, "const")
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(values, nil)
	}
	switch types := schema["type"].(type) {
	case string:
		if types != "null" {
			schema["type"] = []any{types, "null"}
		}
	case []any:
		if !slices.Contains(types, any("null")) {
			schema["type"] = append(types, "null")
		}
	}
	whole := map[string]any{} // keywords for a value of any type
	for _, key := range []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then",
		"else"} {
		if v, ok := schema[key]; ok {
			whole[key] = v
			delete(schema, key)
		}
	}
	if len(whole) > 0 {
		schema["anyOf"] = []any{whole, map[string]any{"type": "null"}}
	}
}

// reader converts compiled schemas of the library, each once.
type reader map[*jsonschema.Schema]*Schema

func (r reader) read(from *jsonschema.Schema) *Schema {
	if from == nil {
		return nil
	}
	if s := r[from]; s != nil {
		return s
	}
	s := &Schema{Bool: from.Bool, Plain: isPlain(from), Const: from.Const, Required: from.Required,
		compiled: from}
	r[from] = s
	s.Branched = len(from.Dependencies)+len(from.DependentRequired)+len(from.DependentSchemas) > 0 ||
		from.If != nil || from.DynamicRef != nil || from.RecursiveRef != nil
	s.Ref, s.Items = r.read(from.Ref), r.read(from.Items2020)
	if from.Types != nil {
		s.Types = from.Types.ToStrings()
	}
	if from.Enum != nil {
		s.Enum = from.Enum.Values
	}
	s.AllOf, s.AnyOf, s.OneOf = r.all(from.AllOf), r.all(from.AnyOf), r.all(from.OneOf)
	if items, ok := from.Items.(*jsonschema.Schema); ok {
		s.Items = r.read(items)
	}
	if from.Properties != nil {
		s.Properties = make(map[string]*Schema, len(from.Properties))
	}
	for name, sub := range from.Properties {
		s.Properties[name] = r.read(sub)
	}
	for name, sub := range from.PatternProperties {
		s.PatternProperties = append(s.PatternProperties, Pattern{name, r.read(sub)})
	}
	slices.SortFunc(s.PatternProperties, func(a, b Pattern) int {
		return cmp.Compare(a.Name.String(), b.Name.String())
	})
	switch additional := from.AdditionalProperties.(type) {
	case bool:
		if s.Closed = !additional; additional {
			s.Others = &Schema{Bool: &additional}
		}
	case *jsonschema.Schema:
		s.Others = r.read(additional)
	}
	return s
}

func (r reader) all(from []*jsonschema.Schema) (out []*Schema) {
	for _, s := range from {
		out = append(out, r.read(s))
	}
	return out
}

// isPlain reports whether a schema has only the keywords of Schema.Plain.
func isPlain(s *jsonschema.Schema) bool {
	rest := *s
	rest.Types, rest.Properties, rest.Required = nil, nil, nil
	rest.AdditionalProperties, rest.Items2020 = nil, nil
	if _, ok := rest.Items.(*jsonschema.Schema); ok {
		rest.Items = nil
	}
	rest.DraftVersion, rest.Location, rest.ID = 0, "", ""
	rest.Anchor, rest.RecursiveAnchor, rest.DynamicAnchor = "", false, ""
	rest.Title, rest.Description, rest.Default, rest.Comment, rest.ReadOnly, rest.WriteOnly, rest.Examples,
		rest.Deprecated = "", "", nil, "", false, false, nil, false
	fields := reflect.ValueOf(rest)
	for i := range fields.NumField() {
		if fields.Type().Field(i).IsExported() && !fields.Field(i).IsZero() {
			return false
		}
	}
	return true
}
