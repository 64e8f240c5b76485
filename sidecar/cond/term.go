package cond

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
	"github.com/expr-lang/expr/vm"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Term is a part of a condition and what it gives: a condition is split at and, or
// and not. Every term is evaluated by itself, within the limits of a condition.
type Term struct {
	Op     string `json:"op,omitempty"` // "and", "or" or "not" over the terms in Of; empty: a leaf
	Source string `json:"source"`       // as the operator wrote it
	Place  string `json:"place"`        // file:line:column where it begins
	Value  string `json:"value"`        // "true", "false" or "error"
	Error  string `json:"error,omitempty"`
	Spare  bool   `json:"spare,omitempty"` // the condition never came to it: the terms before it had decided
	Of     []Term `json:"of,omitempty"`
}

// The values of a term.
const (
	termTrue  = "true"
	termFalse = "false"
	termError = "error"
)

// WhyNot takes a condition over E apart. It must be one that Compile took.
func WhyNot[E any](t rulefile.Text, env E, words Lists) Term {
	var limits limiter
	s := splitter[E]{text: t, env: env, runes: []rune(t.Value)}
	s.config = configured(env, &limits, &s.budget, words)
	tree, err := checker.ParseCheck(t.Value, s.config)
	if err != nil {
		return failed(Term{Source: t.Value, Place: t.All().Precise()}, err)
	}
	asWritten, _ := parser.Parse(t.Value) // it parsed before
	s.source = tree.Source
	s.tokens, _ = lexer.Lex(tree.Source) // it parsed, so it lexes
	return s.term(part{tree.Node, asWritten.Node}, false)
}

// configured is the configuration that expr.Compile makes of our options.
func configured(env any, limits *limiter, b *budget, words Lists) *conf.Config {
	c := conf.CreateNew()
	for _, set := range options(env, limits, b, words) {
		set(c)
	}
	for name := range c.Disabled {
		delete(c.Builtins, name)
	}
	return c
}

// splitter takes one condition apart.
type splitter[E any] struct {
	text   rulefile.Text
	env    E
	config *conf.Config
	budget budget // of one term
	source file.Source
	tokens []lexer.Token
	runes  []rune // of the condition
}

// part is a part of a condition, with its payments and as it was written.
type part struct{ node, written ast.Node }

// term evaluates a part of the condition. spare says that the condition itself
// never comes to it.
func (s *splitter[E]) term(p part, spare bool) Term {
	op, inner := junction(p.node)
	if op == "and" || op == "or" {
		return s.group(p, op, spare)
	}
	if join, _ := junction(inner); op != "not" || join != "and" && join != "or" {
		return s.leaf(p, spare)
	}
	of := s.term(part{inner, p.written.(*ast.UnaryNode).Node}, spare)
	t := s.at(p.written, "not", spare)
	t.Of, t.Value = []Term{of}, negated(of.Value)
	return t
}

// group evaluates terms joined by one operator; the first that decides makes the
// rest spare.
func (s *splitter[E]) group(p part, op string, spare bool) Term {
	t := s.at(p.written, op, spare)
	decides, decided := termFalse, false
	t.Value = termTrue
	if op == "or" {
		decides, t.Value = termTrue, termFalse
	}
	asWritten := flatten(p.written, op)
	for i, n := range flatten(p.node, op) {
		of := s.term(part{n, asWritten[i]}, spare || decided)
		if !decided && (of.Value == decides || of.Value == termError) {
			t.Value, decided = of.Value, true
		}
		t.Of = append(t.Of, of)
	}
	return t
}

// leaf evaluates a part that is not taken apart any further.
func (s *splitter[E]) leaf(p part, spare bool) Term {
	t, n := s.at(p.written, "", spare), p.node
	if err := optimizer.Optimize(&n, s.config); err != nil {
		return failed(t, err)
	}
	program, err := compiler.Compile(&parser.Tree{Node: n, Source: s.source}, s.config)
	if err != nil {
		return failed(t, err)
	}
	machine := vm.VM{MemoryBudget: memoryBudget}
	s.budget.left = fullBudget
	switch out, err := machine.Run(program, &s.env); {
	case err != nil:
		return failed(t, err)
	case out == true:
		t.Value = termTrue
	default:
		t.Value = termFalse
	}
	return t
}

func failed(t Term, err error) Term {
	t.Value, t.Error = termError, PlainMessage(err)
	return t
}

// at is the term of a node without its value.
func (s *splitter[E]) at(n ast.Node, op string, spare bool) Term {
	from, to := reach(n)
	return Term{Op: op, Source: s.written(n, from, to), Place: s.text.Span(from, from).Precise(), Spare: spare}
}

// written is a node as it stands in the condition, or as expr prints it where that
// is no piece of one line.
func (s *splitter[E]) written(n ast.Node, from, to int) string {
	depth := 0
	to = min(to, len([]rune(strings.TrimRight(s.text.Value, " \t\n")))) // expr places some nodes at its end
	for _, tok := range s.tokens {
		switch {
		case tok.From < from:
			continue
		case tok.Is(lexer.Bracket) && strings.Contains("([{", tok.Value):
			depth++
		case tok.Is(lexer.Bracket):
			depth--
		}
		if depth < 0 || depth == 0 && tok.To >= to {
			if source := s.runes[from:tok.To]; depth == 0 && !slices.Contains(source, '\n') {
				return string(source)
			}
			break
		}
	}
	return n.String()
}

// reach is the first rune of a node and the one after its last, but for brackets behind
// it. expr places an operator at its own sign, so the parts are asked, too.
func reach(n ast.Node) (from, to int) {
	from = -1
	ast.Walk(&n, visitor(func(part ast.Node) {
		at := part.Location()
		if at.To == 0 {
			return // nobody wrote it
		}
		if from < 0 || at.From < from {
			from = at.From
		}
		to = max(to, at.To)
	}))
	return max(from, 0), to
}

// junction is "and", "or" or "not" for a node that joins others, and what not
// stands before.
func junction(n ast.Node) (op string, inner ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			return "and", nil
		case "or", "||":
			return "or", nil
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return "not", n.Node
		}
	}
	return "", nil
}

// flatten gives the parts of a chain of one operator, in order.
func flatten(n ast.Node, op string) []ast.Node {
	b, ok := n.(*ast.BinaryNode)
	if is, _ := junction(n); !ok || is != op {
		return []ast.Node{n}
	}
	return slices.Concat(flatten(b.Left, op), flatten(b.Right, op))
}

func negated(value string) string {
	switch value {
	case termTrue:
		return termFalse
	case termFalse:
		return termTrue
	}
	return value
}
