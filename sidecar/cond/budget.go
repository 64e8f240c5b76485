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
	piece   = "a piece"   // [from:to]
)

// install adds the functions that take from the budget.
func (b *budget) install(c *conf.Config) {
	for _, f := range []builtin.Function{
		{Name: paid, Validate: func(args []reflect.Type) (reflect.Type, error) { return args[0], nil },
			Func: func(args ...any) (any, error) { return args[0], b.pay(args[0], args[1].(price)) }},
		{Name: foundIn, Types: []reflect.Type{reflect.TypeFor[func(any, any) bool]()}, Func: b.search},
		{Name: piece, Validate: func(args []reflect.Type) (reflect.Type, error) { return args[0], nil }, Func: b.piece},
		{Name: ourSplit, Types: []reflect.Type{reflect.TypeFor[func(string, string) []string]()}, Func: b.split},
		{Name: ourIndexOf, Types: []reflect.Type{reflect.TypeFor[func(string, string) int]()}, Func: b.indexOf},
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

// piece is [from:to]. Of a text it counts characters, as len does; expr's own counts bytes.
func (b *budget) piece(args ...any) (any, error) {
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
			at[i] = backwards(s, at[i])
			walked = s[at[i]:]
		} else {
			at[i] = forwards(s, at[i])
			walked = s[:at[i]]
		}
		if err := b.pay(walked, perLong); err != nil {
			return nil, err
		}
	}
	return runtime.Slice(args[0], at[0], at[1]), nil
}

// forwards is where a text has its character n, at most its end.
func forwards(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// backwards is where a text has its character n from the end, at least its beginning.
func backwards(s string, n int) int {
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
