package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/harmony"
)

// callTypes are what APIs call a call.
var callTypes = []string{"function", "function_call", "tool", "tool_call", "tool_use", "call", "custom",
	"custom_tool_call"}

// remarks says that an object with calls says more than a guided reply or an API would: it has another key,
// is done, answers, or has words where an id or a state belongs. That may be why the calls are only shown.
func (k *Keys) remarks(v gjson.Result) (yes bool) {
	if v.IsArray() {
		return false
	}
	_, guided := k.listIn(v)
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case !guided: // a call, and its own id and type
			yes = scan.Among(key.Str, besides) && (strings.Contains(value.Str, " ") || key.Str == "type" &&
				!scan.AmongFold(value.Str, callTypes))
		case scan.Among(key.Str, k.Calls, thoughtKeys), value.Type == gjson.Null:
		case scan.Among(key.Str, k.Done) && !scan.Among(key.Str, k.Answer):
			yes = value.Bool()
		case scan.Among(key.Str, k.Answer):
			yes = !scan.Blank(value.String())
		default:
			yes = !k.beside(key.Str, value) || strings.Contains(value.Str, " ")
		}
		return !yes
	})
	return yes
}

// foreign reports whether an object is the message of another role than assistant: it calls nothing.
func (k *Keys) foreign(v gjson.Result) bool {
	role := v.Get("role")
	return role.Type == gjson.String && role.Str != harmony.Assistant && !k.beside("role", role)
}

// beside says that a key may stand beside calls: with its value, where the rule gives one.
func (k *Keys) beside(key string, value gjson.Result) bool {
	return slices.ContainsFunc(k.Beside, func(beside string) bool {
		name, want, fixed := strings.Cut(beside, "=")
		return name == key && (!fixed || strings.EqualFold(value.Str, want))
	})
}

// defines says that what is called the parameters of a tool is their schema: it defines the tool.
func defines(parameters gjson.Result) (yes bool) {
	if parameters.Get("properties").IsObject() && parameters.Get("type").Str == "object" {
		return true
	}
	types := []string{"string", "number", "integer", "boolean", "object", "array"}
	parameters.ForEach(func(_, value gjson.Result) bool {
		yes = value.Type == gjson.String && slices.Contains(types, value.Str)
		return yes
	})
	return yes
}
