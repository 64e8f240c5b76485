package ruleset

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// lintCondition warns about the parts of a condition that are always true or
// never, and looks at its patterns. domains are the only values of some variables.
func (l *loader) lintCondition(t text, domains map[string][]string) {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return // reported already
	}
	c := condLint{l: l, t: t, truth: truth{domains: domains}}
	c.part(tree.Node)
	ast.Walk(&tree.Node, &c)
}

// condLint looks at one condition.
type condLint struct {
	l     *loader
	t     text
	truth truth
}

// Visit looks at the patterns, and at the tests of loops.
func (c *condLint) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if s, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
			at := s.Location()
			c.l.lintPattern(s.Value, c.t.span(at.From, at.To))
		}
	case *ast.PredicateNode:
		c.part(n.Node)
	}
}

// part warns about the smallest parts of a formula that are constant.
func (c *condLint) part(n ast.Node) (found bool) {
	for _, p := range formula(n) {
		found = c.part(p) || found
	}
	if found || !isTest(n) {
		return found
	}
	value, constant := c.truth.always(n)
	if !constant {
		return false
	}
	msg := "this never holds"
	if value {
		msg = "this always holds"
	}
	c.l.warn(c.t.span(reach(n)), codeUnreachable, msg, c.hint(n))
	return true
}

// isTest reports whether n is something that is true or false.
func isTest(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return true
	case *ast.BinaryNode:
		_, _, compares := comparison(n)
		return compares || formula(n) != nil || trivial(n)
	case *ast.UnaryNode, *ast.ConditionalNode:
		return formula(n) != nil
	}
	return false
}

// hint says what a variable can be that is compared with something else.
func (c *condLint) hint(n ast.Node) string {
	if subject, values, ok := comparison(n); ok && len(values) == 1 {
		if only, closed := c.truth.domains[subject]; closed {
			said, _ := values[0].(string)
			if w, near := nearest(said, only); near && w != said {
				return "did you mean " + w + "?"
			}
			return subject + " is " + strings.Join(withoutEmpty(only), " or ") + " here"
		}
	}
	return "every part of a condition should make a difference; without `when`, a strategy always reads"
}

func withoutEmpty(list []string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// reach is the first rune of a node and the one after its last. expr places an
// operator at its own sign, so the parts are asked, too.
func reach(n ast.Node) (from, to int) {
	e := span{from: n.Location().From, to: n.Location().To}
	ast.Walk(&n, &e)
	return e.from, e.to
}

// span grows with every node that it visits.
type span struct{ from, to int }

// Visit takes in one node.
func (s *span) Visit(node *ast.Node) {
	at := (*node).Location()
	s.from, s.to = min(s.from, at.From), max(s.to, at.To)
}
