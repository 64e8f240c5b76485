package cond

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/vm/runtime"
)

// budget is what one evaluation of a condition may still cost, in units of at most about a nanosecond. expr
// cannot be stopped from outside, so the meter puts a payment in front of each operation whose cost grows
// with a text or a list.
type budget struct{ remaining int }

const (
	fullBudget = 100_000_000
	perNode    = 100 // of a step of a loop
	leastStep  = 1000
)

// price is what a value costs: for each byte of its texts, and for each entry of its lists and mappings. With
// perEntry 0, only the bytes of a text count.
type price struct{ fixed, perByte, perEntry int }

var (
	perSearch  = price{perByte: 1}                  // contains
	perLong    = price{perByte: 4}                  // contains on a long text, and split
	perLength  = price{perByte: 12}                 // len; lists know their length
	perWriting = price{perByte: 12, perEntry: 1000} // converting to text, or iterating
	perCompare = price{perByte: 1, perEntry: 20}    // comparing with another value
)

// perMatch is the price of a pattern with that many instructions (BenchmarkPatternSize); even the smallest
// costs something.
func perMatch(steps int) price { return price{perByte: 7 * (steps + 16)} }

var errCostly = errors.New("the condition takes too much time; look at a part of the text, such as text[:4000]")

// The functions that conditions do not know: their names hold a blank.
const (
	payFunction   = "a payment" // returns its first argument, paid for at the price in the second
	inFunction    = "a search"  // the operator in, for lists
	sliceFunction = "a piece"   // [from:to]
)

// install adds the functions that take from the budget.
func (b *budget) install(c *conf.Config) {
	for _, f := range []builtin.Function{
		{Name: payFunction, Validate: func(args []reflect.Type) (reflect.Type, error) { return args[0], nil },
			Func: func(args ...any) (any, error) { return args[0], b.pay(args[0], args[1].(price)) }},
		{Name: inFunction, Types: []reflect.Type{reflect.TypeFor[func(any, any) bool]()}, Func: b.search},
		{Name: sliceFunction, Func: b.slice,
			Validate: func(args []reflect.Type) (reflect.Type, error) { return args[0], nil }},
		{Name: splitName, Types: []reflect.Type{reflect.TypeFor[func(string, string) []string]()}, Func: b.split},
		{Name: indexOfName, Types: []reflect.Type{reflect.TypeFor[func(string, string) int]()}, Func: b.indexOf},
	} {
		c.Functions[f.Name] = &f
	}
}

func (b *budget) pay(v any, p price) error {
	b.remaining -= p.fixed
	b.take(v, p)
	if b.remaining < 0 {
		return errCostly
	}
	return nil
}

// take stops when the budget is exhausted.
func (b *budget) take(v any, p price) {
	if s, ok := v.(string); ok {
		b.remaining -= len(s) * p.perByte
	}
	if p.perEntry == 0 {
		return
	}
	switch v := v.(type) {
	case []string:
		for i := 0; i < len(v) && b.remaining >= 0; i++ {
			b.remaining -= p.perEntry + len(v[i])*p.perByte
		}
	case []any:
		for i := 0; i < len(v) && b.remaining >= 0; i++ {
			b.remaining -= p.perEntry
			b.take(v[i], p)
		}
	case map[string]any:
		for k, e := range v {
			if b.remaining -= p.perEntry + len(k)*p.perByte; b.remaining < 0 {
				return
			}
			b.take(e, p)
		}
	}
}

// search is the operator in. Comparing an entry costs no more than the entry.
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

// slice is [from:to]. In a text it counts characters, as len does; expr's own counts bytes.
func (b *budget) slice(args ...any) (any, error) {
	at := []int{0, runtime.Len(args[0])} // of a text, its bytes
	s, isText := args[0].(string)
	for i, bound := range args[1:] {
		if bound == nil {
			continue
		}
		if at[i] = runtime.ToInt(bound); !isText {
			continue
		}
		walked := s
		if at[i] < 0 {
			at[i] = offsetFromEnd(s, at[i])
			walked = s[at[i]:]
		} else {
			at[i] = offsetOf(s, at[i])
			walked = s[:at[i]]
		}
		if err := b.pay(walked, perLong); err != nil {
			return nil, err
		}
	}
	return runtime.Slice(args[0], at[0], at[1]), nil
}

// offsetOf returns the offset of character n, at most len(s).
func offsetOf(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// offsetFromEnd returns the offset of the character n (negative) from the end, at least 0.
func offsetFromEnd(s string, n int) int {
	for ; n < 0 && s != ""; n++ {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return len(s)
}

// indexOf is strings.Index in characters.
func (b *budget) indexOf(args ...any) (any, error) {
	s, sought := args[0].(string), args[1].(string)
	i := strings.Index(s, sought)
	if i > 0 {
		i = utf8.RuneCountInString(s[:i])
	}
	return i, cmp.Or(b.pay(s, perWriting), b.pay(sought, perWriting))
}

// split is strings.Split with a limit, so that loops over the parts stay short.
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
