package cond

import (
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// TestPayments: what a condition pays for a text of 1000 bytes, and for a list of 10 words
// of 5 bytes.
func TestPayments(t *testing.T) {
	env := parse.Env{Text: strings.Repeat("a", 1000), User: "a",
		Tools: strings.Fields(strings.Repeat("tools ", 10))}
	for source, want := range map[string]int{
		`field == "content"`:                              0,
		`text == "a" and text startsWith "b"`:             0, // expr compares lengths first
		`text contains "zz"`:                              1000,
		`text contains user`:                              4000,
		`text contains "` + strings.Repeat("z", 64) + `"`: 4000,
		`text matches "z"`:                                1000 * 7 * (3 + 16),
		`len(text) == 3`:                                  12 * 1000,
		`len(tools) == 3`:                                 0,
		`lower(text) == "z"`:                              12 * 1000,
		`lower(upper(text)) == "z"`:                       2 * 12 * 1000,
		`indexOf(text, user) > 3`:                         12 * 1001,
		`string(tools) == ""`:                             10 * (1000 + 12*5),
		`"x" in tools`:                                    10 * (20 + 5),
		`user in ["x", "y"]`:                              0,
		`tools == ["x"]`:                                  10 * (20 + 5),
		`tools in [["x"], ["y"]]`:                         2 * 10 * (20 + 5),
		`len(split(text, "b")) > 3`:                       4*1000 + 1000 + 12*1000,
		`any(tools, # == "x")`:                            10 * 1000,
		`any(tools, any(tools, # == "x"))`:                10*1000 + 100*1000,
		`any(tools, {` + strings.Repeat(`# == "x" or `, 24) + `# == "x"})`: 10 * 100 * (25*3 + 24),
		`len(map(tools, #)) == 3`:        10 * 1000,
		`any(tools, text contains "zz")`: 10 * (1000 + 1000),
	} {
		ev, err := newEvaluation[parse.Env](source, nil, expr.AsBool)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := ev.run(&env); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		if got := fullBudget - ev.budget.remaining; got != want {
			t.Errorf("%s pays %d, want %d", source, got, want)
		}
	}
}

// TestEveryCostlyFunctionPays: a function that gets a text pays for it, unless it looks at no
// more than another text.
func TestEveryCostlyFunctionPays(t *testing.T) {
	free := map[string]bool{"trimPrefix": true, "trimSuffix": true, "hasPrefix": true, "hasSuffix": true,
		"type": true, "first": true, "last": true, "get": true}
	env := parse.Env{Text: strings.Repeat("1", 1000), User: "1", Tools: []string{strings.Repeat("1", 1000)}}
	for _, f := range functions {
		paid := false
		for _, args := range []string{"text", "text, user", "tools", "tools, true", "tools, # == user",
			"tools, 0", "len(text), 3", `{"a": text}`} {
			ev, err := newEvaluation[parse.Env]("type("+f.Name+"("+args+")) == user", nil, expr.AsBool)
			if err == nil {
				_, _ = ev.run(&env)
				paid = paid || ev.budget.remaining < fullBudget
			}
		}
		if paid == free[f.Name] {
			t.Errorf("%s pays: %v", f.Name, paid)
		}
	}
}
