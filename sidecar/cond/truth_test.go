package cond

import (
	"math/rand/v2"
	"testing"

	"github.com/expr-lang/expr/parser"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// someFormula is a random condition over a few variables.
func someFormula(rng *rand.Rand, depth int) string {
	tests := []string{`field == "content"`, `field != "content"`, `field in ["reasoning", "x"]`, `"x" == model`, `model == "y"`,
		`len(text) < 2`, `len(text) >= 2`, `len(text) > 1`, `len(text) == 0`, `text contains "a"`, `text startsWith ""`, `1 < 2`,
		`"a" == "b"`, `true`, `any(tools, # == "a")`, `(text == "") == true`, `indexOf(text, "a") > -1`}
	if depth == 0 {
		return tests[rng.IntN(len(tests))]
	}
	a, b := "("+someFormula(rng, depth-1)+")", "("+someFormula(rng, depth-1)+")"
	switch rng.IntN(5) {
	case 0, 1:
		return a + " and " + b
	case 2, 3:
		return a + " or " + b
	}
	return "not " + a
}

// TestTruth: what is said to hold always or never does so in every environment.
func TestTruth(t *testing.T) {
	var envs []parse.Env
	for _, text := range []string{"", "a", "ab", "bcd"} {
		for _, field := range []string{"content", "reasoning"} {
			for _, model := range []string{"x", "y", "z"} {
				for _, offered := range [][]string{nil, {"a"}} {
					envs = append(envs, parse.Env{Text: text, Field: field, Model: model, Tools: offered})
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	constants, formulas := 0, 2000
	if testing.Short() {
		formulas = 400
	}
	for range formulas {
		source := someFormula(rng, rng.IntN(4))
		tree, err := parser.Parse(source)
		if err != nil {
			t.Fatal(source, err)
		}
		tr := truth{domains: map[string][]string{"field": {"content", "reasoning"}}}
		said, constant := tr.always(tree.Node)
		if !constant {
			continue
		}
		constants++
		cond, problem := Compile[parse.Env](inBlock(t, source), nil)
		if problem != nil {
			continue
		}
		for _, env := range envs {
			if got, err := cond(env); err != nil || got != said {
				t.Fatalf("%s is %v for %+v (%v), not always %v", source, got, env, err, said)
			}
		}
	}
	if constants < formulas/10 {
		t.Errorf("only %d conditions are constant", constants)
	}
}
