package ruleset

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Vocabulary is all that conditions may say.
type Vocabulary struct {
	Conditions []Condition `json:"conditions"`
	Functions  []Word      `json:"functions"`
	Operators  []Word      `json:"operators"`
	Limits     []string    `json:"limits"` // a sentence each
}

// Condition is a key of a rule file that holds a condition, and what it sees.
type Condition struct {
	File      string     `json:"file"` // strategies.yaml
	Key       string     `json:"key"`  // from the top of the file, without list indexes: strategies.when
	Variables []Variable `json:"variables"`
}

// Variable is something that a condition sees.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // in plain words: text, list of texts, number …
	About string `json:"about"`
}

// Word is a function or an operator, with a condition of strategies.yaml that
// uses it.
type Word struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Example string `json:"example"`
}

var namedLists = []Variable{{"NAME", "list of texts", "Each of the lists under lists, by its own name."}}

// conditions says which type the condition under a key sees, and what else. A key that
// is not listed here is no condition.
var conditions = []struct {
	file, key string
	env       reflect.Type
	more      []Variable
}{
	{strategiesFile, "strategies.when", reflect.TypeFor[parse.Env](), nil},
	{execFilename, "rules.when", reflect.TypeFor[policy.Env](), namedLists},
	{pathsFilename, "rules.when", reflect.TypeFor[policy.PathEnv](), namedLists},
	{urlsFilename, "rules.when", reflect.TypeFor[policy.URLEnv](), namedLists},
}

// Vars gives the vocabulary of all conditions, in the order of the files.
func Vars() Vocabulary {
	v := Vocabulary{Functions: functions, Operators: operators, Limits: []string{
		fmt.Sprintf("A condition has at most %d parts; a name, a text and an operator are one each.", maxNodes),
		fmt.Sprintf("At most %d loops stand inside each other; all, any, filter, map and their like are loops.", maxLoops),
		fmt.Sprintf("One run makes at most %d entries of lists, and split gives at most %d parts.", memoryBudget, maxParts),
		"The body of an inner loop calls no function; map picks something of each entry and makes nothing new.",
		"+ joins no texts, and the pattern of matches is written out in quotes.",
		"A condition that fails while it runs does not hold; but in a rule that denies, it denies.",
	}}
	for _, c := range conditions {
		v.Conditions = append(v.Conditions, Condition{c.file, c.key, append(variables(c.env), c.more...)})
	}
	return v
}

// variables are the fields of an env struct: `expr` is their name, `doc` what they
// hold. Fields of a struct inside it have its name in front.
func variables(env reflect.Type) (out []Variable) {
	for _, f := range reflect.VisibleFields(env) {
		name := f.Tag.Get("expr")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, Variable{name, plainType(f.Type), f.Tag.Get("doc")})
		if inside := structOf(f.Type); inside != nil {
			for _, v := range variables(inside) {
				out = append(out, Variable{name + "." + v.Name, v.Type, v.About})
			}
		}
	}
	return out
}

// structOf is the struct that a field is, or points to; nil for anything else.
func structOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// plainType is a type as people call it. Conditions see no others.
func plainType(t reflect.Type) string {
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
		return "mapping of " + many(t.Elem())
	case reflect.Slice:
		return "list of " + many(t.Elem())
	case reflect.Pointer:
		return plainType(t.Elem())
	case reflect.Func:
		return "function"
	}
	switch t {
	case reflect.TypeFor[paths.Use]():
		return "path"
	case reflect.TypeFor[urls.Use]():
		return "URL"
	}
	if t.Kind() == reflect.Struct {
		return "group"
	}
	return "anything"
}

// many is the plural of a type.
func many(t reflect.Type) string {
	switch name := plainType(t); name {
	case "text", "number", "whole number", "path", "URL":
		return name + "s"
	default:
		return name
	}
}

// sees says in one text what the condition under a key sees; empty for a key
// that is no condition.
func sees(file, key string) string {
	for _, c := range Vars().Conditions {
		if c.File != file || c.Key != key {
			continue
		}
		var b strings.Builder
		b.WriteString("It sees:\n\n")
		for _, v := range c.Variables {
			fmt.Fprintf(&b, "- %s (%s): %s\n", v.Name, v.Type, v.About)
		}
		names := make([]string, len(functions))
		for i, f := range functions {
			names[i] = f.Name
		}
		return b.String() + "\nIt can call " + strings.Join(names, ", ") + "."
	}
	return ""
}
