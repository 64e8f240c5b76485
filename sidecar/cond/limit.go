package cond

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// tooLarge refuses what would already take too much to compile.
func tooLarge(source string) error {
	if len(source) > maxSource {
		return fmt.Errorf("the condition is too long: it has more than %d KiB", maxSource>>10)
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil // said by the compiler, in its own words
	}
	var p largest
	ast.Walk(&tree.Node, &p)
	if p.large != nil {
		return &file.Error{Location: p.large.Location(), Message: PatternTooLarge}
	}
	return nil
}

// largest finds a pattern of matches that is too large.
type largest struct{ large ast.Node }

// Visit looks at one part of the condition.
func (p *largest) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.BinaryNode); ok && n.Operator == "matches" {
		if s, ok := n.Right.(*ast.StringNode); ok && LargePattern(s.Value) {
			p.large = s
		}
	}
}

// limiter refuses what would make a condition take too long or too much memory,
// and is known before it runs. expr visits children before their parents.
type limiter struct {
	height  map[ast.Node]int // of a loop: how many loops stand inside each other, itself included
	refused *file.Error
}

func (l *limiter) refuse(at ast.Node, format string, args ...any) {
	if l.refused == nil {
		l.refused = &file.Error{Location: at.Location(), Message: fmt.Sprintf(format, args...)}
	}
}

// Visit looks at one part of the condition.
func (l *limiter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		l.refuse(n, "a condition is one expression, without let and ;")
	case *ast.BinaryNode:
		l.binary(n)
	case *ast.BuiltinNode:
		if len(n.Arguments) > 1 && isPredicate(n.Arguments[len(n.Arguments)-1]) {
			l.loop(n)
		}
	}
}

func (l *limiter) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "+":
		if !isNumber(n.Left) || !isNumber(n.Right) {
			l.refuse(n, "a condition does not build texts; + adds numbers")
		}
	case "matches":
		if _, written := n.Right.(*ast.StringNode); !written {
			l.refuse(n.Right, "the pattern of matches is written out, in quotes")
		}
	}
}

func isPredicate(n ast.Node) bool {
	_, ok := n.(*ast.PredicateNode)
	return ok
}

func isNumber(n ast.Node) bool {
	switch n.Type().Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// loop limits how deep loops stand inside each other, and what the body of map
// and of an inner loop may do.
func (l *limiter) loop(n *ast.BuiltinNode) {
	inside := parts{loops: l}
	for i := range n.Arguments {
		ast.Walk(&n.Arguments[i], &inside)
	}
	l.height[n] = inside.height + 1
	switch {
	case l.height[n] > maxLoops:
		l.refuse(n, "more than %d loops inside each other", maxLoops)
	case l.height[n] == maxLoops && inside.inner != nil:
		l.refuse(inside.inner, "no function runs in a loop inside a loop; contains, startsWith, endsWith and matches do")
	case n.Name == "map" && body(n).maker != nil:
		l.refuse(body(n).maker, "map picks something that is there; it makes nothing new")
	}
}

// body is what the predicate of a loop does.
func body(loop *ast.BuiltinNode) parts {
	var p parts
	ast.Walk(&loop.Arguments[len(loop.Arguments)-1], &p)
	return p
}

// parts collects what stands inside a loop.
type parts struct {
	loops  *limiter
	height int      // of the highest loop inside
	inner  ast.Node // a function in the body of a loop inside
	maker  ast.Node // something that takes memory
}

// Visit looks at one part of the loop.
func (p *parts) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode, *ast.ArrayNode, *ast.MapNode:
		p.maker = n
	case *ast.BinaryNode:
		if n.Operator == ".." {
			p.maker = n
		}
	case *ast.BuiltinNode:
		p.maker = n
		if p.loops == nil || p.loops.height[n] == 0 {
			return
		}
		p.height = max(p.height, p.loops.height[n])
		if m := body(n).maker; m != nil {
			p.inner = m
		}
	}
}
