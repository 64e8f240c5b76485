package cond

import (
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// inBlock puts a condition where operators write it.
func inBlock(t testing.TB, source string) rulefile.Text {
	t.Helper()
	type shape struct {
		When rulefile.Text `rule:"when"`
	}
	doc := "when: |\n  " + strings.ReplaceAll(source, "\n", "\n  ") + "\n"
	out, problems := rulefile.Decode[shape]("strategies.yaml", doc)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return out.When
}

func TestConditionHolds(t *testing.T) {
	env := parse.Env{Text: "call <|x|> now", Field: "content", Model: "gpt-oss", User: "hi",
		Tools: []string{"exec", "read"}}
	for source, want := range map[string]bool{
		`text contains "<|"`:                                       true,
		`model startsWith "gpt" and "exec" in tools`:               true,
		`any(tools, # == "write")`:                                 false,
		`any(tools, any(["e", "r"], # != "x"))`:                    true,
		`any(tools, any(tools, any(tools, lower(#) == "read")))`:   true,
		`map(tools, split(#, "e"))[1] == ["r", "ad"]`:              true,
		`len(split(text, " ")) == 3`:                               true,
		`text matches "(?i)CALL"`:                                  true,
		`count(tools, # startsWith "r") + 1 == 2`:                  true,
		`len(map(tools, #)) in 1..5`:                               true,
		`len(text) in 1..1000000000`:                               true, // no list is made of it
		"text contains \"call\" // a comment\n  and field == \"\"": false,
	} {
		cond, problem := Compile[parse.Env](inBlock(t, source), nil)
		if problem != nil {
			t.Errorf("%s: %v", source, problem)
			continue
		}
		if got, err := cond(env); err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", source, got, err, want)
		}
	}
}

// len, [from:to] and indexOf count characters.
func TestConditionCharacters(t *testing.T) {
	for _, text := range []string{"cafe", "café", "日本語", "e\u0301", "", "a\xff"} {
		env := parse.Env{Text: text, User: text + "!", Tools: []string{"exec", "read", "write"}}
		for _, source := range []string{
			`text[0:len(text)] == text`, `text[:] == text`, `user[:len(user)-1] == text`, `user[len(user)-1:] == "!"`,
			`user[-1:] == "!"`, `user[:-1] == text`, `text[0:999] == text`, `text[2:1] == ""`, `text[99:] == ""`,
			`len(user[0:2]) == min(2, len(user))`, `user[0:2][0:1] == user[0:1]`, `indexOf(user, "!") == len(text)`,
			`user[indexOf(user, "!"):] == "!"`, `indexOf(user, "?") == -1`, `tools[1:] == ["read", "write"]`,
			`tools[-1:][0] == "write"`, `lower(user[0:1]) == lower(user)[0:1]`,
		} {
			test, problem := Compile[parse.Env](inBlock(t, source), nil)
			if problem != nil {
				t.Fatalf("%s: %v", source, problem)
			}
			if got, err := test(env); err != nil || !got {
				t.Errorf("%s of %q = %v, %v", source, text, got, err)
			}
		}
	}
}

