package ruleset

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/jgavinray/gpt-oss-executor/policy"
	programs "github.com/jgavinray/gpt-oss-executor/policy/program"
)

// exampleTime is when the examples of rules happen: a Monday at noon.
var exampleTime = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// rates checks the calls of rate in a condition: what cannot be counted would be 0.
func (c *ruleCompiler) rates(when text) {
	tree, err := parser.Parse(when.Value)
	if err != nil {
		return // reported by the compiler
	}
	v := rateCheck{c.loader, when}
	ast.Walk(&tree.Node, &v)
}

type rateCheck struct {
	l    *loader
	when text
}

// Visit looks at one part of the condition.
func (v *rateCheck) Visit(node *ast.Node) {
	call, ok := (*node).(*ast.CallNode)
	if !ok || call.Callee.String() != "rate" || len(call.Arguments) != 2 {
		return
	}
	for i, arg := range call.Arguments {
		s, written := arg.(*ast.StringNode)
		at := v.when.span(arg.Location().From, arg.Location().To)
		if !written {
			v.l.report(at, codeExpr, "what rate counts is written out, in quotes", "rate('deletes', '10m') > 20")
			continue
		}
		if i == 0 && !slices.Contains(policy.RateKinds(), s.Value) {
			v.l.report(at, codeValue, "rate counts no "+strconv.Quote(s.Value), didYouMean(s.Value, policy.RateKinds()))
		}
		if d, err := time.ParseDuration(s.Value); i == 1 && (err != nil || d <= 0 || d > 24*time.Hour) {
			v.l.report(at, codeValue, s.Value+" is no window", "write 30s, 10m or 2h, up to 24h")
		}
	}
}

// listed checks that a program may be allowed by its name.
func (c *ruleCompiler) listed(at text, name string) {
	if programs.Of(name, nil).Known {
		return
	}
	hint := "what is not known is asked about; leave it out"
	if w, near := nearest(name, programs.Names()); near {
		hint = "did you mean " + w + "?"
	}
	c.report(at.all(), codeRef, fmt.Sprintf("nobody knows what %s does with its arguments, so it cannot be allowed by its name", name), hint)
}

// allowed checks the programs that a rule allows by their names: cmd.binary == 'x', or
// cmd.binary in [x, y] or in a list.
func (c *ruleCompiler) allowed(r policyRule) {
	if r.Allow == nil || r.When == nil {
		return
	}
	tree, err := parser.Parse(r.When.Value)
	if err == nil { // else reported by the compiler
		c.allowedIn(tree.Node, *r.When)
	}
}

func (c *ruleCompiler) allowedIn(n ast.Node, when text) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return // what stands behind not allows nothing
	}
	if op, _ := junction(n); op != "" {
		c.allowedIn(b.Left, when)
		c.allowedIn(b.Right, when)
		return
	}
	if b.Left.String() != "cmd.binary" || b.Operator != "in" && b.Operator != "==" {
		return
	}
	name := func(n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok && s.Value != "" {
			c.listed(text{s.Value, when.span(s.Location().From, s.Location().To), ""}, s.Value)
		}
	}
	switch right := b.Right.(type) {
	case *ast.StringNode:
		name(right)
	case *ast.ArrayNode:
		for _, e := range right.Nodes {
			name(e)
		}
	case *ast.IdentifierNode:
		for _, list := range c.named {
			for _, entry := range list.Value {
				if list.Key.Value == right.Value {
					c.listed(entry, entry.Value)
				}
			}
		}
	}
}
