package cond

import (
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// comparison reads a comparison with constants: what is compared (empty where both
// sides are constant), and the constants. Texts are only compared for being equal.
func comparison(n ast.Node) (subject string, values []any, ok bool) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return "", nil, false
	}
	if b.Operator == "in" {
		list, ok := b.Right.(*ast.ArrayNode)
		if !ok || len(list.Nodes) == 0 {
			return "", nil, false
		}
		for _, e := range list.Nodes {
			v, ok := written(e)
			if !ok {
				return "", nil, false
			}
			values = append(values, v)
		}
		return varying(b.Left, values)
	}
	switch b.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
	default:
		return "", nil, false
	}
	subjectSide, constSide := b.Left, b.Right
	v, ok := written(constSide)
	if !ok {
		subjectSide, constSide = constSide, subjectSide
		if v, ok = written(constSide); !ok {
			return "", nil, false
		}
	}
	if _, number := v.(float64); !number && b.Operator != "==" && b.Operator != "!=" {
		return "", nil, false
	}
	return varying(subjectSide, []any{v})
}

// varying is the side of a comparison that may vary.
func varying(n ast.Node, values []any) (string, []any, bool) {
	v, ok := written(n)
	if !ok {
		return n.String(), values, true
	}
	_, number := v.(float64)
	return "", values, !slices.ContainsFunc(values, func(o any) bool { _, is := o.(float64); return is != number })
}

// written is the value of a node that is a constant: a string, float64 or bool.
func written(n ast.Node) (any, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.BoolNode:
		return n.Value, true
	case *ast.IntegerNode:
		return float64(n.Value), true
	case *ast.FloatNode:
		return n.Value, true
	case *ast.UnaryNode:
		if v, ok := written(n.Node); ok && n.Operator == "-" {
			x, number := v.(float64)
			return -x, number
		}
	}
	return nil, false
}

// candidates are the values of a subject that a comparison with these constants
// can tell apart.
func (t *truth) candidates(subject string, constants []any) (out []any) {
	if only, closed := t.domains[subject]; closed {
		for _, v := range only {
			out = append(out, v)
		}
		return out
	}
	var numbers []float64
	out = append(out, constants...)
	for _, c := range constants {
		switch c := c.(type) {
		case float64:
			numbers = append(numbers, c)
		case bool:
			out = append(out, !c)
		}
	}
	slices.Sort(numbers)
	for i, x := range numbers {
		out = append(out, math.Nextafter(x, math.Inf(1)), x+1)
		if i == 0 {
			out = append(out, x-1)
		} else {
			out = append(out, (x+numbers[i-1])/2)
		}
	}
	switch {
	case strings.HasPrefix(subject, "len(") || strings.HasPrefix(subject, "count("):
		out = slices.DeleteFunc(out, func(v any) bool { x, is := v.(float64); return is && (x < 0 || x != math.Trunc(x)) })
		out = append(out, 0.0)
	case len(numbers) > 0:
		out = append(out, math.NaN())
	default:
		out = append(out, otherText)
	}
	return distinct(out)
}

func distinct(list []any) (out []any) {
	for _, v := range list {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// compare is the value of a comparison in the case at hand.
func (t *truth) compare(b *ast.BinaryNode) bool {
	left := t.valueOf(b.Left)
	if b.Operator == "in" {
		return slices.ContainsFunc(b.Right.(*ast.ArrayNode).Nodes, func(e ast.Node) bool { return t.valueOf(e) == left })
	}
	right := t.valueOf(b.Right)
	switch b.Operator {
	case "==":
		return left == right
	case "!=":
		return left != right
	}
	x, ok1 := left.(float64)
	y, ok2 := right.(float64)
	if !ok1 || !ok2 {
		return false
	}
	switch b.Operator {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func (t *truth) valueOf(n ast.Node) any {
	if v, ok := written(n); ok {
		return v
	}
	return t.now[n.String()]
}
