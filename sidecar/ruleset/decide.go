package ruleset

import (
	"cmp"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// At is what a decision needs beside the call: when and where.
type At struct {
	Now    time.Time
	Rates  policy.Rates               // nil: nothing was done before
	Links  paths.Links                // nil: links are not followed
	Behind func(folder string) string // what a folder of paths.yaml leads to; nil: Links says
	Lookup urls.Lookup                // nil: names are not looked up
	Opened func(port int) bool        // whether a command of the session has opened a port of this machine; nil: nobody knows
	World  World

	Confined bool // commands run confined, if they can
}

// World is where a call would run, where that is not as paths.yaml has it.
type World struct {
	Set       string   // the workspace that the start has set; it outranks paths.yaml, but no locked folder
	Named     []string // where the gateway says that the agent works; nil: it did not. What is set outranks it
	Cwd, Home string   // empty: as in paths.yaml
	Write     []string // nil: as in paths.yaml, and so below
	Read      []string
	ReadFiles []string
	Own       []string // files and folders of the guard itself, beside those of paths.yaml
	Servers   []string // HOST:PORT of the guard itself, beside those of urls.yaml
}

// over puts the world into the place of an author's roots.
func (w World) over(a *author) paths.Roots {
	r := a.roots
	switch {
	case w.Set != "" && !a.bound:
		r = a.at([]string{w.Set})
	case w.Set == "" && !a.fixed && len(w.Named) > 0:
		r = a.at(w.Named)
	}
	r = a.of(r, cmp.Or(w.Home, r.Home))
	r.Own = slices.Concat(r.Own, w.Own)
	r.Cwd, r.Home = cmp.Or(w.Cwd, r.Cwd), cmp.Or(w.Home, r.Home)
	for _, list := range []struct {
		said []string
		to   *[]string
	}{{w.Write, &r.Write}, {w.Read, &r.Read}, {w.ReadFiles, &r.ReadFiles}} {
		if list.said != nil {
			*list.to = list.said
		}
	}
	return r
}

// Judges reports whether the policy could have anything to say. If not, calls need
// not be shown to it.
func (s *Set) Judges() bool { return s.locked != nil || s.own.judges() }

func (a *author) judges() bool { return a.policy.Default != policy.Allow || len(a.rules) > 0 }

// Profile is the profile of exec.yaml.
func (s *Set) Profile() string { return s.own.profile }

// LockedProfile is the profile of the locked exec.yaml; empty: there is none.
func (s *Set) LockedProfile() string {
	if s.locked == nil {
		return ""
	}
	return s.locked.profile
}

// AsksHere reports whether a person is asked here, and not by the gateway.
func (s *Set) AsksHere() bool { return s.own.asksHere || s.locked != nil && s.locked.asksHere }

// Enforces reports whether anything is enforced: not where all is a dry run.
func (s *Set) Enforces() bool {
	return !s.own.policy.DryRun || s.locked != nil && !s.locked.policy.DryRun
}

// Roots are the folders of paths.yaml, as they are in a world.
func (s *Set) Roots(w World) paths.Roots { return w.over(s.own) }

// Fixed reports whether the workspace is said by paths.yaml or the locked folder, so that
// what the gateway says of it does not count.
func (s *Set) Fixed() bool { return s.own.fixed }

// PolicyRules are the effects of all rules about calls, in no order.
func (s *Set) PolicyRules() (out []policy.Effect) {
	for _, a := range []*author{s.own, s.locked} {
		if a != nil {
			out = slices.Concat(out, effectsOf(a.policy.Calls), effectsOf(a.policy.Commands), effectsOf(a.policy.Paths), effectsOf(a.policy.URLs))
		}
	}
	return out
}

func effectsOf[E any](rules []policy.Rule[E]) []policy.Effect {
	return collect(rules, func(r policy.Rule[E]) policy.Effect { return r.Effect })
}

// maxCarried is how many calls may carry each other; nobody means more than two.
const maxCarried = 4

// Decide says whether a call may leave with all that it carries: the strictest of
// the operator's policy and that of the locked folder, over each of these calls.
func (s *Set) Decide(call tools.Call, who policy.Subject, at At) policy.Decision {
	var d policy.Decision
	name, args, more := call.Name, call.Arguments, true
	for i := 0; more; i++ {
		if i == maxCarried {
			return s.unjudged("The call carries another one, and so on. Call the tool itself.", d.Audits, nil)
		}
		c, err := s.callOf(call, name, args, who)
		if err != nil {
			return s.unjudged(err.Error(), d.Audits, &policy.Facts{Call: c})
		}
		one := s.each(c, at)
		if i == 0 {
			d = one
		} else {
			d = policy.Stricter(one, d)
		}
		name, args, more = policy.Carried(name, args)
	}
	return d
}

// Confines reports whether the call that runs in the end is a command that can be confined.
func (s *Set) Confines(call tools.Call) bool {
	c, err := s.innermost(call, policy.Subject{})
	return err == nil && policy.Confinable(c)
}

// Examine finds out what the call that runs in the end can do.
func (s *Set) Examine(call tools.Call, who policy.Subject, at At) *policy.Facts {
	c, _ := s.innermost(call, who) // one that cannot be read has no command
	return policy.Examine(c, s.own.world(at))
}

// innermost is the call that runs in the end, of those that carry each other.
func (s *Set) innermost(call tools.Call, who policy.Subject) (policy.Call, error) {
	name, args := call.Name, []byte(call.Arguments)
	for range maxCarried {
		inner, carried, more := policy.Carried(name, args)
		if !more {
			break
		}
		name, args = inner, carried
	}
	return s.callOf(call, name, args, who)
}

// unjudged is the decision about a call that nobody can look into: a denial, or a dry run
// of one where nothing is enforced.
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
	c.Strategy, c.Confidence = call.Strategy, call.Confidence
	return c.From(who), err
}

