//go:build unix && !race

// The race detector distorts what things cost.

package cond

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// hostile are conditions that would take time or memory if nothing stopped them.
func hostile() map[string]string {
	or := func(n int, part string) string {
		return strings.TrimSuffix(strings.Repeat(part+" or ", n), " or ")
	}
	return map[string]string{
		"range":              `any(1..1000000000, # < 0)`,
		"range to the limit": `any(1..99000, # < 0)`,
		"two ranges":         `any(1..300, any(1..300, # < 0))`,
		"three loops":        `any(tools, any(tools, any(tools, # == "x")))`,
		"two loops":          `any(tools, any(tools, # == "x"))`,
		"two loops, text":    `any(tools, any(tools, text contains "zz"))`,
		"two loops, matches": `any(tools, any(tools, text matches "[ab]+z"))`,
		"two loops, parts":   `any(tools, any(tools, ` + or(60, `# contains "zz"`) + `))`,
		"two loops, lower":   `any(tools, any(tools, ` + or(45, `lower(#) == "zz"`) + `))`,
		"two loops, split":   `any(tools, any(tools, len(split(user[:290], "")) < 0))`,
		"two loops, mapping": `any(tools, any(tools, ({"a": #}).a == "zz"))`,
		"two loops, list":    `any(tools, any(tools, [#, #, #, text] == tools))`,
		"two loops, written": `any(tools, any(tools, tools in [tools[1:], tools[2:]]))`,
		"map of split":       `len(map(tools, map(tools, split(#, "_")))) < 0`,
		"four loops":         `all(tools, none(tools, count(tools, one(tools, # == "x")) > 3))`,
		"loop, text":         `any(tools, text contains "aaaaaaaaaaaaaaab")`,
		"loop, many texts":   `any(tools, ` + or(60, `text contains "aab"`) + `)`,
		"many texts":         or(70, `text contains "aaaaaaaaaaaaaaaaaaab"`),
		"text in text":       or(70, `text contains (user)`),
		"lower": `lower(` + strings.Repeat("upper(lower(", 120) + "text" + strings.Repeat("))",
			120) + `) == ""`,
		"loop, lower":      `any(tools, lower(text) contains "zz")`,
		"loop, equal":      `any(tools, upper(text) == text[1:])`,
		"string":           `any(tools, string(tools) contains "zz")`,
		"len":              `any(tools, len(text) < 0)`,
		"indexOf":          `any(tools, indexOf(text, "aaab") > 0)`,
		"trim":             `any(tools, trim(text, "a") == "zz")`,
		"int":              `any(tools, int(text) == 3)`,
		"split":            `any(split(text, "ab"), # contains "zz")`,
		"split to letters": `len(split(text, "")) > 3`,
		"split in loop":    `any(tools, len(split(text, "zz")) > 3)`,
		"split, two loops": `any(split(user, " "), any(split(user, " "), text contains "zz"))`,
		"in":               `any(tools, text in tools)`,
		"in, two loops":    `any(tools, any(tools, text in tools))`,
		"equal lists":      `any(tools, tools == tools[0:])`,
		"map":              `any(tools, len(map(tools, #)) < 0)`,
		"map of map":       `len(map(tools, map(tools, #))) < 0`,
		"filter":           `any(tools, len(filter(tools, true)) < 0)`,
		"filter of filter": strings.Repeat("filter(", 100) + "tools" + strings.Repeat(", true)", 100) +
			` == []`,
		"list of lists":     `any(tools, [tools, tools, tools, tools] == [])`,
		"long in":           `any(tools, # in ["` + strings.Repeat(`zz", "`, 280) + `"])`,
		"huge literal":      `text contains "` + strings.Repeat("a", 500_000) + `"`,
		"huge pattern":      `text matches "` + strings.Repeat("[ab]?", 100_000) + `"`,
		"counted pattern":   `text matches "([ab]{1,30}c?){1,30}z"`,
		"counts at most":    `text matches "` + strings.Repeat("(a?b?c?d?e?){1000}", 60) + `"`,
		"pattern":           `text matches "(?i)(a|b|ab|ba)*z"`,
		"patterns":          or(70, `text matches "(a|b|ab|ba)*z"`),
		"pattern of prefix": `text matches "^\\s*\\{"`,
		"deep":              strings.Repeat("(", 200_000) + "true" + strings.Repeat(")", 200_000),
		"deep list":         strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + " == []",
		"deep not":          strings.Repeat("not ", 200_000) + "true",
		"deep minus":        strings.Repeat("-", 200_000) + "1 == 1",
		"deep ternary":      strings.Repeat("true ? ", 50_000) + "true" + strings.Repeat(" : false", 50_000),
		"deep, 14 KiB":      strings.Repeat("(", 7_000) + "true" + strings.Repeat(")", 7_000),
		"deep list, 14 KiB": strings.Repeat("[", 7_000) + strings.Repeat("]", 7_000) + " == []",
		"deep not, 15 KiB":  strings.Repeat("not ", 3_900) + "true",
		"pattern, 15 KiB":   `text matches "` + strings.Repeat("[ab]?", 3_000) + `"`,
		"range to the end":  `any(-9223372036854775807..9223372036854775807, # < 0)`,
		"power":             `9 ** 9 ** 9 ** 9 > 1`,
		"pipe":              `text | lower | upper | len > 3`,
		"text of map":       `any(tools, ({"a": text}).a contains "zz")`,
		"let":               `let a = [text, text]; let b = [a, a]; len(b) > 3`,
		"closure":           `any(map(tools, {"f": #}), any(tools, # contains "zz"))`,
		"concat":            `(text + text) == ""`,
		"repeat":            `repeat(text, 1000000) == ""`,
		"count":             `count(tools, count(tools, # == "x") > 3) > 3`,
		"find":              `find(tools, find(tools, # == "x") == "x") == "x"`,
	}
}

