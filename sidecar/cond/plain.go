package cond

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// verdict is what is known of a condition before expr runs it.
type verdict uint8

const (
	unknown verdict = iota // only expr can tell
	no
	yes
)

func verdictOf(holds bool) verdict {
	if holds {
		return yes
	}
	return no
}

// test is a part of a condition that compares fields with literals. Where it knows the result, expr gives the
// same: nothing in it can fail, and and and or stop where they do in expr.
type test func(env reflect.Value) verdict

// plain returns the test of a condition over the fields of a struct; nil: expr must run. Most rules first ask
// for a tag or a name, which most operands lack.
func plain(source string, env reflect.Type, words Lists) test {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil
	}
	return planner{env, words}.test(tree.Node)
}

// Needs returns words without which a condition cannot hold, by field: one of the fields is such a word, or
// has one. It is nil if the first part of the condition, the only one examined, has none.
func Needs(source string, words Lists) map[string]map[string]bool {
	tree, err := parser.Parse(source)
	fields := map[string]map[string]bool{}
	if err != nil || !(planner{words: words}).needs(tree.Node, fields) {
		return nil
	}
	return fields
}

func (p planner) needs(n ast.Node, fields map[string]map[string]bool) bool {
	b, is := n.(*ast.BinaryNode)
	if !is {
		return false
	}
	switch op, _ := junction(n); op {
	case "and":
		return p.needs(b.Left, fields)
	case "or":
		return p.needs(b.Left, fields) && p.needs(b.Right, fields)
	}
	field, words := b.Left, b.Right
	if _, written := field.(*ast.StringNode); written && b.Operator == "in" {
		field, words = words, field
	}
	set, listed := p.list(words)
	if !listed || b.Operator != "in" && b.Operator != "==" {
		return false
	}
	maps.Copy(set, fields[field.String()])
	fields[field.String()] = set
	return true
}

// planner makes tests over one struct.
type planner struct {
	env   reflect.Type
	words Lists
}

func (p planner) test(n ast.Node) test {
	switch op, inner := junction(n); op {
	case "and", "or":
		b := n.(*ast.BinaryNode)
		return junctionTest(p.test(b.Left), p.test(b.Right), op == "and")
	case "not":
		return negate(p.test(inner))
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		return p.comparison(n)
	case *ast.BuiltinNode:
		return p.loop(n)
	}
	if f := p.field(n); f != nil && f.kind.Kind() == reflect.Bool {
		return f.test(func(v reflect.Value) verdict { return verdictOf(v.Bool()) })
	}
	return nil
}

// junctionTest joins two tests by and or or. If the first is unknown, so is the result.
func junctionTest(left, right test, and bool) test {
	if left == nil {
		return nil
	}
	return func(env reflect.Value) verdict {
		switch v := left(env); {
		case v == unknown || v == verdictOf(!and):
			return v
		case right == nil:
			return unknown
		}
		return right(env)
	}
}

func negate(t test) test {
	if t == nil {
		return nil
	}
	return func(env reflect.Value) verdict {
		if v := t(env); v != unknown {
			return yes + no - v
		}
		return unknown
	}
}

// comparison tests a field against literals.
func (p planner) comparison(n *ast.BinaryNode) test {
	left, right := p.field(n.Left), p.field(n.Right)
	word, written := n.Right.(*ast.StringNode)
	switch op := n.Operator; {
	case left.is(reflect.String) && (op == "in" || op == "=="):
		list, listed := p.list(n.Right)
		return left.text(listed, func(s string) bool { return list[s] })
	case right.is(reflect.Slice) && op == "in":
		first, is := n.Left.(*ast.StringNode)
		if !is || right.kind != reflect.TypeFor[[]string]() {
			return nil
		}
		return right.test(func(list reflect.Value) verdict {
			for i := range list.Len() {
				if list.Index(i).String() == first.Value {
					return yes
				}
			}
			return no
		})
	case op == ">":
		return p.lengthTest(n)
	case !left.is(reflect.String):
		return nil
	case op == "!=":
		return left.text(written, func(s string) bool { return s != word.Value })
	case op == "startsWith":
		return left.text(written, func(s string) bool { return strings.HasPrefix(s, word.Value) })
	}
	return nil
}

// lengthTest tests for more entries than a number.
func (p planner) lengthTest(n *ast.BinaryNode) test {
	length, counts := n.Left.(*ast.BuiltinNode)
	than, written := n.Right.(*ast.IntegerNode)
	if !counts || !written || length.Name != "len" {
		return nil
	}
	f := p.field(length.Arguments[0])
	if !f.is(reflect.Slice) {
		return nil
	}
	return f.test(func(list reflect.Value) verdict { return verdictOf(list.Len() > than.Value) })
}

// list returns a literal or named list of words, or a single word.
func (p planner) list(n ast.Node) (set map[string]bool, ok bool) {
	words := p.words[sourceName(n)]
	if s, is := n.(*ast.StringNode); is {
		words = []string{s.Value}
	} else if a, is := n.(*ast.ArrayNode); is {
		for _, e := range a.Nodes {
			s, is := e.(*ast.StringNode)
			if !is {
				return nil, false
			}
			words = append(words, s.Value)
		}
	}
	set = map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set, words != nil
}

func sourceName(n ast.Node) string { return Side{node: n}.Name() }

// loop knows the result of loops over an empty list.
func (p planner) loop(n *ast.BuiltinNode) test {
	if len(n.Arguments) == 0 {
		return nil
	}
	empty, known := map[string]verdict{"any": no, "all": yes, "none": yes}[n.Name]
	f := p.field(n.Arguments[0])
	if !known || !f.is(reflect.Slice) {
		return nil
	}
	return f.test(func(list reflect.Value) verdict {
		if list.Len() == 0 {
			return empty
		}
		return unknown
	})
}

// field is the path to a field of a struct.
type field struct {
	path []int // through structs and pointers
	kind reflect.Type
}

// field finds the field of a name such as cmd.tags; nil: none.
func (p planner) field(n ast.Node) *field {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if p.words[n.Value] == nil {
			return (&field{kind: p.env}).member(n.Value)
		}
	case *ast.MemberNode:
		if name, is := n.Property.(*ast.StringNode); is && !n.Optional {
			return p.field(n.Node).member(name.Value)
		}
	}
	return nil
}

// member returns a field of the struct in f, by its tag.
func (f *field) member(name string) *field {
	if f == nil {
		return nil
	}
	in := f.kind
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	if in.Kind() != reflect.Struct {
		return nil
	}
	for _, s := range reflect.VisibleFields(in) {
		if s.Tag.Get("expr") == name {
			return &field{slices.Concat(f.path, s.Index), s.Type}
		}
	}
	return nil
}

func (f *field) is(k reflect.Kind) bool { return f != nil && f.kind.Kind() == k }

// test tests the value of the field. Behind a nil pointer it is unknown.
func (f *field) test(holds func(reflect.Value) verdict) test {
	return func(v reflect.Value) verdict {
		for _, i := range f.path {
			if v.Kind() == reflect.Pointer {
				if v = v.Elem(); !v.IsValid() {
					return unknown
				}
			}
			v = v.Field(i)
		}
		return holds(v)
	}
}

// text tests the text in the field; nil if it does not apply.
func (f *field) text(applies bool, holds func(string) bool) test {
	if !applies {
		return nil
	}
	return f.test(func(v reflect.Value) verdict { return verdictOf(holds(v.String())) })
}
