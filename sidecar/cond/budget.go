package cond

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
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

// tooLarge refuses conditions that are too expensive to compile.
func tooLarge(source string) error {
	if len(source) > maxSource {
		return fmt.Errorf("the condition is too long: it has more than %d KiB", maxSource>>10)
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil // said by the compiler, in its own words
	}
	var large ast.Node
	ast.Walk(&tree.Node, visitor(func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "matches" {
			if s, ok := b.Right.(*ast.StringNode); ok && LargePattern(s.Value) {
				large = s
			}
		}
	}))
	if large != nil {
		return &file.Error{Location: large.Location(), Message: PatternTooLarge}
	}
	return nil
}

// limiter refuses expressions that build long texts, and patterns that are not literal.
type limiter struct{ refused *file.Error }

func (l *limiter) refuse(at ast.Node, why string) {
	if l.refused == nil {
		l.refused = &file.Error{Location: at.Location(), Message: why}
	}
}

// Visit checks one node.
func (l *limiter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		l.refuse(n, "a condition is one expression, without let and ;")
	case *ast.BinaryNode:
		_, written := n.Right.(*ast.StringNode)
		switch {
		case n.Operator == "+" && !(isNumber(n.Left) && isNumber(n.Right)):
			l.refuse(n, "a condition cannot build texts; + adds numbers")
		case n.Operator == "matches" && !written:
			l.refuse(n.Right, "the pattern of matches must be written out, in quotes")
		}
	}
}

func isNumber(n ast.Node) bool {
	switch n.Type().Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// meter puts payments in front of expensive nodes. It runs when types are known, and changes only valid
// conditions, so that messages name what was written.
type meter struct{}

// costly are the builtins that read or make texts, or iterate over lists.
var costly = []string{"lower", "upper", "trim", "int", "float", "string", "min", "max", "keys",
	"values"}

// shortText is the longest text in bytes that contains searches for at full speed.
const shortText = 63

// Visit meters one node.
func (meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		charge(&n.Node, price{fixed: max(leastStep, perNode*size(n.Node))})
	case *ast.BuiltinNode:
		for i := range n.Arguments {
			if n.Name == "len" {
				charge(&n.Arguments[i], perLength)
			} else if slices.Contains(costly, n.Name) {
				charge(&n.Arguments[i], perWriting)
			}
		}
	case *ast.BinaryNode:
		meterOperator(node, n)
	case *ast.SliceNode:
		bound := func(n ast.Node) ast.Node {
			if n == nil {
				return &ast.NilNode{}
			}
			return n
		}
		call(node, sliceFunction, n.Node, bound(n.From), bound(n.To))
	}
}

func meterOperator(node *ast.Node, n *ast.BinaryNode) {
	text, constant := n.Right.(*ast.StringNode)
	list, spelt := n.Right.(*ast.ArrayNode)
	switch op := n.Operator; {
	case op == "contains" && constant && len(text.Value) <= shortText:
		charge(&n.Left, perSearch)
	case op == "contains":
		charge(&n.Left, perLong)
	case op == "matches" && constant:
		charge(&n.Left, perMatch(Steps(text.Value)))
	case op == "in" && spelt && composite(n.Left):
		charge(&n.Left, price{perByte: len(list.Nodes), perEntry: 20 * len(list.Nodes)})
	case op == "in" && !spelt && !isRange(n.Right) && composite(n.Right) &&
		n.Right.Type().Kind() != reflect.Map:
		call(node, inFunction, n.Left, n.Right)
	case (op == "==" || op == "!=") && composite(n.Left) && composite(n.Right):
		charge(&n.Left, perCompare)
	}
}

// size returns how many nodes a step of a loop evaluates; making a mapping counts as many.
func size(step ast.Node) (nodes int) {
	ast.Walk(&step, visitor(func(n ast.Node) {
		nodes++
		if _, is := n.(*ast.MapNode); is {
			nodes += 100
		}
	}))
	return nodes
}

// isRange reports whether a node is A..B, in which in needs no list.
func isRange(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	return ok && b.Operator == ".."
}

// composite reports whether a node can hold more than one plain value.
func composite(n ast.Node) bool {
	k := n.Type().Kind()
	return k == reflect.Slice || k == reflect.Map || k == reflect.Interface
}

// charge puts a payment around a node.
func charge(node *ast.Node, p price) { call(node, payFunction, *node, &ast.ConstantNode{Value: p}) }

func call(node *ast.Node, function string, args ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: args})
}

// typeReset clears the types of calls, so that the last check examines their arguments again.
type typeReset struct{}

// Visit clears the type of a call.
func (typeReset) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.CallNode); ok {
		n.SetNature(nature.Nature{})
	}
}

// Reset and ShouldRepeat make expr run the visitor right before the last check.
func (typeReset) Reset() {}

// ShouldRepeat returns false.
func (typeReset) ShouldRepeat() bool { return false }
