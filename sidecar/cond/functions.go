package cond

import (
	"fmt"
	"reflect"
	"slices"
)

// functions are what conditions may call. Left out of expr's are those that make long texts (repeat, join,
// replace, toJSON), those that differ between runs (now), and those that no condition needs.
var functions = []Word{
	{"all", "does every entry pass the test?", `all(tools, # startsWith "mcp_")`},
	{"any", "does an entry pass it?", `any(tools, # startsWith "mcp_")`},
	{"none", "does no entry pass it?", `none(tools, # startsWith "mcp_")`},
	{"one", "does exactly one entry pass it?", `one(tools, # == "exec")`},
	{"filter", "the entries that pass it", `len(filter(tools, # contains "file")) > 1`},
	{"map", "something of each entry", `"exec" in map(tools, #)`},
	{"find", "the first entry that passes it", `find(tools, # contains "file") == "read_file"`},
	{"count", "how many entries pass it", `count(tools, # contains "file") > 1`},
	{"len", "how long a text, a list or a mapping is", `len(text) < 4000`},
	{"first", "the first entry", `first(tools) == "exec"`},
	{"last", "the last entry", `last(tools) == "exec"`},
	{"lower", "a text in lower case", `lower(user) contains "please"`},
	{"upper", "a text in upper case", `upper(text) contains "ERROR"`},
	{"trim", "a text without blanks around it", `trim(text) startsWith "{"`},
	{"trimPrefix", "a text without what it begins with", `trimPrefix(model, "openai/") == "gpt-oss-20b"`},
	{"trimSuffix", "a text without what it ends with", `trimSuffix(model, ":latest") == "gpt-oss"`},
	{"split", "the parts of a text", `first(split(model, "/")) == "openai"`},
	{"hasPrefix", "does a text begin so?", `hasPrefix(text, "[TOOL")`},
	{"hasSuffix", "does a text end so?", `hasSuffix(text, "]")`},
	{"indexOf", "where a text first stands in another; -1: nowhere", `indexOf(text, "Action:") >= 0`},
	{"int", "a whole number of a text or a number", `int("12") == 12`},
	{"float", "a number of a text or a whole number", `float("0.5") < 1`},
	{"string", "a text of anything", `string(len(tools)) == "3"`},
	{"type", "which type it is, as a text", `type(first(tools)) == "string"`},
	{"keys", "the keys of a mapping", `len(keys({"a": 1})) == 1`},
	{"values", "the values of a mapping", `1 in values({"a": 1})`},
	{"min", "the least of some numbers", `min(len(text), len(user)) > 0`},
	{"max", "the greatest of some numbers", `max(len(text), len(user)) < 4000`},
	{"get", "an entry by number or key; nothing where there is none", `get(tools, 0) == "exec"`},
}

var operators = []Word{
	{"and or not", "also written && || !", `field == "content" and not (text contains "x")`},
	{"== != < <= > >=", "compare", `len(tools) >= 3`},
	{"in", "is it in a list? (and not in)", `server in ["vllm", "sglang"]`},
	{"contains", "does a text hold another? (case matters)", `text contains "Action:"`},
	{"startsWith endsWith", "does a text begin or end so?", `model startsWith "gpt-oss"`},
	{"matches", "does a regular expression (RE2) find something?", "text matches `^\\[\\w+\\]`"},
	{"+ - * / % **", "reckon with numbers; + joins no texts", `len(text) + len(user) < 4000`},
	{"..", "the whole numbers from one to another", `len(tools) in 1..8`},
	{"? :", "one thing or another", `field == "content" ? len(text) < 4000 : len(text) < 400`},
	{"?? ?.", "something else where there is nothing", `(get(tools, 0) ?? "none") != "none"`},
	{"[ ]", "an entry of a list or a mapping, or a piece of a text", `text[0:1] == "{"`},
	{"|", "hands a value to a function", `(user | lower()) contains "please"`},
	{"#", "in a test: the entry that is looked at", `any(tools, # contains "file")`},
	{"//", "a comment, up to the end of the line", "len(text) < 4000 // characters"},
}

// Functions returns what conditions may call.
func Functions() []Word { return slices.Clone(functions) }

// Operators returns what conditions may join values with.
func Operators() []Word { return slices.Clone(operators) }

// Limits returns the limits of conditions, a sentence each.
func Limits() []string {
	return []string{
		fmt.Sprintf("A condition has at most %d parts; a name, a text and an operator are one each.",
			maxNodes),
		"One run takes a bounded time: about 100000 steps of loops, and fewer where they look at long texts or lists.",
		fmt.Sprintf("One run makes at most %d entries of lists, and split gives at most %d parts.",
			memoryBudget, maxParts),
		"+ joins no texts, and the pattern of matches must be written out in quotes.",
	}
}

// Variable is a value that a condition sees.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // in plain words: text, list of texts, number …
	About string `json:"about"`
}

// Word is a function or an operator, with a condition of strategies.yaml as an example.
type Word struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Example string `json:"example"`
}

// Variables returns the fields of a struct by the tags expr (name) and doc. Fields of an inner struct have
// its name as a prefix. nouns name some types.
func Variables(env reflect.Type, nouns map[reflect.Type]string) (out []Variable) {
	for _, f := range reflect.VisibleFields(env) {
		name := f.Tag.Get("expr")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, Variable{name, plainType(f.Type, nouns), f.Tag.Get("doc")})
		if inside := structOf(f.Type); inside != nil {
			for _, v := range Variables(inside, nouns) {
				out = append(out, Variable{name + "." + v.Name, v.Type, v.About})
			}
		}
	}
	return out
}

// structOf returns the struct that a field is, or points to; nil for anything else.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// plainType names a type in plain words.
func plainType(t reflect.Type, nouns map[reflect.Type]string) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "mapping of " + plural(t.Elem(), nouns)
	case reflect.Slice:
		return "list of " + plural(t.Elem(), nouns)
	case reflect.Pointer:
		return plainType(t.Elem(), nouns)
	case reflect.Func:
		return "function"
	}
	if noun := nouns[t]; noun != "" {
		return noun
	}
	if t.Kind() == reflect.Struct {
		return "group"
	}
	return "anything"
}

// plural is the plural of a type.
func plural(t reflect.Type, nouns map[reflect.Type]string) string {
	switch name := plainType(t, nouns); name {
	case "text", "number", "whole number", "path", "URL":
		return name + "s"
	default:
		return name
	}
}
