package cond

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// outline writes a term and those below it, one a line: value, operator or source,
// column, and ~ where the condition never came to it.
func outline(t Term, indent string) string {
	what, _, _ := strings.Cut(t.Place, ":")
	what = strings.TrimPrefix(t.Place, what+":")
	head := t.Source
	if t.Op != "" {
		head = t.Op
	}
	line := fmt.Sprintf("%s%s %s @%s", indent, t.Value, head, what)
	if t.Error != "" {
		line += " (" + t.Error + ")"
	}
	if t.Spare {
		line += " ~"
	}
	for _, of := range t.Of {
		line += "\n" + outline(of, indent+"  ")
	}
	return line
}

func TestTerms(t *testing.T) {
	env := parse.Env{Text: "see `x` (1)", Field: "content", Model: "gpt-oss", Tools: []string{"read", "exec"}}
	for _, row := range []struct{ when, want string }{
		{`text contains "x"`, `true text contains "x" @2:3`},
		{`not (text contains "x")`, `false not (text contains "x") @2:3`},
		{`len(text) < 4 and not (text contains "` + "`" + `")`, `
false and @2:3
  false len(text) < 4 @2:3
  false not (text contains "` + "`" + `") @2:21 ~`},
		{`field == "content" && (model == "x" || "read" in tools) && !(text == "")`, `
true and @2:3
  true field == "content" @2:3
  true or @2:26
    false model == "x" @2:26
    true "read" in tools @2:42
  true !(text == "") @2:62`},
		{`not (model == "x" or user == "")`, `
false not @2:3
  true or @2:8
    false model == "x" @2:8
    true user == "" @2:24`},
		{`tools[5] == "x" or true`, `
error or @2:3
  error tools[5] == "x" @2:3 (index out of range: 5 in a list of 2)
  true true @2:22 ~`},
		{`len(tools) > 5 and tools[5] == "x"`, `
false and @2:3
  false len(tools) > 5 @2:3
  error tools[5] == "x" @2:22 (index out of range: 5 in a list of 2) ~`},
		{`1 < len(tools) < 5`, `
true and @2:3
  true 1 < len(tools) @2:3
  true len(tools) < 5 @2:7`},
		{`any(tools, # == "exec") and text not contains "(" and (len(text) + 1) > 3`, `
false and @2:3
  true any(tools, # == "exec") @2:3
  false text not contains "(" @2:31
  true len(text) + 1 > 3 @2:58 ~`},
		{"text matches `\\d` or\n  (user == \"é\" and\n  model == \"gpt-oss\")", "\ntrue or @2:3\n  true text matches `\\d` @2:3\n  false and @3:6 ~\n    false user == \"é\" @3:6 ~\n    true model == \"gpt-oss\" @4:5 ~"},
		{`model == "gpt-oss" ? text contains "x" : false`, `true model == "gpt-oss" ? text contains "x" : false @2:3`},
		{`tools[0] in tools[:] and first(tools) == "read"`, `
true and @2:3
  true tools[0] in tools[:] @2:3
  true first(tools) == "read" @2:28`},
		{`any(1..200000, # == 3)`, `error any(1..200000, # == 3) @2:3 (the condition takes too much memory)`},
	} {
		got := outline(WhyNot(inBlock(t, row.when), env, nil), "")
		if got != strings.TrimPrefix(row.want, "\n") {
			t.Errorf("%s\n got\n%s\nwant%s", row.when, got, row.want)
		}
	}
}

// FuzzTerms: taken apart, a condition gives what it gives as a whole. Only its
// memory is counted for each term anew.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{
		`text contains "x" and not (len(tools) > 3 or model == text)`,
		`any(tools, # == model) || !(text == "a" && field in tools)`,
		`tools[1] == "x" or true`, `not not (text == "")`, `1 < len(text) <= 3 and true`,
		`(text ?? user) == "x"`, `true ? text == "" : not true and false`,
		"text == `a` and\n  not (user matches \"^x+$\" and int(user) > 3)",
		`{"a": text}.a == "" or (text[1:]) == ""`, `{}.a or (text != "")`,
	} {
		f.Add(s, "some text", "x")
	}
	f.Fuzz(func(t *testing.T, source, in, tool string) {
		txt := rulefile.Text{Value: source, At: rulefile.LineOf("x.yaml", source, 1)}
		cond, problem := Compile[parse.Env](txt, nil)
		if problem != nil {
			return
		}
		env := parse.Env{Text: in, User: tool, Tools: []string{tool}}
		yes, err := cond(env)
		got := WhyNot(txt, env, nil)
		want := map[bool]string{true: termTrue, false: termFalse}[yes]
		if err != nil {
			want = termError
		}
		if got.Value == termError && err == nil && constant(got) {
			return // expr knows that `x or true` is true without a look at x
		}
		if got.Value != want && (err == nil || !strings.Contains(err.Error(), "too much memory")) {
			t.Fatalf("%q for %q gives %v, %v; its terms\n%s", source, in, yes, err, outline(got, ""))
		}
	})
}

// constant reports whether some leaf depends on nothing.
func constant(t Term) bool {
	names := regexp.MustCompile(`\b(text|field|model|server|user|tools)\b`)
	return t.Op == "" && !names.MatchString(t.Source) || slices.ContainsFunc(t.Of, constant)
}
