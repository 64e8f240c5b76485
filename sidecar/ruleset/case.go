package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Case is a call, with all that it carries, that was looked into once. It may be judged
// several times: as it is, and as if it ran confined.
type Case struct {
	set   *Set
	at    At
	calls []examined
	why   string        // the last call cannot be judged; empty: it can
	blind *policy.Facts // of that call; nil: nothing is known
}

// examined are the facts of one call.
type examined struct{ own, locked *policy.Facts }

// maxCarried is how many calls may carry each other; a real call carries one at most.
const maxCarried = 4

// Look finds out what a call can do.
func (s *Set) Look(call tools.Call, who policy.Subject, at At) *Case {
	k := &Case{set: s, at: at}
	name, args, more := call.Name, []byte(call.Arguments), true
	for more {
		if len(k.calls) == maxCarried {
			k.why = "The call carries another one, and so on. Call the tool itself."
			return k
		}
		c, err := s.callOf(call, name, args, who)
		if err != nil {
			k.why, k.blind = err.Error(), &policy.Facts{Call: c}
			return k
		}
		k.calls = append(k.calls, s.examine(c, at))
		name, args, more = policy.Carried(name, args)
	}
	return k
}

// examine looks into one call. Authors share the facts where they see the same world.
func (s *Set) examine(c policy.Call, at At) examined {
	e := examined{own: policy.Examine(c, s.own.world(at))}
	if s.locked != nil {
		under := s.underLock(c)
		if e.locked = e.own; under.Class != c.Class || !s.oneWorld {
			e.locked = policy.Examine(under, s.locked.world(at))
		}
	}
	return e
}

// Facts are those of the call that runs in the end, as the operator's rules see it.
func (k *Case) Facts() *policy.Facts {
	if k.why != "" {
		return &policy.Facts{}
	}
	return k.calls[len(k.calls)-1].own
}

// Confinable reports whether the call that runs in the end is a command that can be confined.
func (k *Case) Confinable() bool { return k.why == "" && policy.Confinable(k.Facts().Call) }

// Decide says whether the call may leave with all that it carries: the strictest of the
// operator's policy and that of the locked folder, over each of these calls.
func (k *Case) Decide(confined bool) (d policy.Decision) {
	for i, e := range k.calls {
		one := k.set.own.decide(e.own, k.at, confined)
		if e.locked != nil {
			one = policy.Stricter(one, k.set.locked.decide(e.locked, k.at, confined))
		}
		if d = policy.Stricter(one, d); i == 0 {
			d = one
		}
	}
	if k.why != "" {
		return k.set.unjudged(k.why, d.Audits, k.blind)
	}
	return d
}

// decide judges one call by the rules of one author. For them it runs confined only if they
// trust in that.
func (a *author) decide(f *policy.Facts, at At, confined bool) policy.Decision {
	seen := *f
	seen.Call = a.sees(f.Call, confined)
	return a.policy.Decide(&seen, a.moment(at))
}

// sees is a call as the rules of an author see it.
func (a *author) sees(c policy.Call, confined bool) policy.Call {
	c.Confined = confined && a.confine != Never && policy.Confinable(c)
	return c
}

// Decide looks into a call and judges it.
func (s *Set) Decide(call tools.Call, who policy.Subject, at At) policy.Decision {
	return s.Look(call, who, at).Decide(at.Confined)
}

// unjudged is the decision about a call that Look cannot read: a denial, or a dry run of one where nothing
// is enforced.
func (s *Set) unjudged(why string, audits []policy.Finding, f *policy.Facts) policy.Decision {
	if !s.Enforces() {
		audits = append(audits, policy.Finding{Why: why, Effect: policy.Deny})
		return policy.Decision{Effect: policy.Audit, Audits: audits, Facts: f}
	}
	return policy.Decision{Effect: policy.Deny, Why: why, Audits: audits, Facts: f}
}

// callOf is a call as rules see it.
func (s *Set) callOf(call tools.Call, name string, args []byte, who policy.Subject) (policy.Call, error) {
	c, err := policy.CallOf(name, string(s.Tools.Class(name)), args)
	c.Kind, c.Strategy, c.Confidence = s.Tools.Kind(name), call.Strategy, call.Confidence
	return c.From(who), err
}

// underLock is a call as the locked folder sees it. The operator cannot make its class
// less harmful than the program says.
func (s *Set) underLock(c policy.Call) policy.Call {
	c.Class = string(tools.Class(c.Class).AtLeast(s.floors.Class(c.Tool)))
	return c
}
