// Package cond compiles conditions, written in the language of expr, into tests over structs. It bounds their
// cost, explains mistakes in plain words, and tells what a condition names, compares and evaluates to. It is
// the only package that knows expr. It does not know which file a condition is in, or what follows if it
// holds.
package cond

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp/syntax"
	"runtime"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Codes of problems of conditions and patterns. They never change their meaning.
const (
	CodeName   = "E-name"   // a condition names something it does not see
	CodeExpr   = "E-expr"   // a condition that cannot be taken
	CodeRegexp = "E-regexp" // a regular expression that cannot be taken
)

// Limits of a condition. expr bounds neither time nor all memory.
const (
	maxNodes     = 300
	memoryBudget = 100_000  // elements that one evaluation may allocate
	maxParts     = 300      // of split
	maxSource    = 16 << 10 // bytes; nesting is bounded by length
)

// Compile compiles an expression over the fields of E, a struct whose fields carry the tag `expr:"name"`, and
// over lists of words. A failed evaluation is an error, never true.
func Compile[E any](t rulefile.Text, words Lists) (func(E) (bool, error), *rulefile.Problem) {
	test, problem := Predicate[E](t, words)
	if problem != nil {
		return nil, problem
	}
	return func(e E) (bool, error) { return test(&e) }, nil
}

// Predicate is Compile for a struct that is passed by pointer and not kept.
func Predicate[E any](t rulefile.Text, words Lists) (func(*E) (bool, error), *rulefile.Problem) {
	test, problem := Test[E](t, words)
	if problem != nil {
		return nil, problem
	}
	return Placed(test, t.At), nil
}

// Placed adds the place of the condition to the errors of a test.
func Placed[E any](test func(*E) (bool, error), at rulefile.Place) func(*E) (bool, error) {
	place := at.String()
	return func(env *E) (bool, error) {
		holds, err := test(env)
		if err != nil {
			return false, fmt.Errorf("%s: %w", place, err)
		}
		return holds, nil
	}
}

// Test is Predicate without the place, so that equal conditions can share a test.
func Test[E any](t rulefile.Text, words Lists) (func(*E) (bool, error), *rulefile.Problem) {
	if strings.TrimSpace(t.Value) == "" {
		p := t.At.Problem(CodeExpr, "the condition is empty", "leave `when` out for a rule that always holds")
		return nil, &p
	}
	run, problem := compile[E](t, words, expr.AsBool)
	if problem != nil {
		return nil, problem
	}
	known := plain(t.Value, reflect.TypeFor[E](), words)
	return func(env *E) (bool, error) {
		if known != nil {
			if v := known(reflect.ValueOf(env).Elem()); v != unknown {
				return v == yes, nil
			}
		}
		out, err := run(env)
		if err != nil {
			return false, err
		}
		holds, ok := out.(bool)
		if !ok {
			return false, errors.New("the condition is neither true nor false")
		}
		return holds, nil
	}, nil
}

// Number compiles a formula over the fields of E that gives a number.
func Number[E any](t rulefile.Text) (func(E) (float64, error), *rulefile.Problem) {
	run, problem := compile[E](t, nil, expr.AsFloat64)
	if problem != nil {
		return nil, problem
	}
	return func(env E) (float64, error) {
		out, err := run(&env)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", t.At, err)
		}
		n, ok := out.(float64)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return 0, fmt.Errorf("%s: the formula gives no number", t.At)
		}
		return n, nil
	}, nil
}

// compile is the common part of Test and Number; as is the type of the result.
func compile[E any](t rulefile.Text, words Lists, as kind) (func(*E) (any, error), *rulefile.Problem) {
	first, err := newEvaluation[E](t.Value, words, as)
	if err != nil {
		return nil, explain(t, err, reflect.TypeFor[E](), words)
	}
	spare := make(chan *evaluation, runtime.GOMAXPROCS(0)) // no pool: compiling again takes a hundred runs
	spare <- first
	return func(env *E) (any, error) {
		var ev *evaluation
		select {
		case ev = <-spare:
		default:
			ev, _ = newEvaluation[E](t.Value, words, as) // it compiled before
		}
		out, err := ev.run(env)
		select {
		case spare <- ev:
		default:
		}
		if err != nil {
			return nil, errors.New(PlainMessage(err))
		}
		return out, nil
	}, nil
}

// kind is the type of an expression.
type kind func() expr.Option

// evaluation is the state of one run of a condition, kept for the next run. Each has its own program, which
// takes from its budget.
type evaluation struct {
	program *vm.Program
	vm      vm.VM
	budget  budget
}

func newEvaluation[E any](source string, words Lists, as kind) (*evaluation, error) {
	ev := &evaluation{vm: vm.VM{MemoryBudget: memoryBudget}}
	var env E
	var err error
	ev.program, err = build(source, env, &ev.budget, words, as)
	return ev, err
}

// run evaluates the condition over env, a pointer to a struct.
func (ev *evaluation) run(env any) (any, error) {
	ev.budget.remaining = fullBudget
	return ev.vm.Run(ev.program, env)
}

// Lists are lists of words that a condition sees by name.
type Lists map[string][]string

// Visit replaces a name by its words.
func (l Lists) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		if words, named := l[id.Value]; named {
			ast.Patch(node, &ast.ConstantNode{Value: words})
		}
	}
}

func build(source string, env any, b *budget, words Lists, as kind) (*vm.Program, error) {
	if err := tooLarge(source); err != nil {
		return nil, err
	}
	var limits limiter
	program, err := expr.Compile(source, options(env, &limits, b, words, as)...)
	if err == nil && limits.refused != nil {
		return nil, limits.refused
	}
	return program, err
}

// Functions that replace expr's own.
const (
	splitName   = "split"
	indexOfName = "indexOf"
)

// options are what conditions may use and see, and their budget.
func options(env any, limits *limiter, b *budget, words Lists, as kind) []expr.Option {
	out := []expr.Option{
		expr.Env(env), as(), expr.WarnOnAny(), expr.MaxNodes(maxNodes), expr.Patch(words),
		expr.Patch(limits), expr.Patch(meter{}), expr.Patch(typeReset{}), expr.DisableAllBuiltins(),
		b.install,
	}
	for _, f := range functions {
		if f.Name != splitName && f.Name != indexOfName {
			out = append(out, expr.EnableBuiltin(f.Name))
		}
	}
	return out
}

// PatternTooLarge replaces the message that Go gives only after using a lot of memory.
const PatternTooLarge = "the pattern is too large"

// maxPattern is about how many instructions a pattern may have.
const maxPattern = 10_000

// LargePattern reports whether a pattern has too many instructions, without compiling it.
func LargePattern(pattern string) bool {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && weight(tree) > maxPattern
}

// weight estimates the number of instructions of a pattern.
func weight(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// Steps returns the number of instructions of a pattern; 0 if it does not compile.
func Steps(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}