func TestConditionRefused(t *testing.T) {
	for source, want := range map[string]string{
		`texxt contains "x"`:         "2:3-8 E-name: a condition here sees no texxt (did you mean text?)",
		`text contains "x" and zzz`:  "2:25-28 E-name: a condition here sees no zzz (it sees text, field, model, server, user, tools; a text needs quotes)",
		`repeat(text, 9) == ""`:      "2:3-9 E-name: a condition here sees no repeat",
		`len(text)`:                  "2:3-12 E-expr: the condition must give true or false, not a whole number",
		`get({"a": 1}, "a")`:         "2:3-21 E-expr: the condition must give true or false, not anything (compare it with something, for example == true)",
		`len(split(texxt, ",")) > 1`: "2:13-18 E-name: a condition here sees no texxt",
		`text == 3`:                  "2:8-10 E-expr: == does not go with a text and a whole number",
		`text.size > 3`:              "has no part size",
		`text.field == ""`:           "has no part field",
		`text matches "(a"`:          "E-regexp: missing closing ): `(a`",
		`text matches model`:         "2:16-21 E-expr: the pattern of matches must be written out, in quotes",
		`text + model == ""`:         "2:8-9 E-expr: a condition cannot build texts; + adds numbers",
		`let a = text; a == ""`:      "without let and ;",
		"text == \"x\" # note":       "a comment in a condition begins with //",
		`text contains "x" and`:      "the condition ends too early",
		"text == \"x\"" + strings.Repeat(` or text == "x"`, 99): "more than 300 parts",
	} {
		_, problem := Compile[parse.Env](inBlock(t, source), nil)
		if problem == nil {
			t.Errorf("%s: taken", source)
			continue
		}
		got := strings.TrimPrefix(problem.Error(), "strategies.yaml:")
		got = strings.TrimSuffix(got, " ["+problem.Code+"]")
		place, msg, _ := strings.Cut(got, ": ")
		got = place + "-" + strconv.Itoa(problem.EndCol) + " " + problem.Code + ": " + msg
		if problem.Hint != "" {
			got += " (" + problem.Hint + ")"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
		if _, part, _ := strings.Cut(msg, "has no part "); part != "" && strings.Contains(problem.Hint, " "+part+"?") {
			t.Errorf("%s: the hint suggests the word that is wrong: %s", source, got)
		}
		if strings.Contains(got, "interface") || strings.Contains(got, "parse.") ||
			strings.Contains(got, "[]string") {
			t.Errorf("%s: a Go type shows in %s", source, got)
		}
	}
}

// TestConditionFails: what cannot be evaluated is an error, and never a yes.
func TestConditionFails(t *testing.T) {
	long := parse.Env{Text: strings.Repeat("a b ", 60_000), Tools: []string{"x"}}
	for source, want := range map[string]string{
		`len(split(text, " ")) > 0`:       "split gives more than 300 parts",
		`any(1..200000, # == 3)`:          "too much memory",
		`tools[3] == "x"`:                 "index out of range",
		`int(text) == 3`:                  "invalid operation: int",
		`any(1..900, any(1..900, # < 0))`: "too much memory",
	} {
		cond, problem := Compile[parse.Env](inBlock(t, source), nil)
		if problem != nil {
			t.Errorf("%s: %v", source, problem)
			continue
		}
		got, err := cond(long)
		if got || err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%s = %v, %.300v; want an error with %q", source, got, err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "strategies.yaml:1: ") {
			t.Errorf("%s: the error has no place: %.100v", source, err)
		}
	}
}

func TestConditionAfterFailure(t *testing.T) {
	cond, problem := Compile[parse.Env](inBlock(t, `tools[1] == "x"`), nil)
	if problem != nil {
		t.Fatal(problem)
	}
	for range 3 {
		if _, err := cond(parse.Env{}); err == nil {
			t.Fatal("no error for an empty list")
		}
		if ok, err := cond(parse.Env{Tools: []string{"", "x"}}); !ok || err != nil {
			t.Fatalf("after an error: %v, %v", ok, err)
		}
	}
}

// TestConditionStaysCompiled: a garbage collection does not make the next run compile again.
func TestConditionStaysCompiled(t *testing.T) {
	cond, problem := Predicate[parse.Env](inBlock(t, `field == "content" and len(tools) == 0`), nil)
	if problem != nil {
		t.Fatal(problem)
	}
	env := parse.Env{Field: "content"}
	for range 3 {
		runtime.GC()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if yes, err := cond(&env); !yes || err != nil {
		t.Errorf("%v, %v", yes, err)
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 50 {
		t.Errorf("a run allocates %d times", n)
	}
}

func BenchmarkCondition(b *testing.B) {
	cond, problem := Compile[parse.Env](inBlock(b, `text contains "<|" and field == "content"`), nil)
	if problem != nil {
		b.Fatal(problem)
	}
	env := parse.Env{Text: strings.Repeat("x", 2048), Field: "content"}
	b.ReportAllocs()
	b.SetBytes(int64(len(env.Text)))
	for b.Loop() {
		if _, err := cond(env); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzCondition: no condition panics, at load or later.
func FuzzCondition(f *testing.F) {
	for _, s := range []string{`text contains "x"`, `any(tools, # == model)`, `len(split(text, "")) > 3`,
		`{"a": 1}.a == 1`, `!(`, `text[1:2] == "é"`} {
		f.Add(s, "some text")
	}
	f.Fuzz(func(t *testing.T, source, in string) {
		cond, problem := Compile[parse.Env](rulefile.Text{Value: source, At: rulefile.LineOf("x.yaml", source,
			1)}, nil)
		if (cond == nil) == (problem == nil) {
			t.Fatal("neither a condition nor a problem, or both")
		}
		if cond != nil {
			if ok, err := cond(parse.Env{Text: in, Tools: []string{in}}); ok && err != nil {
				t.Fatal("yes with an error")
			}
		}
	})
}

func TestEnvNames(t *testing.T) {
	env := reflect.TypeFor[parse.Env]()
	for i := range env.NumField() {
		if env.Field(i).Tag.Get("expr") == "" {
			t.Errorf("%s cannot be named in a condition", env.Field(i).Name)
		}
	}
}
