// Package cond turns conditions that people write, in the language of expr, into tests over
// structs. It bounds what a condition costs, says in plain words what is wrong with one, and
// tells what one names, compares and gives. It is the only package that knows expr. It never
// knows which file a condition stands in, or what holding means there.
package cond

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// The codes of problems of conditions and patterns. They never change their meaning.
const (
	CodeName   = "E-name"   // a condition names something it does not see
	CodeExpr   = "E-expr"   // a condition that cannot be taken
	CodeRegexp = "E-regexp" // a regular expression that cannot be taken
)

// The limits of a condition. expr bounds neither time nor all memory.
const (
	maxNodes     = 300
	memoryBudget = 100_000  // elements that one evaluation may make
	maxParts     = 300      // that split may give
	maxSource    = 16 << 10 // bytes; what is parsed nests as deep as it is long
)

// Compile compiles an expression over the fields of E, a struct whose fields
// carry the tag `expr:"name"`, and over lists of words. What cannot be evaluated at
// run time is an error, never a yes.
func Compile[E any](t rulefile.Text, words Lists) (func(E) (bool, error), *rulefile.Problem) {
	test, problem := Predicate[E](t, words)
	if problem != nil {
		return nil, problem
	}
	return func(e E) (bool, error) { return test(&e) }, nil
}

// Predicate is Compile for what is passed by its address, and not kept.
func Predicate[E any](t rulefile.Text, words Lists) (func(*E) (bool, error), *rulefile.Problem) {
	test, problem := Test[E](t, words)
	if problem != nil {
		return nil, problem
	}
	return Placed(test, t.At), nil
}

// Placed is a test whose errors say where its condition stands.
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

// Test is Predicate without the place: the same words are the same test wherever they stand.
func Test[E any](t rulefile.Text, words Lists) (func(*E) (bool, error), *rulefile.Problem) {
	if strings.TrimSpace(t.Value) == "" {
		p := t.At.Problem(CodeExpr, "the condition is empty", "leave `when` out for a rule that always holds")
		return nil, &p
	}
	run, problem := compile[E](t, words, asBool)
	if problem != nil {
		return nil, problem
	}
	known := plain(t.Value, reflect.TypeFor[E](), words)
	return func(env *E) (bool, error) {
		if known != nil {
			if v := known(reflect.ValueOf(env).Elem()); v != open {
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

// Number compiles a formula, over the fields of E, that gives a number.
func Number[E any](t rulefile.Text) (func(E) (float64, error), *rulefile.Problem) {
	run, problem := compile[E](t, nil, asNumber)
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

// compile is what both have in common: as says what the expression gives.
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

// kind is what an expression gives.
type kind func() expr.Option

func asBool() expr.Option   { return expr.AsBool() }
func asNumber() expr.Option { return expr.AsFloat64() }

// evaluation is what one run of a condition needs, kept for the next run. Its
// program is its own, since it takes from its budget.
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

// run evaluates the condition for what env, a pointer to a struct, holds.
func (ev *evaluation) run(env any) (any, error) {
	ev.budget.left = fullBudget
	return ev.vm.Run(ev.program, env)
}

// Lists are named lists of words: a condition sees each by its name.
type Lists map[string][]string

// Visit puts the words in the place of the name.
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

// These functions are not expr's own.
const (
	ourSplit   = "split"
	ourIndexOf = "indexOf"
)

// options are what conditions may do and see, and what they pay with.
func options(env any, limits *limiter, b *budget, words Lists, as kind) []expr.Option {
	out := []expr.Option{
		expr.Env(env), as(), expr.WarnOnAny(), expr.MaxNodes(maxNodes), expr.Patch(words),
		expr.Patch(limits), expr.Patch(meter{}), expr.Patch(recheck{}), expr.DisableAllBuiltins(), b.install,
	}
	for _, f := range functions {
		if f.Name != ourSplit && f.Name != ourIndexOf {
			out = append(out, expr.EnableBuiltin(f.Name))
		}
	}
	return out
}
