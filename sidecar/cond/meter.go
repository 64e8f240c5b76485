package cond

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
)

// meter puts payments in front of what costs. It runs when the types are known, and changes
// only what is right, so that messages name what was written.
type meter struct{}

// charged are the builtins that read or make texts, or go through lists.
var charged = []string{"lower", "upper", "trim", "int", "float", "string", "min", "max", "keys",
	"values"}

// shortText is up to how many bytes a text is searched for at full speed.
const shortText = 63

// Visit looks at one node.
func (meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		charge(&n.Node, price{once: max(leastStep, perNode*size(n.Node))})
	case *ast.BuiltinNode:
		for i := range n.Arguments {
			if n.Name == "len" {
				charge(&n.Arguments[i], perLength)
			} else if slices.Contains(charged, n.Name) {
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
		call(node, piece, n.Node, bound(n.From), bound(n.To))
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
	case op == "in" && spelt && heavy(n.Left):
		charge(&n.Left, price{perByte: len(list.Nodes), perEntry: 20 * len(list.Nodes)})
	case op == "in" && !spelt && !isRange(n.Right) && heavy(n.Right) && n.Right.Type().Kind() != reflect.Map:
		call(node, foundIn, n.Left, n.Right)
	case (op == "==" || op == "!=") && heavy(n.Left) && heavy(n.Right):
		charge(&n.Left, perCompare)
	}
}

// size is how many nodes a step of a loop evaluates; to make a mapping takes as long as many.
func size(step ast.Node) (nodes int) {
	ast.Walk(&step, visitor(func(n ast.Node) {
		nodes++
		if _, is := n.(*ast.MapNode); is {
			nodes += 100
		}
	}))
	return nodes
}

// isRange reports whether a node is A..B. Numbers are looked for in it without its list.
func isRange(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	return ok && b.Operator == ".."
}

// heavy reports whether a node can hold more than one plain value.
func heavy(n ast.Node) bool {
	k := n.Type().Kind()
	return k == reflect.Slice || k == reflect.Map || k == reflect.Interface
}

// charge lets a node be paid for before it is used.
func charge(node *ast.Node, p price) { call(node, paid, *node, &ast.ConstantNode{Value: p}) }

func call(node *ast.Node, function string, args ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: args})
}

// recheck forgets the types of calls before the last check, which would otherwise
// believe them and not look at their arguments again.
type recheck struct{}

// Visit forgets the type of a call.
func (recheck) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.CallNode); ok {
		n.SetNature(nature.Nature{})
	}
}

// Reset and ShouldRepeat make expr run it right before the last check.
func (recheck) Reset() {}

// ShouldRepeat is false: once is enough.
func (recheck) ShouldRepeat() bool { return false }
