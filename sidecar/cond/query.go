package cond

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Parses reports whether a text parses as a condition. The other queries ignore one that does not, since the
// compiler reports it.
func Parses(source string) bool {
	_, err := parser.Parse(source)
	return err == nil
}

// walk calls visit for each node of a condition, children before parents.
func walk(source string, visit visitor) {
	if tree, err := parser.Parse(source); err == nil {
		ast.Walk(&tree.Node, visit)
	}
}

type visitor func(ast.Node)

func (v visitor) Visit(node *ast.Node) { v(*node) }

// Names returns the variables in a condition.
func Names(source string) map[string]bool {
	out := map[string]bool{}
	walk(source, func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			out[id.Value] = true
		}
	})
	return out
}

// Words returns the literal texts in a condition.
func Words(source string) (out []string) {
	walk(source, func(n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok {
			out = append(out, s.Value)
		}
	})
	return out
}

// Conjuncts returns the parts that a condition joins by and, in a normalized spelling.
func Conjuncts(source string) (out []string, ok bool) {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, false
	}
	for _, n := range flatten(tree.Node, "and") {
		out = append(out, n.String())
	}
	return out, true
}

// Comparison is two sides with an operator between them.
type Comparison struct {
	Operator    string
	Left, Right Side
}

// Side is one side of a comparison, or an argument of a call.
type Side struct {
	Source string // normalized
	node   ast.Node
	text   rulefile.Text
}

// Name returns the variable that the side is; empty for anything else.
func (s Side) Name() string {
	if id, ok := s.node.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return ""
}

// At returns the place of the side.
func (s Side) At() rulefile.Place { return s.text.Span(s.node.Location().From, s.node.Location().To) }

// Words returns the literal texts of the side, one or a list, each at the place of its quotes.
func (s Side) Words() []rulefile.Text { return wordsIn(s.text, s.node) }

func wordsIn(t rulefile.Text, n ast.Node) (out []rulefile.Text) {
	switch n := n.(type) {
	case *ast.ArrayNode:
		for _, e := range n.Nodes {
			out = append(out, wordsIn(t, e)...)
		}
	case *ast.StringNode:
		out = []rulefile.Text{{Value: n.Value, At: t.Span(n.Location().From, n.Location().To)}}
	}
	return out
}

func newComparison(t rulefile.Text, n *ast.BinaryNode) Comparison {
	return Comparison{n.Operator, Side{n.Left.String(), n.Left, t}, Side{n.Right.String(), n.Right, t}}
}

// Comparisons returns everything that a condition compares by these operators. The entry of a loop is named
// LIST[].
func Comparisons(t rulefile.Text, operators ...string) (out []Comparison) {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return nil
	}
	ast.Walk(&tree.Node, patcher(nameEntries))
	ast.Walk(&tree.Node, visitor(func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && slices.Contains(operators, b.Operator) {
			out = append(out, newComparison(t, b))
		}
	}))
	return out
}

// patcher is a visitor that may replace a node.
type patcher func(*ast.Node)

func (p patcher) Visit(node *ast.Node) { p(node) }

// nameEntries replaces # in a loop by the name of its entry. Inner loops were visited before.
func nameEntries(n *ast.Node) {
	loop, ok := (*n).(*ast.BuiltinNode)
	if !ok || len(loop.Arguments) < 2 {
		return
	}
	entry := loop.Arguments[0].String() + "[]"
	ast.Walk(&loop.Arguments[1], patcher(func(part *ast.Node) {
		if p, ok := (*part).(*ast.PointerNode); ok && p.Name == "" {
			ast.Patch(part, &ast.IdentifierNode{Value: entry})
		}
	}))
}

// Asserted returns the comparisons that only and and or join: what follows not asserts nothing.
func Asserted(t rulefile.Text) []Comparison {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return nil
	}
	return asserted(t, tree.Node)
}

func asserted(t rulefile.Text, n ast.Node) []Comparison {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	if op, _ := junction(n); op != "" {
		return append(asserted(t, b.Left), asserted(t, b.Right)...)
	}
	return []Comparison{newComparison(t, b)}
}

// Patterns returns the literal regular expressions in a condition.
func Patterns(t rulefile.Text) (out []rulefile.Text) {
	walk(t.Value, func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "matches" {
			out = append(out, wordsIn(t, b.Right)...)
		}
	})
	return out
}

// Calls returns the arguments of each call of a function that is a variable.
func Calls(t rulefile.Text, function string) (out [][]Side) {
	walk(t.Value, func(n ast.Node) {
		call, ok := n.(*ast.CallNode)
		if !ok || call.Callee.String() != function {
			return
		}
		var args []Side
		for _, arg := range call.Arguments {
			args = append(args, Side{arg.String(), arg, t})
		}
		out = append(out, args)
	})
	return out
}

// Loop is a loop over a list.
type Loop struct {
	Over string         // the list, normalized
	At   rulefile.Place // of the whole loop
}

// Loops returns the loops of one kind, such as all.
func Loops(t rulefile.Text, kind string) (out []Loop) {
	walk(t.Value, func(n ast.Node) {
		if b, ok := n.(*ast.BuiltinNode); ok && b.Name == kind {
			out = append(out, Loop{b.Arguments[0].String(), t.Span(extent(n))})
		}
	})
	return out
}