// each asks every author. They look at the same facts where they see the same world.
func (s *Set) each(c policy.Call, at At) policy.Decision {
	c = s.own.sees(c, at)
	facts := policy.Examine(c, s.own.world(at))
	d := s.own.policy.Decide(facts, s.own.moment(at))
	if s.locked == nil {
		return d
	}
	under := s.locked.sees(s.underLock(c), at)
	if under.Class != c.Class || under.Confined != c.Confined || !s.oneWorld {
		facts = policy.Examine(under, s.locked.world(at))
	}
	return policy.Stricter(d, s.locked.policy.Decide(facts, s.locked.moment(at)))
}

// sees is a call as the rules of an author see it: confined only if they trust in that.
func (a *author) sees(c policy.Call, at At) policy.Call {
	c.Confined = at.Confined && a.confine != Never && policy.Confinable(c)
	return c
}

func (a *author) moment(at At) policy.Moment { return policy.MomentOf(at.Now.In(a.zone), at.Rates) }

func (a *author) world(at At) policy.World {
	return policy.World{Guard: at.guard(a), Lookup: at.Lookup, Servers: at.serversOf(a), Arguments: a.arguments, Programs: a.programs}
}

// serversOf are those that an agent can and must not reach there.
func (at At) serversOf(a *author) urls.Servers {
	servers := a.servers
	servers.Own, servers.Opened = slices.Concat(servers.Own, at.World.Servers), at.Opened
	return servers
}

// Ports are those of this machine that agents may use whatever listens there, as both folders say.
func (s *Set) Ports(w World) (out []int) {
	at := At{World: w}
	for _, port := range s.own.servers.Ports {
		may := func(a *author) bool {
			use := []urls.Use{{Host: "localhost", Port: port, Class: urls.Loopback}}
			at.serversOf(a).Judge(use)
			return use[0].Opened
		}
		if port > 0 && may(s.own) && (s.locked == nil || may(s.locked)) {
			out = append(out, port)
		}
	}
	return out
}

// guard is what judges paths there.
func (at At) guard(a *author) paths.Guard {
	g := paths.Guard{Roots: at.World.over(a)}
	if at.Links != nil {
		g.Links = paths.Once(at.Links)
		g.Roots = g.Roots.Real(g.Links, at.Behind)
	}
	return g
}

// underLock is a call as the locked folder sees it. The operator cannot make its class
// less harmful than the program says.
func (s *Set) underLock(c policy.Call) policy.Call {
	c.Class = string(tools.Class(c.Class).AtLeast(s.floors.Class(c.Tool)))
	return c
}

// Judge is Decide as a reader asks it. Each decision is told to note, which may change the
// arguments of the call and says whether the call is refused. Nil where the policy has
// nothing to say.
func (s *Set) Judge(who policy.Subject, at func() At, note func(*tools.Call, policy.Decision) (refuse bool)) func(*tools.Call) *tools.Refusal {
	if !s.Judges() {
		return nil
	}
	return func(call *tools.Call) *tools.Refusal {
		d := s.Decide(*call, who, at())
		if !note(call, d) {
			return nil
		}
		return &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: d.Message()}
	}
}
