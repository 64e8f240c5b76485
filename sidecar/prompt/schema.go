package prompt

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Bound restricts a reply under a schema.
type Bound struct {
	Several bool   // several calls are allowed
	Must    bool   // a call is required
	Only    string // the only allowed tool; empty: any
}

// Schema returns the JSON Schema of a reply: calls of these tools, or an answer. A server that follows
// it writes nothing else.
func Schema(tools []Tool, b Bound) []byte {
	var calls []string
	for _, t := range tools {
		if b.Only == "" || b.Only == t.Name {
			calls = append(calls, object("name", `{"type":"string","enum":[`+jsontext.Quote(t.Name)+`]}`,
				"arguments", plainSchema(gjson.Parse(t.Schema), 0)))
		}
	}
	list := `{"type":"array","minItems":1,"items":` + oneOf(calls)
	if !b.Several {
		list += `,"maxItems":1`
	}
	const words = `{"type":"string"}`
	replies := []string{object("reasoning", words, "tool_calls", list+"}", "done", flag("false"))}
	if !b.Must {
		replies = append(replies, object("reasoning", words, "tool_calls",
			`{"type":"array","maxItems":0,"items":{"type":"object"}}`, "done", flag("true"), "answer", words))
	}
	return []byte(oneOf(replies))
}

func flag(is string) string { return `{"type":"boolean","enum":[` + is + `]}` }

// oneOf returns the schema of a value that fits one of these.
func oneOf(schemas []string) string {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return `{"anyOf":[` + strings.Join(schemas, ",") + "]}"
}

// object returns the schema of an object with exactly these members.
func object(members ...string) string {
	var names, props []string
	for i := 0; i < len(members); i += 2 {
		names = append(names, jsontext.Quote(members[i]))
		props = append(props, jsontext.Quote(members[i])+":"+members[i+1])
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") +
		`},"required":[` + strings.Join(names, ",") + `],"additionalProperties":false}`
}

// Keywords that every server with guided output knows. Others are dropped: some servers refuse them, and
// the arguments are checked later anyway.
var (
	keptAsIs   = []string{"type", "required", "enum", "const"}
	keptInside = []string{"items", "additionalProperties"}
	keptLists  = map[string]string{"anyOf": "anyOf", "oneOf": "anyOf"}
)

// plainSchema returns the schema with these keywords only, in order.
func plainSchema(schema gjson.Result, depth int) string {
	if schema.Get("nullable").Type == gjson.True { // which servers do not know
		return oneOf([]string{knownSchema(schema, depth), `{"type":"null"}`})
	}
	return knownSchema(schema, depth)
}

// knownSchema is plainSchema without nullable.
func knownSchema(schema gjson.Result, depth int) string {
	if !schema.IsObject() || depth > deep || schema.Get(`\$ref`).Exists() || schema.Get("allOf").Exists() {
		if depth == 0 {
			return `{"type":"object"}`
		}
		return "{}"
	}
	var out []string
	put := func(key, value string) { out = append(out, jsontext.Quote(key)+":"+value) }
	schema.ForEach(func(key, value gjson.Result) bool {
		switch name := key.String(); {
		case slices.Contains(keptAsIs, name):
			put(name, value.Raw)
		case slices.Contains(keptInside, name) && value.IsBool():
			put(name, value.Raw)
		case slices.Contains(keptInside, name):
			put(name, plainSchema(value, depth+1))
		case keptLists[name] != "" && value.IsArray():
			var each []string
			for _, one := range value.Array() {
				each = append(each, plainSchema(one, depth+1))
			}
			put(keptLists[name], "["+strings.Join(each, ",")+"]")
		case name == "properties" && value.IsObject():
			var props []string
			value.ForEach(func(key, is gjson.Result) bool {
				props = append(props, jsontext.Quote(key.String())+":"+plainSchema(is, depth+1))
				return true
			})
			put(name, "{"+strings.Join(props, ",")+"}")
		}
		return true
	})
	return "{" + strings.Join(out, ",") + "}"
}
