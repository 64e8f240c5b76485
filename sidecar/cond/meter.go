package cond

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
)

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
