package ruleset

import (
	"reflect"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
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
		cond, problem := condition[parse.Env](text{Value: w.Example, at: place{src: newSource("x", w.Example), line: 1, col: 1}}, nil)
		if problem != nil {
			t.Errorf("%s: %v", w.Name, problem)
			continue
		}
		if _, err := cond(parse.Env{Text: "some text", Tools: []string{"read_file"}}); err != nil {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

// TestVariablesAreDescribed: whatever a condition sees has a type with a plain
// name, and a sentence.
func TestVariablesAreDescribed(t *testing.T) {
	for _, c := range Vars().Conditions {
		if len(c.Variables) == 0 {
			t.Errorf("%s %s sees nothing", c.File, c.Key)
		}
		for _, v := range c.Variables {
			if strings.Contains(v.Type, "anything") && v.Type != "mapping of anything" || !strings.HasSuffix(v.About, ".") {
				t.Errorf("%s %s: %+v", c.File, c.Key, v)
			}
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
		if got := plainType(v); got != want {
			t.Errorf("%s is %q, want %q", v, got, want)
		}
	}
}
