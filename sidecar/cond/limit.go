package cond

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

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
