package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// ollamaParse is what Ollama makes of a reply. It reads a call when all has come: the arguments of all calls
// of a reply as one, and what is no JSON object is an error.
func ollamaParse(r Reply, _ *Request) Reply {
	if len(r.Calls) == 0 {
		return r
	}
	one := r.Calls[len(r.Calls)-1]
	one.Arguments = ""
	for _, c := range r.Calls {
		one.Arguments += c.Arguments
	}
	r.Calls = nil
	if r.Finish == "length" || r.End != Done {
		return r
	}
	args, err := ollamaEncode(one.Arguments)
	if err != nil {
		r.Err, r.End = OllamaParseError(one.Arguments).Err, Fault
		return r
	}
	one.Arguments = args
	r.Calls = []Call{one}
	return r
}

// ollamaEncode writes arguments as Ollama does: members keep their order, numbers become those of a float.
func ollamaEncode(args string) (string, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(args), &object); err != nil {
		return "", err
	}
	var names []string
	gjson.Parse(args).ForEach(func(name, _ gjson.Result) bool {
		if !slices.Contains(names, name.Str) {
			names = append(names, name.Str)
		}
		return true
	})
	members := make([]string, len(names))
	for i, name := range names {
		value, err := json.Marshal(object[name])
		if err != nil {
			return "", err
		}
		members[i] = quote(name) + ":" + string(value)
	}
	return "{" + strings.Join(members, ",") + "}", nil
}

// llamaParse is what llama.cpp makes of a reply. Where tools are offered, a grammar lets the model write one
// call, of one of them, with arguments that fit. A script that says anything else could not happen, so it is
// told as an error.
func llamaParse(r Reply, q *Request) Reply {
	if len(q.Tools) == 0 && len(r.Calls) > 0 {
		r.Content += strings.TrimSuffix(LeakedHarmony(r.Calls[0].Name, r.Calls[0].Arguments).Content,
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
	if why := ungrammatical(r.Calls[0], q, r.Finish == "length" || r.End != Done); why != "" {
		return Fail(http.StatusNotImplemented, fmt.Sprintf("llama.cpp's grammar forbids the call %q: %s",
			r.Calls[0].Name, why))
	}
	return r
}

// ungrammatical says what llama.cpp's grammar does not let through.
func ungrammatical(c Call, q *Request, cut bool) string {
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
	if q.responses {
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
