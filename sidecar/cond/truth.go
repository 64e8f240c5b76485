package cond

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// maxCases bounds how many cases a condition is tried in.
const maxCases = 4096

// otherText stands for a text that no constant of a condition is.
const otherText = "\x00"

// truth tries a formula in every case that could make a difference. What it looks
// at falls into subjects, which are compared with constants, and tests that may be
// true or false independently. There are never fewer cases than can really occur,
// so a formula that is the same in all of them is so for every reply.
type truth struct {
	domains  map[string][]string // the only values of some variables
	subjects map[string][]any    // the values that make a difference
	tests    []string
	now      map[string]any // the case at hand, by the text of a subject or test
}

// always reports whether a formula has the same value in every case, and which.
func (t *truth) always(n ast.Node) (value, constant bool) {
	t.subjects, t.tests, t.now = map[string][]any{}, nil, map[string]any{}
	t.collect(n)
	names := slices.Clone(t.tests)
	for _, name := range t.tests {
		t.subjects[name] = []any{false, true}
	}
	cases := 1
	for name, values := range t.subjects {
		if !slices.Contains(names, name) {
			t.subjects[name] = t.candidates(name, values)
			names = append(names, name)
		}
		if cases *= len(t.subjects[name]); cases > maxCases {
			return false, false
		}
	}
	seen := map[bool]bool{}
	t.each(names, func() { seen[t.eval(n)] = true })
	return seen[true], len(seen) == 1
}

// each calls f in every case.
func (t *truth) each(names []string, f func()) {
	if len(names) == 0 {
		f()
		return
	}
	for _, v := range t.subjects[names[0]] {
		t.now[names[0]] = v
		t.each(names[1:], f)
	}
}

// collect gathers what a formula looks at.
func (t *truth) collect(n ast.Node) {
	if parts := formula(n); parts != nil {
		for _, p := range parts {
			t.collect(p)
		}
		return
	}
	if _, written := n.(*ast.BoolNode); written {
		return
	}
	if subject, values, ok := comparison(n); ok {
		if subject != "" {
			t.subjects[subject] = append(t.subjects[subject], values...)
		}
		return
	}
	if name := n.String(); !trivial(n) && !slices.Contains(t.tests, name) {
		t.tests = append(t.tests, name)
	}
}

// formula gives the parts of what and, or, not and ?: make of them; nil for
// anything else.
func formula(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return []ast.Node{n.Node}
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			return []ast.Node{n.Left, n.Right}
		}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	}
	return nil
}

// trivial reports whether n is a search for the empty text, which is everywhere.
func trivial(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "contains" && b.Operator != "startsWith" && b.Operator != "endsWith" {
		return false
	}
	s, ok := b.Right.(*ast.StringNode)
	return ok && s.Value == ""
}

// eval is the value of a formula in the case at hand.
func (t *truth) eval(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return n.Value
	case *ast.UnaryNode:
		if formula(n) != nil {
			return !t.eval(n.Node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			return t.eval(n.Left) && t.eval(n.Right)
		case "or", "||":
			return t.eval(n.Left) || t.eval(n.Right)
		}
		if _, _, ok := comparison(n); ok {
			return t.compare(n)
		}
	case *ast.ConditionalNode:
		if t.eval(n.Cond) {
			return t.eval(n.Exp1)
		}
		return t.eval(n.Exp2)
	}
	if trivial(n) {
		return true
	}
	return t.now[n.String()] == true
}