// TestHostileConditions: what loads is fast and frugal with a text of 256 KiB and
// 2000 tools, or stops with an error.
func TestHostileConditions(t *testing.T) {
	offered := make([]string, 2000)
	for i := range offered {
		offered[i] = fmt.Sprintf("tool_number_%d", i)
	}
	env := parse.Env{
		Text: strings.Repeat("a", 250<<10) + strings.Repeat("ab ", 2<<10), Field: "content", Model: "gpt-oss",
		User: strings.Repeat("a b ", 1<<10), Tools: offered,
	}
	for name, source := range hostile() {
		t.Run(name, func(t *testing.T) { testHostile(t, source, env) })
	}
}

// TestHostileCalls: the same for conditions of exec.yaml, which see whatever the
// model sends as arguments.
func TestHostileCalls(t *testing.T) {
	numbers := func(n int) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = float64(i)
		}
		return out
	}
	deep := any("end")
	for range 5000 {
		deep = []any{deep}
	}
	call := policy.Call{Tool: "exec", Class: "exec", Command: strings.Repeat("a", 256<<10),
		Args: map[string]any{
			"l": numbers(20_000), "m": numbers(20_000), "few": numbers(300),
			"text": strings.Repeat("a", 256<<10),
			"map":  map[string]any{"x": numbers(20_000), "y": deep}, "deep": deep,
		}}
	for _, source := range []string{
		`any(args.few, any(args.few, args.l != args.m))`, `any(args.l, args.l == args.m)`,
		`any(args.l, any(args.m, # == 3.5))`,
		`any(args.l, # in args.m)`, `any(args.l, args.m in [args.l, args.m])`,
		`any(args.few, args.map == args.map)`,
		`any(args.l, string(args) == "x")`, `any(args.l, len(args.text) == 3)`,
		`any(args.l, max(args.m) == 3)`,
		`any(args.l, min(args.m) == 3)`, `any(args.l, len(keys(args)) == 99)`,
		`any(args.l, args.m in values(args))`,
		`any(args.few, args.deep == args.map.y)`, `any(args.l, args.text matches "[ab]+z")`,
		`any(args.l, args.text contains "aaaab")`,
		`any(args.l, get(args, "map") == args.map)`, `any(args.l, int(args.text) == 3)`,
		`len(filter(args.l, args.m == args.l)) > 3`,
		`count(args.l, command == args.text) > 3`, `any(args.l, args == args)`,
		`any(args.l, [args] == [args, args])`,
		`any(args.l, {"a": args} == {"a": args, "b": 1})`, `any(args.l, command[1:] == command[:3])`,
	} {
		t.Run(source, func(t *testing.T) { testHostile(t, source, call) })
	}
}

// testHostile loads a condition and evaluates it.
func testHostile[E any](t *testing.T, source string, env E) {
	t.Helper()
	var cond func(E) (bool, error)
	var problem *rulefile.Problem
	loading, made := cost(func() { cond, problem = Compile[E](inBlock(t, source), nil) })
	if loading > 500*time.Millisecond || made > 32<<20 {
		t.Errorf("to load it takes %v and %d KiB", loading, made>>10)
	}
	if problem != nil {
		t.Logf("refused in %v, %d KiB: %.150v", loading, made>>10, problem)
		return
	}
	fastest, least := time.Hour, uint64(1<<62)
	var err error
	for range 3 {
		took, made := cost(func() { _, err = cond(env) })
		fastest, least = min(fastest, took), min(least, made)
	}
	t.Logf("%v, %d KiB: %.150v", fastest, least>>10, err)
	if fastest > 200*time.Millisecond || least > 10<<20 {
		t.Errorf("one evaluation takes %v and makes %d KiB", fastest, least>>10)
	}
}

// cost is the processor's time that f takes, and how many bytes it allocates.
func cost(f func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took := testkit.ProcessorTime(f)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}
