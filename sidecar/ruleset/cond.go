package ruleset

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// The limits of a condition. expr bounds neither time nor all memory, so what
// could take much of either is refused at load.
const (
	maxNodes     = 300
	maxLoops     = 2       // inside each other
	memoryBudget = 100_000 // elements that one evaluation may make
	maxParts     = 300     // that split may give
)

// condition compiles an expression over the fields of E, a struct whose fields
// carry the tag `expr:"name"`. What cannot be evaluated at run time is an error,
// never a yes.
func condition[E any](t text, words lists) (func(E) (bool, error), *Problem) {
	var env E
	if strings.TrimSpace(t.Value) == "" {
		p := t.at.problem(codeExpr, "the condition is empty", "leave `when` out for a rule that always holds")
		return nil, &p
	}
	program, err := compile(t.Value, env, words)
	if err != nil {
		return nil, t.explain(err, reflect.TypeFor[E](), words)
	}
	pool := sync.Pool{New: func() any { return &evaluation[E]{vm: vm.VM{MemoryBudget: memoryBudget}} }}
	place := t.at.String()
	return func(e E) (bool, error) {
		ev := pool.Get().(*evaluation[E])
		ev.env = e
		out, err := ev.vm.Run(program, &ev.env)
		ev.env = env // keep no text alive
		pool.Put(ev)
		if err != nil {
			return false, fmt.Errorf("%s: %s", place, plainMessage(err))
		}
		yes, ok := out.(bool)
		if !ok {
			return false, fmt.Errorf("%s: the condition is neither true nor false", place)
		}
		return yes, nil
	}, nil
}

// evaluation is what one run of a condition needs, kept for the next run.
type evaluation[E any] struct {
	vm  vm.VM
	env E
}

// lists are named lists of words: a condition sees each by its name.
type lists map[string][]string

// Visit puts the words in the place of the name.
func (l lists) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		if words, named := l[id.Value]; named {
			ast.Patch(node, &ast.ConstantNode{Value: words})
		}
	}
}

func compile(source string, env any, words lists) (*vm.Program, error) {
	limits := limiter{height: map[ast.Node]int{}}
	program, err := expr.Compile(source, options(env, &limits, words)...)
	if err == nil && limits.refused != nil {
		return nil, limits.refused
	}
	return program, err
}

// ourSplit is the one function that is not expr's own.
const ourSplit = "split"

// options are what conditions may do and see.
func options(env any, limits *limiter, words lists) []expr.Option {
	out := []expr.Option{
		expr.Env(env), expr.AsBool(), expr.WarnOnAny(), expr.MaxNodes(maxNodes), expr.Patch(words), expr.Patch(limits),
		expr.DisableAllBuiltins(), expr.Function(ourSplit, split, new(func(string, string) []string)),
	}
	for _, f := range functions {
		if f.Name != ourSplit {
			out = append(out, expr.EnableBuiltin(f.Name))
		}
	}
	return out
}

// split is strings.Split with an end: loops over its parts stay short.
func split(args ...any) (any, error) {
	parts := strings.SplitN(args[0].(string), args[1].(string), maxParts+1)
	if len(parts) > maxParts {
		return nil, fmt.Errorf("split gives more than %d parts", maxParts)
	}
	return parts, nil
}
