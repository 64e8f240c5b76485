package cond

import (
	"reflect"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// TestWordsCompile: every function and operator is one, and its example a
// condition that uses it.
func TestWordsCompile(t *testing.T) {
	for _, w := range append(functions, operators...) {
		uses := false
		for _, name := range strings.Fields(w.Name) {
			uses = uses || strings.Contains(w.Example, name)
		}
		if !uses || w.About == "" {
			t.Errorf("%s: no example, or not said what it is: %+v", w.Name, w)
		}
		cond, problem := Compile[parse.Env](rulefile.Text{Value: w.Example,
			At: rulefile.LineOf("x", w.Example, 1)}, nil)
		if problem != nil {
			t.Errorf("%s: %v", w.Name, problem)
			continue
		}
		if _, err := cond(parse.Env{Text: "some text", Tools: []string{"read_file"}}); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

func TestPlainType(t *testing.T) {
	for v, want := range map[reflect.Type]string{
		reflect.TypeFor[string]():         "text",
		reflect.TypeFor[[]string]():       "list of texts",
		reflect.TypeFor[float64]():        "number",
		reflect.TypeFor[int]():            "whole number",
		reflect.TypeFor[bool]():           "true or false",
		reflect.TypeFor[map[string]any](): "mapping of anything",
	} {
		if got := plainType(v, nil); got != want {
			t.Errorf("%s is %q, want %q", v, got, want)
		}
	}
}
