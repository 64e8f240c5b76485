package cond

import (
	"reflect"
)

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
