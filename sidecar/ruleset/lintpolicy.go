package ruleset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	if programKnown(name) {
		return
	}
	c.report(at.all(), codeRef, fmt.Sprintf("nobody knows what %s does with its arguments, so it cannot be allowed by its name", name),
		didYouMean(strings.ToLower(name), programNames()))
}

// programKnown reports whether the policy knows what a program does with its arguments.
func programKnown(name string) bool { return programs.Of(name, nil).Known }
func programNames() []string        { return programs.Names() }
