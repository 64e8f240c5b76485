package cond

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Lint calls constant for every smallest part of a condition that holds always or never,
// with a hint where there is one, and pattern for every regular expression in it. domains
// are the only values of some variables.
func Lint(t rulefile.Text, domains map[string][]string, constant func(at rulefile.Place, always bool, hint string), pattern func(source string, at rulefile.Place)) {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return // reported already
	}
	c := linter{t: t, truth: truth{domains: domains}, constant: constant, pattern: pattern}
	c.part(tree.Node)
	ast.Walk(&tree.Node, &c)
}

// linter looks at one condition.
type linter struct {
	t        rulefile.Text
	truth    truth
	constant func(at rulefile.Place, always bool, hint string)
	pattern  func(source string, at rulefile.Place)
}

// Visit looks at the patterns, and at the tests of loops.
func (c *linter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if s, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
			at := s.Location()
			c.pattern(s.Value, c.t.Span(at.From, at.To))
		}
	case *ast.PredicateNode:
		c.part(n.Node)
	}
}

// part finds the smallest parts of a formula that are constant.
func (c *linter) part(n ast.Node) (found bool) {
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
	c.constant(c.t.Span(reach(n)), value, c.hint(n))
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
func (c *linter) hint(n ast.Node) string {
	if subject, values, ok := comparison(n); ok && len(values) == 1 {
		if only, closed := c.truth.domains[subject]; closed {
			said, _ := values[0].(string)
			if w, near := rulefile.Nearest(said, only); near && w != said {
				return "did you mean " + w + "?"
			}
			return subject + " is " + strings.Join(withoutEmpty(only), " or ") + " here"
		}
	}
	return ""
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
