package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// Error returns an error of encoding/json in words that need no knowledge of Go. Other errors are
// returned unchanged.
func Error(err error) error {
	var date *time.ParseError
	if errors.As(err, &date) {
		return fmt.Errorf("%s is no time: write it as 2026-01-05T12:00:00Z", date.Value)
	}
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var keys []string // without names of embedded Go types
	for part := range strings.SplitSeq(wrong.Field, ".") {
		if part != "" && !unicode.IsUpper(rune(part[0])) {
			keys = append(keys, part)
		}
	}
	what := "this"
	if len(keys) > 0 {
		what = strings.Join(keys, ".")
	}
	value := map[string]string{"array": "a list", "string": "a text", "bool": "true or false",
		"object": "an object"}[wrong.Value]
	if value == "" {
		value = "a number"
	}
	return fmt.Errorf("%s is %s, and %s is needed", what, value, kind(wrong.Type))
}

// kind returns JSON's word for the values of a type.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kind(t.Elem())
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}
