package cond

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// goWords are what no operator should have to read.
var goWords = regexp.MustCompile(`interface|\b(ruleset|rulefile|cond|parse|reflect|runtime|ast|vm|file|builtin|regexp|syntax|strings)\.|\[\](string|int|any|uint|float|bool|byte)|map\[|func\(|` +
	`struct|\b(u?int(8|16|32|64)|float(32|64))\b|mismatched|type (string|int|bool|float|unknown|array)\b|\((string|int|bool|unknown|array)\b|goroutine|0x[0-9a-f]|%!|nil pointer|panic`)

// someExpression is a random expression: well formed, mostly, and seldom well typed.
func someExpression(rng *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	sub := func() string { return someExpression(rng, depth-1) }
	if depth == 0 {
		return pick("text", "field", "tools", "tools[0]", "tools[-9]", "tools[1:2]", "text[1]", "text[0:3]",
			"#", "#.name", ".name", "#index", "$env",
			"nil", "true", "3", "-1", "3.5", "1e99", `"x"`, `"a,b"`, "`z`", "[]", `[1,"a"]`, `{"a":1}`,
			`({"a":text}).a`, `({"a":tools}).b`, `({"a":nil})["a"]`, "modle", "now()", "text.size", `"`)
	}
	switch rng.IntN(8) {
	case 0, 1, 2:
		return sub() + " " + pick("==", "!=", "<", ">=", "+", "-", "*", "/", "%", "**", "..", "in", "and",
			"or", "??", "contains", "startsWith", "matches", "not in", "|", "=", "AND", "?.") + " " + sub()
	case 3:
		return pick("any", "all", "count", "filter", "map", "find", "one") + "(" + sub() + ", " + sub() + ")"
	case 4:
		return pick("len", "lower", "int", "float", "string", "type", "first", "last", "keys", "values",
			"min", "max", "trim", "lenn", "not ", "-", "!") + "(" + sub() + ")"
	case 5:
		return pick("split", "get", "indexOf", "trim", "trimPrefix", "hasPrefix", "min", "max", "len",
			"any") + "(" + sub() + ", " + sub() + ")"
	case 6:
		return sub() + " ? " + sub() + " : " + sub()
	}
	return "(" + sub() + ")" + pick("", "[0]", `["a"]`, "[1:2]", ".a", "?.b")
}

// TestMessagesNeedNoGo tries many wrong conditions. Neither what is said when they are
// loaded nor what is said when they run names a type of Go.
func TestMessagesNeedNoGo(t *testing.T) {
	rounds := 6_000
	if testing.Short() {
		rounds = 2_000
	}
	rng := rand.New(rand.NewPCG(11, 12))
	refused, failed := 0, 0
	for range rounds {
		source := someExpression(rng, 1+rng.IntN(3))
		if rng.IntN(3) == 0 {
			source = "(" + source + ") == " + someExpression(rng, 0)
		}
		ev, err := newEvaluation[parse.Env](source, nil, expr.AsBool)
		said := ""
		if err != nil {
			refused++
			problem := explain(inBlock(t, source), err, reflect.TypeFor[parse.Env](), nil)
			said = problem.Msg + " " + problem.Hint
		} else if _, err := ev.run(&parse.Env{Text: "a,b", Tools: []string{"x"}}); err != nil {
			failed++
			said = PlainMessage(err)
		}
		if bad := goWords.FindString(said); bad != "" && !strings.Contains(source, bad) {
			t.Errorf("%q in what is said about %s:\n%s", bad, source, said)
		}
	}
	if t.Logf("%d of %d were refused, %d failed while they ran", refused, rounds,
		failed); failed < rounds/500 {
		t.Error("hardly any failed")
	}
}
