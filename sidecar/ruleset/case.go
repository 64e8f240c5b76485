package ruleset

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Case is an examined call with all calls inside it. It can be judged several times: as it is, and as if it
// ran confined.
type Case struct {
	set    *Set
	at     At
	calls  []examined
	why    string        // why the last call cannot be judged; empty: it can
	unread *policy.Facts // of that call; nil: nothing is known
}

// examined are the facts of one call.
type examined struct{ own, locked *policy.Facts }

// maxCarried is how many calls may be nested; a real call holds at most one.
const maxCarried = 4

// Look examines what a call can do.
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
			k.why, k.unread = err.Error(), &policy.Facts{Call: c}
			return k
		}
		k.calls = append(k.calls, s.examine(c, at))
		name, args, more = policy.Carried(name, args)
	}
	return k
}

// examine examines one call. Authors share the facts if they see the same world.
func (s *Set) examine(c policy.Call, at At) examined {
	e := examined{own: policy.Examine(c, s.own.world(at))}
	if s.locked != nil {
		under := s.underLock(c)
		if e.locked = e.own; under.Class != c.Class || !s.sameWorld {
			e.locked = policy.Examine(under, s.locked.world(at))
		}
	}
	return e
}

// Facts returns the facts of the innermost call, as the operator's rules see it.
func (k *Case) Facts() *policy.Facts {
	if k.why != "" {
		return &policy.Facts{}
	}
	return k.calls[len(k.calls)-1].own
}

// Confinable reports whether the innermost call is a command that can be confined.
func (k *Case) Confinable() bool { return k.why == "" && policy.Confinable(k.Facts().Call) }

// Decide judges the call and those inside it: the strictest decision of the operator's policy and the locked
// folder over each of them.
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
		return k.set.unreadable(k.why, d.Audits, k.unread)
	}
	return d
}

// decide judges one call by the rules of one author, who sees it as confined only if they trust that.
func (a *author) decide(f *policy.Facts, at At, confined bool) policy.Decision {
	seen := *f
	seen.Call = a.asSeen(f.Call, confined)
	return a.policy.Decide(&seen, a.moment(at))
}

// asSeen returns a call as the rules of an author see it.
func (a *author) asSeen(c policy.Call, confined bool) policy.Call {
	c.Confined = confined && a.confine != Never && policy.Confinable(c)
	return c
}

// Decide examines a call and judges it.
func (s *Set) Decide(call tools.Call, who policy.Subject, at At) policy.Decision {
	return s.Look(call, who, at).Decide(at.Confined)
}

// unreadable denies a call that Look cannot read; as a dry run if nothing is enforced.
func (s *Set) unreadable(why string, audits []policy.Finding, f *policy.Facts) policy.Decision {
	if !s.Enforces() {
		audits = append(audits, policy.Finding{Why: why, Effect: policy.Deny})
		return policy.Decision{Effect: policy.Audit, Audits: audits, Facts: f}
	}
	return policy.Decision{Effect: policy.Deny, Why: why, Audits: audits, Facts: f}
}

// callOf returns a call as rules see it.
func (s *Set) callOf(call tools.Call, name string, args []byte, who policy.Subject) (policy.Call, error) {
	c, err := policy.CallOf(name, string(s.Tools.Class(name)), args)
	c.Kind, c.Strategy, c.Confidence = s.Tools.Kind(name), call.Strategy, call.Confidence
	return c.From(who), err
}

// underLock returns a call as the locked folder sees it. The operator cannot make its class less harmful than
// the program's own.
func (s *Set) underLock(c policy.Call) policy.Call {
	c.Class = string(tools.Class(c.Class).AtLeast(s.floors.Class(c.Tool)))
	return c
}
