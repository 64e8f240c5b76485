package cond

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Term is a part of a condition with its value. A condition is split at and, or and not; each term is
// evaluated by itself, within the limits of a condition.
type Term struct {
	Op     string `json:"op,omitempty"` // "and", "or" or "not" over Of; empty: a leaf
	Source string `json:"source"`       // as written
	Place  string `json:"place"`        // file:line:column of its start
	Value  string `json:"value"`        // "true", "false" or "error"
	Error  string `json:"error,omitempty"`
	Spare  bool   `json:"spare,omitempty"` // not evaluated by the condition: earlier terms decided it
	Of     []Term `json:"of,omitempty"`
}

// The values of a term.
const (
	termTrue  = "true"
	termFalse = "false"
	termError = "error"
)

// WhyNot splits a condition over E into terms. The condition must compile.
func WhyNot[E any](t rulefile.Text, env E, words Lists) Term {
	tree, err := parser.Parse(t.Value)
	if err != nil {
		return failed(Term{Source: t.Value, Place: t.All().Precise()}, err)
	}
	s := splitter[E]{text: t, env: env, words: words, whole: tree.Node, runes: []rune(t.Value)}
	s.tokens, _ = lexer.Lex(tree.Source) // it parsed, so it lexes
	return s.term(tree.Node, false)
}

// splitter splits one condition.
type splitter[E any] struct {
	text   rulefile.Text
	env    E
	words  Lists
	whole  ast.Node
	tokens []lexer.Token
	runes  []rune // of the condition
}

// term evaluates a part of the condition. spare means that the condition does not evaluate it.
func (s *splitter[E]) term(n ast.Node, spare bool) Term {
	op, inner := junction(n)
	if op == "and" || op == "or" {
		return s.group(n, op, spare)
	}
	if join, _ := junction(inner); op != "not" || join != "and" && join != "or" {
		return s.leaf(n, spare)
	}
	of := s.term(inner, spare)
	t := s.at(n, "not", spare)
	t.Of, t.Value = []Term{of}, negated(of.Value)
	return t
}

// group evaluates terms joined by one operator; the first that decides makes the rest spare.
func (s *splitter[E]) group(n ast.Node, op string, spare bool) Term {
	t := s.at(n, op, spare)
	decides, decided := termFalse, false
	t.Value = termTrue
	if op == "or" {
		decides, t.Value = termTrue, termFalse
	}
	for _, part := range flatten(n, op) {
		of := s.term(part, spare || decided)
		if !decided && (of.Value == decides || of.Value == termError) {
			t.Value, decided = of.Value, true
		}
		t.Of = append(t.Of, of)
	}
	return t
}

// leaf evaluates a part that is not split, as a condition.
func (s *splitter[E]) leaf(n ast.Node, spare bool) Term {
	t := s.at(n, "", spare)
	source := n.String()
	if n != s.whole { // what and, or and not join may be of any type
		source = "(" + source + ") ? true : false"
	}
	ev, err := newEvaluation[E](source, s.words, expr.AsBool)
	if err != nil {
		return failed(t, err)
	}
	out, err := ev.run(&s.env)
	if err != nil {
		return failed(t, err)
	}
	if t.Value = termFalse; out == true {
		t.Value = termTrue
	}
	return t
}

func failed(t Term, err error) Term {
	t.Value, t.Error = termError, PlainMessage(err)
	return t
}

// at returns the term of a node without its value.
func (s *splitter[E]) at(n ast.Node, op string, spare bool) Term {
	from, to := extent(n)
	return Term{Op: op, Source: s.sourceOf(n, from, to), Place: s.text.Span(from, from).Precise(),
		Spare: spare}
}

// sourceOf returns a node as written or, if that is not on one line, as expr prints it.
func (s *splitter[E]) sourceOf(n ast.Node, from, to int) string {
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

// extent returns the first rune of a node and the one after its last, without brackets behind it. expr places
// an operator at its sign, so the parts count, too.
func extent(n ast.Node) (from, to int) {
	from = -1
	ast.Walk(&n, visitor(func(part ast.Node) {
		at := part.Location()
		if at.To == 0 {
			return // it is not in the text
		}
		if from < 0 || at.From < from {
			from = at.From
		}
		to = max(to, at.To)
	}))
	return max(from, 0), to
}

// junction returns "and", "or" or "not" for a node that joins others, and the operand of not.
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

// flatten returns the operands of a chain of one operator, in order.
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
