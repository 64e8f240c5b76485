package cond

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Most conditions cannot hold for most commands, and one look at a tag or a name shows
// it. Glance is that look: it is false only where the condition would be false, too, and
// evaluated without an error.

// Sights are what can be told at a look of what a condition sees, by its name.
type Sights[E any] struct {
	Texts map[string]func(*E) string
	Flags map[string]func(*E) bool
	Lists map[string]func(*E) []string
	Sizes map[string]func(*E) int // of lists
}

// entrySights are those of a test of an entry of a list of texts.
var entrySights = Sights[string]{Texts: map[string]func(*string) string{"#": func(s *string) string { return *s }}}

// look is a part of a condition as far as it can be told by a look.
type look[E any] struct {
	may   func(*E) bool // false: the part is false
	exact bool          // true: the part is true
	safe  bool          // the part never fails
}

// Glance gives the look at a condition, which has been compiled; nil: it tells nothing.
func Glance[E any](source string, words Lists, sees Sights[E]) func(*E) bool {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil
	}
	l := looker[E]{words, sees}
	return l.at(tree.Node).may
}

type looker[E any] struct {
	words  Lists
	sights Sights[E]
}

func (l looker[E]) at(n ast.Node) look[E] {
	switch op, inner := junction(n); op {
	case "and":
		b := n.(*ast.BinaryNode)
		return together(l.at(b.Left), l.at(b.Right))
	case "or":
		b := n.(*ast.BinaryNode)
		return either(l.at(b.Left), l.at(b.Right))
	case "not":
		in := l.at(inner)
		if in.exact && in.safe {
			return look[E]{func(e *E) bool { return !in.may(e) }, true, true}
		}
		return look[E]{safe: in.safe}
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		return l.compare(n)
	case *ast.MemberNode:
		if flag := l.sights.Flags[n.String()]; flag != nil {
			return look[E]{flag, true, true}
		}
	case *ast.IdentifierNode:
		if flag := l.sights.Flags[n.Value]; flag != nil {
			return look[E]{flag, true, true}
		}
	case *ast.BuiltinNode:
		if n.Name == "any" && len(n.Arguments) == 2 {
			return l.any(n)
		}
	}
	return look[E]{safe: l.plain(n)}
}

// any looks for an entry of a list of texts that passes a simple test, or whether there is
// an entry at all.
func (l looker[E]) any(n *ast.BuiltinNode) look[E] {
	name := n.Arguments[0].String()
	if list := l.sights.Lists[name]; list != nil {
		entry := looker[string]{l.words, entrySights}
		if test := entry.at(n.Arguments[1].(*ast.PredicateNode).Node); test.exact && test.safe {
			return look[E]{func(e *E) bool {
				list := list(e)
				for i := range list {
					if test.may(&list[i]) {
						return true
					}
				}
				return false
			}, true, true}
		}
	}
	if size := l.sights.Sizes[name]; size != nil {
		return look[E]{func(e *E) bool { return size(e) > 0 }, false, l.plain(n.Arguments[1])}
	}
	return look[E]{safe: l.plain(n)}
}

// together is a look at two parts of which the second is only evaluated if the first holds.
func together[E any](a, b look[E]) look[E] {
	out := look[E]{exact: a.exact && b.exact, safe: a.safe && b.safe}
	switch {
	case a.may == nil && (b.may == nil || !a.safe):
	case a.may == nil:
		out.may = b.may
	case b.may == nil || !a.safe:
		out.may = a.may
	default:
		out.may = func(e *E) bool { return a.may(e) && b.may(e) }
	}
	return out
}

// either is a look at two parts of which the second is only evaluated if the first does
// not hold.
func either[E any](a, b look[E]) look[E] {
	out := look[E]{exact: a.exact && b.exact, safe: a.safe && b.safe}
	if a.may != nil && b.may != nil {
		out.may = func(e *E) bool { return a.may(e) || b.may(e) }
	}
	return out
}

// compare looks at a comparison of something that can be seen with constants.
func (l looker[E]) compare(n *ast.BinaryNode) look[E] {
	left, right := n.Left.String(), n.Right.String()
	text := l.sights.Texts[left]
	switch {
	case n.Operator == "in" && text != nil:
		if words, ok := l.constants(n.Right); ok {
			return look[E]{func(e *E) bool { return words[text(e)] }, true, true}
		}
	case n.Operator == "in" && l.sights.Lists[right] != nil:
		if s, ok := n.Left.(*ast.StringNode); ok {
			list := l.sights.Lists[right]
			return look[E]{func(e *E) bool { return slices.Contains(list(e), s.Value) }, true, true}
		}
	case (n.Operator == "==" || n.Operator == "!=") && text != nil:
		if s, ok := n.Right.(*ast.StringNode); ok {
			same := n.Operator == "=="
			return look[E]{func(e *E) bool { return (text(e) == s.Value) == same }, true, true}
		}
	case textTests[n.Operator] != nil && text != nil:
		if s, ok := n.Right.(*ast.StringNode); ok {
			test := textTests[n.Operator]
			return look[E]{func(e *E) bool { return test(text(e), s.Value) }, true, true}
		}
	case n.Operator == ">":
		if zero, ok := n.Right.(*ast.IntegerNode); ok && zero.Value == 0 {
			if length, ok := n.Left.(*ast.BuiltinNode); ok && length.Name == "len" && len(length.Arguments) == 1 {
				if size := l.sights.Sizes[length.Arguments[0].String()]; size != nil {
					return look[E]{func(e *E) bool { return size(e) > 0 }, true, true}
				}
			}
		}
	}
	return look[E]{safe: l.plain(n)}
}

// textTests are the operators that look into a text.
var textTests = map[string]func(text, part string) bool{
	"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
}

// constants are the words of a list: written out, or by name.
func (l looker[E]) constants(n ast.Node) (map[string]bool, bool) {
	out := map[string]bool{}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		words, ok := l.words[n.Value]
		for _, w := range words {
			out[w] = true
		}
		return out, ok
	case *ast.ArrayNode:
		for _, e := range n.Nodes {
			s, ok := e.(*ast.StringNode)
			if !ok {
				return nil, false
			}
			out[s.Value] = true
		}
		return out, true
	}
	return nil, false
}

// plain reports whether a part can never fail: it only compares what is always there.
func (l looker[E]) plain(n ast.Node) bool {
	p := plainness[E]{l: l, plain: true}
	ast.Walk(&n, &p)
	return p.plain
}

type plainness[E any] struct {
	l     looker[E]
	plain bool
}

// Visit looks at one part.
func (p *plainness[E]) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.StringNode, *ast.BoolNode, *ast.IntegerNode, *ast.ArrayNode, *ast.PredicateNode, *ast.PointerNode:
	case *ast.IdentifierNode:
		p.plain = p.plain && n.Value != "args" && n.Value != "rate"
	case *ast.MemberNode:
		_, name := n.Property.(*ast.StringNode)
		p.plain = p.plain && name
	case *ast.UnaryNode:
		p.plain = p.plain && (n.Operator == "not" || n.Operator == "!")
	case *ast.BinaryNode:
		p.plain = p.plain && slices.Contains([]string{"==", "!=", "in", "and", "&&", "or", "||", "startsWith", "endsWith"}, n.Operator)
	default:
		p.plain = false
	}
}
