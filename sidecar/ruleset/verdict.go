package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Verdict is the result of one rule for a call.
type Verdict struct {
	Rule   string        `json:"rule"`
	Place  string        `json:"place"` // file:line
	Effect policy.Effect `json:"effect"`
	Shadow bool          `json:"shadow,omitempty"`
	Holds  bool          `json:"holds"`
	// the program, path or URL for which it holds, or that was tried first
	Operand string     `json:"operand,omitempty"`
	Error   string     `json:"error,omitempty"`
	Term    *cond.Term `json:"condition,omitempty"` // nil: the rule has none
}

// verdictFunc returns the verdict of one rule; ok is false if there is nothing to try it on.
type verdictFunc func(*policy.Facts, policy.Moment) (v Verdict, ok bool)

// newVerdict returns the verdict of a rule: on the first operand for which it holds, else on the first one.
func newVerdict[E any](rule policy.Rule[E], when *rulefile.Text, words cond.Lists,
	on operands[E]) verdictFunc {
	return func(f *policy.Facts, m policy.Moment) (v Verdict, ok bool) {
		v = Verdict{Rule: rule.ID, Place: rule.Place, Effect: rule.Effect, Shadow: rule.Shadow}
		for env, o := range on(f, m) {
			holds, err := rule.Holds(env)
			if ok && !holds && err == nil {
				continue
			}
			ok = true
			v.Holds, v.Operand = holds, o.Name
			if err != nil {
				v.Error = cond.PlainMessage(err)
			}
			if when != nil {
				term := cond.WhyNot(*when, *env, words)
				v.Term = &term
			}
			if holds || err != nil {
				break
			}
		}
		return v, ok
	}
}

// Verdicts returns the verdict of every rule about a call, in the order of the files, then of the locked
// folder. It omits rules about what the call does not do. A call that cannot be judged has none.
func (s *Set) Verdicts(call tools.Call, who policy.Subject, at At) []Verdict {
	c, err := s.callOf(call, call.Name, call.Arguments, who)
	if err != nil {
		return nil
	}
	var out []Verdict
	add := func(a *author, c policy.Call) {
		f, m := policy.Examine(a.asSeen(c, at.Confined), a.world(at)), a.moment(at)
		for _, verdict := range a.rules {
			if v, ok := verdict(f, m); ok {
				out = append(out, v)
			}
		}
	}
	add(s.own, c)
	if s.locked != nil {
		add(s.locked, s.underLock(c))
	}
	return out
}
