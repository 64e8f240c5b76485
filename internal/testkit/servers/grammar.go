package servers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// llamaParse is what llama.cpp makes of a reply. Where tools are offered, a grammar lets the model write one
// call, of one of them, with arguments that fit. A script that says anything else could not happen, so it is
// told as an error.
func llamaParse(r script.Reply, q *script.Request) script.Reply {
	if len(q.Tools) == 0 && len(r.Calls) > 0 {
		r.Content += strings.TrimSuffix(script.LeakedHarmony(r.Calls[0].Name, r.Calls[0].Arguments).Content,
			"<|call|>")
		r.Calls = nil
	}
	if q.Stream && strings.HasPrefix(r.Content, "<|channel|>") && (r.Finish == "length" ||
		len(q.Tools) == 0) {
		r.Content = "" // a header that was cut, or a call without tools; only a whole reply shows it
	}
	if len(r.Calls) == 0 {
		return r
	}
	r.Calls = r.Calls[:1]
	if why := ungrammatical(r.Calls[0], q, r.Finish == "length" || r.End != script.Done); why != "" {
		return script.Fail(http.StatusNotImplemented, fmt.Sprintf("llama.cpp's grammar forbids the call %q: %s",
			r.Calls[0].Name, why))
	}
	return r
}

// ungrammatical says what llama.cpp's grammar does not let through.
func ungrammatical(c script.Call, q *script.Request, cut bool) string {
	if !slices.Contains(q.Tools, c.Name) {
		return "no such tool is offered"
	}
	if cut {
		return ""
	}
	args := gjson.Parse(c.Arguments)
	if !gjson.Valid(c.Arguments) || !args.IsObject() {
		return "its arguments are no JSON object"
	}
	parameters := gjson.GetBytes(q.Body, fmt.Sprintf("tools.#(function.name==%q).function.parameters",
		c.Name))
	if !parameters.Exists() { // in the words of the Responses API
		parameters = gjson.GetBytes(q.Body, fmt.Sprintf("tools.#(name==%q).parameters", c.Name))
	}
	given, properties := args.Map(), parameters.Get("properties").Map()
	for _, name := range parameters.Get("required").Array() {
		if _, ok := given[name.Str]; !ok {
			return "there is no " + name.Str
		}
	}
	for name, value := range given {
		property, known := properties[name]
		if !known && len(properties) > 0 {
			return "there is no parameter " + name
		}
		if kind := property.Get("type"); kind.Type == gjson.String && !ofType(value, kind.Str) {
			return name + " is no " + kind.Str
		}
	}
	return ""
}

// ofType reports whether a value is of a type of JSON Schema.
func ofType(value gjson.Result, kind string) bool {
	switch kind {
	case "string":
		return value.Type == gjson.String
	case "number":
		return value.Type == gjson.Number
	case "integer":
		return value.Type == gjson.Number && !strings.ContainsAny(value.Raw, ".eE")
	case "boolean":
		return value.IsBool()
	case "array":
		return value.IsArray()
	case "object":
		return value.IsObject()
	}
	return true
}
