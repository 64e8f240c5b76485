package prompt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// Tool is an offered tool, as a prompt names it.
type Tool struct {
	Name, Description string
	Schema            string   // of its arguments, JSON on one line
	Required          []string // names of required arguments
	Arguments         []Argument
	Example           string // example arguments, a JSON object
}

// Argument is one of its arguments.
type Argument struct {
	Name, Type, Description string
	Required                bool
	Example                 string // a string as it is, else JSON
}

// Offered returns the function tools of a request, as its caller wrote them.
func Offered(q *openai.Request) (out []Tool) {
	if !q.ToolsSpan.Present() {
		return nil
	}
	for _, t := range gjson.ParseBytes(q.ToolsSpan.Of(q.Body)).Array() {
		f := t.Get("function")
		kind := t.Get("type")
		if name := f.Get("name").String(); name != "" && (!kind.Exists() || kind.Str == "function") {
			out = append(out, toolOf(name, f.Get("description").String(), f.Get("parameters").Raw))
		}
	}
	return out
}

// noArguments is the schema of a tool without arguments.
const noArguments = `{"type":"object","properties":{}}`

// toolOf returns a tool for a JSON Schema of its arguments, which may be empty.
func toolOf(name, description, schema string) Tool {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(schema)) != nil || schema == "null" {
		compact.Reset()
		compact.WriteString(noArguments)
	}
	t := Tool{Name: name, Description: strings.TrimSpace(description), Schema: compact.String()}
	doc := gjson.Parse(t.Schema)
	for _, r := range doc.Get("required").Array() {
		t.Required = append(t.Required, r.String())
	}
	var pairs []string
	doc.Get("properties").ForEach(func(key, is gjson.Result) bool {
		a := Argument{Name: key.String(), Type: typeOf(is), Description: is.Get("description").String()}
		a.Required = slices.Contains(t.Required, a.Name)
		made := example(a.Name, is, 0)
		a.Example = plain(made)
		t.Arguments = append(t.Arguments, a)
		if a.Required || len(t.Required) == 0 && len(pairs) == 0 {
			pairs = append(pairs, jsontext.Quote(a.Name)+": "+made)
		}
		return true
	})
	t.Example = "{" + strings.Join(pairs, ", ") + "}"
	return t
}

// plain returns a JSON value in words: a string without its quotes and escapes.
func plain(value string) string {
	if v := gjson.Parse(value); v.Type == gjson.String {
		return v.Str
	}
	return value
}

// typeOf returns the first type of a schema other than null, or "".
func typeOf(schema gjson.Result) string {
	kind := schema.Get("type")
	if kind.IsArray() {
		for _, one := range kind.Array() {
			if one.Str != "null" {
				return one.Str
			}
		}
	}
	return kind.Str
}

// deep is how far examples and schemas are followed.
const deep = 8

// example makes up a JSON value that a schema allows, in words where it is a string. name
// is that of the argument.
func example(name string, schema gjson.Result, depth int) string {
	for _, key := range []string{"const", "default", "example", "examples.0", "enum.0"} {
		if v := schema.Get(key); v.Exists() && v.Type != gjson.Null {
			return v.Raw
		}
	}
	for _, key := range []string{"anyOf.0", "oneOf.0", "allOf.0"} {
		if v := schema.Get(key); v.IsObject() && depth < deep {
			return example(name, v, depth+1)
		}
	}
	switch typeOf(schema) {
	case "integer", "number":
		if least := schema.Get("minimum"); least.Exists() {
			return least.Raw
		}
		return "1"
	case "boolean":
		return "true"
	case "null":
		return "null"
	case "array":
		if items := schema.Get("items"); items.IsObject() && depth < deep {
			return "[" + example(name, items, depth+1) + "]"
		}
		return "[]"
	case "object":
		return exampleObject(schema, depth)
	}
	return jsontext.Quote("some " + strings.ReplaceAll(name, "_", " "))
}

func exampleObject(schema gjson.Result, depth int) string {
	var pairs []string
	for _, r := range schema.Get("required").Array() {
		if is := schema.Get("properties." + gjson.Escape(r.String())); is.Exists() && depth < deep {
			pairs = append(pairs, jsontext.Quote(r.String())+": "+example(r.String(), is, depth+1))
		}
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
