package cond

import (
	"reflect"
)

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

// Variables are the fields of an env struct: `expr` is their name, `doc` what they
// hold. Fields of a struct inside it have its name in front. nouns are what people call some
// types.
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
		return "mapping of " + many(t.Elem(), nouns)
	case reflect.Slice:
		return "list of " + many(t.Elem(), nouns)
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

// many is the plural of a type.
func many(t reflect.Type, nouns map[reflect.Type]string) string {
	switch name := plainType(t, nouns); name {
	case "text", "number", "whole number", "path", "URL":
		return name + "s"
	default:
		return name
	}
}
