package cond

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm/runtime"
)

// budget is what one evaluation of a condition may still cost, in units of about a
// nanosecond at worst. expr cannot be stopped from outside, so a condition pays for what it
// is about to look at: the meter puts a payment in front of whatever grows with a text or a
// list.
type budget struct{ left int }

const (
	fullBudget = 100_000_000
	perNode    = 100 // of a step of a loop
	leastStep  = 1000
)

// price is what is paid for a value: for each byte of its texts, and for each entry of its
// lists and mappings; 0: for its bytes alone, which is for what looks at texts only.
type price struct{ once, perByte, perEntry int }

var (
	perSearch  = price{perByte: 1}                  // by contains
	perLong    = price{perByte: 4}                  // by contains, for a long text, and by split
	perLength  = price{perByte: 12}                 // by len; lists know how long they are
	perWriting = price{perByte: 12, perEntry: 1000} // as a text, or gone through
	perCompare = price{perByte: 1, perEntry: 20}    // with another value
)

// perMatch is for a pattern of so many instructions (BenchmarkPatternSize); even the
// smallest costs something.
func perMatch(steps int) price { return price{perByte: 7 * (steps + 16)} }

var errCostly = errors.New("the condition takes too much time; look at a part of the text, such as text[:4000]")

// The functions that conditions do not know: their names hold a blank.
const (
	paid    = "a payment" // its first argument, paid for at the price that is the second
	foundIn = "a search"  // the operator in, for lists
)

// install adds the functions that take from the budget.
func (b *budget) install(c *conf.Config) {
	for _, f := range []builtin.Function{
		{Name: paid, Validate: func(args []reflect.Type) (reflect.Type, error) { return args[0], nil },
			Func: func(args ...any) (any, error) { return args[0], b.pay(args[0], args[1].(price)) }},
		{Name: foundIn, Types: []reflect.Type{reflect.TypeFor[func(any, any) bool]()}, Func: b.search},
		{Name: ourSplit, Types: []reflect.Type{reflect.TypeFor[func(string, string) []string]()}, Func: b.split},
	} {
		c.Functions[f.Name] = &f
	}
}

func (b *budget) pay(v any, p price) error {
	b.left -= p.once
	b.take(v, p)
	if b.left < 0 {
		return errCostly
	}
	return nil
}

// take stops where the budget does.
func (b *budget) take(v any, p price) {
	if s, ok := v.(string); ok {
		b.left -= len(s) * p.perByte
	}
	if p.perEntry == 0 {
		return
	}
	switch v := v.(type) {
	case []string:
		for i := 0; i < len(v) && b.left >= 0; i++ {
			b.left -= p.perEntry + len(v[i])*p.perByte
		}
	case []any:
		for i := 0; i < len(v) && b.left >= 0; i++ {
			b.left -= p.perEntry
			b.take(v[i], p)
		}
	case map[string]any:
		for k, e := range v {
			if b.left -= p.perEntry + len(k)*p.perByte; b.left < 0 {
				return
			}
			b.take(e, p)
		}
	}
}

// search is the operator in. What each entry is perCompare with costs no more than the entry.
func (b *budget) search(args ...any) (any, error) {
	if err := b.pay(args[1], perCompare); err != nil {
		return nil, err
	}
	s, isText := args[0].(string)
	if texts, ok := args[1].([]string); ok && isText {
		return slices.Contains(texts, s), nil // many times faster
	}
	return runtime.In(args[0], args[1]), nil
}

// split is strings.Split with an end: loops over its parts stay short.
func (b *budget) split(args ...any) (any, error) {
	s, sep := args[0].(string), args[1].(string)
	if err := b.pay(s, perLong); err != nil {
		return nil, err
	}
	parts := strings.SplitN(s, sep, maxParts+1)
	if len(parts) > maxParts {
		return nil, fmt.Errorf("split gives more than %d parts", maxParts)
	}
	return parts, b.pay(parts, perWriting)
}
