package cond

import (
	"reflect"
	"regexp"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
)

// meter lets the functions of a budget do the work of operators. It runs when the
// types are known, and changes only what is right, so that messages name what was
// written.
type meter struct{}

// Visit replaces one node.
func (meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		if n.Node.Type().Kind() == reflect.Bool {
			call(&n.Node, "a step", n.Node)
		}
	case *ast.BinaryNode:
		meterOperator(node, n)
	}
}

func meterOperator(node *ast.Node, n *ast.BinaryNode) {
	_, written := n.Right.(*ast.ArrayNode)
	switch op := n.Operator; {
	case op == "contains" && may(n.Left, reflect.String) && may(n.Right, reflect.String):
		call(node, "a contains", n.Left, n.Right)
	case op == "matches" && may(n.Left, reflect.String):
		s, ok := n.Right.(*ast.StringNode)
		if !ok {
			return
		}
		if re, err := regexp.Compile(s.Value); err == nil {
			pattern := &ast.ConstantNode{Value: steps{re, Steps(s.Value)}}
			pattern.SetLocation(s.Location())
			call(node, "a match", n.Left, pattern)
		}
	case op == "in" && !written && may(n.Right, reflect.Slice):
		call(node, "an in", n.Left, n.Right)
	case (op == "==" || op == "!=") && heavy(n.Left) && heavy(n.Right):
		call(node, "an ==", n.Left, n.Right)
		if op == "!=" {
			ast.Patch(node, &ast.UnaryNode{Operator: "not", Node: *node})
		}
	}
}

// may reports whether a node is of a kind, or of one that shows when it runs.
func may(n ast.Node, kind reflect.Kind) bool {
	k := n.Type().Kind()
	return k == kind || k == reflect.Interface
}

// heavy reports whether a node can hold more than one plain value.
func heavy(n ast.Node) bool {
	k := n.Type().Kind()
	return k == reflect.Slice || k == reflect.Map || k == reflect.Interface
}

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
