package ruleset

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// exampleTime is the time of the examples of rules: a Monday at noon.
var exampleTime = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// checkRates checks calls of rate in a condition: what cannot be counted would be 0.
func (c *ruleCompiler) checkRates(when rulefile.Text) {
	for _, args := range cond.Calls(when, "rate") {
		if len(args) != 2 {
			continue // reported by the compiler
		}
		for i, arg := range args {
			at, words := arg.At(), arg.Words()
			if len(words) != 1 {
				c.report(at, cond.CodeExpr, "rate needs texts that are written out",
					"write rate('deletes', '10m') > 20")
				continue
			}
			s := words[0].Value
			if tool, ofTool := strings.CutPrefix(s, policy.RateOfTool); i == 0 &&
				!slices.Contains(policy.RateKinds(), s) && (!ofTool || tool == "") {
				c.report(at, rulefile.CodeValue, "rate does not count "+strconv.Quote(s),
					rulefile.DidYouMean(s, append(policy.RateKinds(), policy.RateOfTool+"NAME")))
			}
			if d, err := time.ParseDuration(s); i == 1 && (err != nil || d <= 0 || d > 24*time.Hour) {
				c.report(at, rulefile.CodeValue, s+" is not a window of time",
					"write 30s, 10m or 2h, up to 24h")
			}
		}
	}
}

// checkKnown checks that a program may be allowed by its name.
func (c *ruleCompiler) checkKnown(at rulefile.Text, name string) {
	if c.set.Programs.Knows(name) {
		return
	}
	c.report(at.All(), rulefile.CodeRef,
		name+" cannot be allowed by its name: no row describes what it does with its arguments",
		rulefile.DidYouMeanOr(name, c.set.Programs.Names(),
			"leave it out; a person is asked about programs without a row"))
}

// checkAllowed checks the programs that a rule allows by name: cmd.binary == 'x', or cmd.binary in [x, y] or
// in a list. What follows not allows nothing.
func (c *ruleCompiler) checkAllowed(r policyRule) {
	if r.Allow == nil || r.When == nil {
		return
	}
	for _, x := range cond.Asserted(*r.When) {
		if x.Left.Source != "cmd.binary" || x.Operator != "in" && x.Operator != "==" {
			continue
		}
		for _, name := range x.Right.Words() {
			if name.Value != "" {
				c.checkKnown(name, name.Value)
			}
		}
		for _, list := range c.named {
			if name := x.Right.Name(); name != "" && name == list.Key.Value {
				for _, entry := range list.Value {
					c.checkKnown(entry, entry.Value)
				}
			}
		}
	}
}
