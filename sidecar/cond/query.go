package cond

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// What a condition says, as rules about conditions ask for it. A condition that cannot be
// read says nothing here: the compiler reports it.

// Parses reports whether a text can be read as a condition.
func Parses(source string) bool {
	_, err := parser.Parse(source)
	return err == nil
}

// each calls visit for every node of a condition, children before their parents.
func each(source string, visit visitor) {
	if tree, err := parser.Parse(source); err == nil {
		ast.Walk(&tree.Node, visit)
	}
}

type visitor func(ast.Node)

// Visit takes in one node.
func (v visitor) Visit(node *ast.Node) { v(*node) }

// Names are the variables that a condition names.
func Names(source string) map[string]bool {
	out := map[string]bool{}
	each(source, func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			out[id.Value] = true
		}
	})
	return out
}

// Words are the texts that a condition writes out.
func Words(source string) (out []string) {
	each(source, func(n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok {
			out = append(out, s.Value)
		}
	})
	return out
}

// Conjuncts are the parts that a condition joins by and, each in one spelling.
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
	Source string // in one spelling
	node   ast.Node
	text   rulefile.Text
}

// Name is the variable that the side is; empty for anything else.
func (s Side) Name() string {
	if id, ok := s.node.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return ""
}

// At is where it stands.
func (s Side) At() rulefile.Place { return s.text.Span(s.node.Location().From, s.node.Location().To) }

// Words are the texts that are written there, one or a list of them. Each stands where its
// quotes do.
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

func compared(t rulefile.Text, n *ast.BinaryNode) Comparison {
	return Comparison{n.Operator, Side{n.Left.String(), n.Left, t}, Side{n.Right.String(), n.Right, t}}
}

// Comparisons are all that a condition compares by some operators. An entry that a loop looks at is LIST[]
// there.
func Comparisons(t rulefile.Text, operators ...string) (out []Comparison) {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return nil
	}
	ast.Walk(&tree.Node, patcher(nameEntries))
	ast.Walk(&tree.Node, visitor(func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && slices.Contains(operators, b.Operator) {
			out = append(out, compared(t, b))
		}
	}))
	return out
}

// patcher is a visitor that may put something else in the place of a node.
type patcher func(*ast.Node)

// Visit takes in one node.
func (p patcher) Visit(node *ast.Node) { p(node) }

// nameEntries says of which list # is an entry, in the loop that n is. Loops inside of it were
// visited before.
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

// Asserted are the comparisons, by whatever operator, that nothing but and and or joins:
// what stands behind not asserts nothing.
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
	return []Comparison{compared(t, b)}
}

// Patterns are the regular expressions that a condition writes out.
func Patterns(t rulefile.Text) (out []rulefile.Text) {
	each(t.Value, func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "matches" {
			out = append(out, wordsIn(t, b.Right)...)
		}
	})
	return out
}

// Calls are the arguments of every call of a function that is a variable.
func Calls(t rulefile.Text, function string) (out [][]Side) {
	each(t.Value, func(n ast.Node) {
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
	Over string         // the list, in one spelling
	At   rulefile.Place // all of the loop
}

// Loops are the loops of one kind, such as all.
func Loops(t rulefile.Text, kind string) (out []Loop) {
	each(t.Value, func(n ast.Node) {
		if b, ok := n.(*ast.BuiltinNode); ok && b.Name == kind {
			out = append(out, Loop{b.Arguments[0].String(), t.Span(reach(n))})
		}
	})
	return out
}
