package ruleset

import (
	"cmp"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// At is when and where a decision is made.
type At struct {
	Now    time.Time
	Rates  policy.Rates               // nil: nothing was done before
	Links  paths.Links                // nil: links are not followed
	Behind func(folder string) string // target of a folder of paths.yaml; nil: Links tells
	Lookup urls.Lookup                // nil: names are not resolved
	// reports whether a command of the session has opened a port here; nil: unknown
	Opened func(port int) bool
	World  World

	Confined bool // commands run confined, if they can
}

// World is where a call would run, as far as that differs from paths.yaml.
type World struct {
	Set string // workspace by the settings; it outranks paths.yaml, but no locked folder
	// where the gateway says that the agent works; nil: unknown. Set outranks it
	Named     []string
	Cwd, Home string   // empty: as in paths.yaml
	Write     []string // nil: as in paths.yaml, and so below
	Read      []string
	ReadFiles []string
	Own       []string // further files and folders of the guard itself
	Servers   []string // further HOST:PORT of the guard itself
}

// roots returns an author's roots in this world.
func (w World) roots(a *author) paths.Roots {
	r := a.roots
	switch {
	case w.Set != "" && !a.workspaceLocked:
		r = a.rootsIn([]string{w.Set})
	case w.Set == "" && !a.workspaceSet && len(w.Named) > 0:
		r = a.rootsIn(w.Named)
	}
	r = a.rootsOf(r, cmp.Or(w.Home, r.Home))
	r.Own = slices.Concat(r.Own, w.Own)
	r.Cwd, r.Home = cmp.Or(w.Cwd, r.Cwd), cmp.Or(w.Home, r.Home)
	if w.Write != nil {
		r.Write = w.Write
	}
	if w.Read != nil {
		r.Read = w.Read
	}
	if w.ReadFiles != nil {
		r.ReadFiles = w.ReadFiles
	}
	return r
}

// Judges reports whether the policy can affect any call.
func (s *Set) Judges() bool { return s.locked != nil || s.own.judges() }

func (a *author) judges() bool { return a.policy.Default != policy.Allow || len(a.rules) > 0 }

// Profile returns the profile of exec.yaml.
func (s *Set) Profile() string { return s.own.profile }

// LockedProfile returns the profile of the locked exec.yaml; empty: none.
func (s *Set) LockedProfile() string {
	if s.locked == nil {
		return ""
	}
	return s.locked.profile
}

// Who asks a person when a rule says ask.
const (
	Gateway  = "gateway" // the agent, about calls with the argument ask
	TheAgent = "agent"   // the agent, by its own settings
	Sidecar  = "sidecar"
	Nobody   = "nobody"
)

// Where an agent runs its commands: on its own machine as its user, or in a sandbox or on another machine.
const (
	Here      = "here"
	Elsewhere = "elsewhere"
)

// Asks returns who asks a person. exec.yaml and the locked folder outrank the file of the agent.
func (s *Set) Asks() string {
	switch {
	case s.own.asksHere || s.locked != nil && s.locked.asksHere:
		return Sidecar
	case s.Agent == nil:
		return Gateway
	}
	return cmp.Or(s.own.asks, Sidecar)
}

// Enforces reports whether anything is more than a dry run.
func (s *Set) Enforces() bool {
	return !s.own.policy.DryRun || s.locked != nil && !s.locked.policy.DryRun
}

// Roots returns the folders of paths.yaml in a world.
func (s *Set) Roots(w World) paths.Roots {
	r := w.roots(s.own)
	if s.locked != nil {
		r.Own = slices.Concat(r.Own, w.roots(s.locked).Own)
	}
	return r
}

// Fixed reports whether paths.yaml or the locked folder sets the workspace, so that the gateway's does not
// count.
func (s *Set) Fixed() bool { return s.own.workspaceSet }

// PolicyRules returns the effects of all rules about calls, in no order.
func (s *Set) PolicyRules() (out []policy.Effect) {
	for _, a := range []*author{s.own, s.locked} {
		if a != nil {
			out = slices.Concat(out, effectsOf(a.policy.Calls), effectsOf(a.policy.Commands),
				effectsOf(a.policy.Paths), effectsOf(a.policy.URLs))
		}
	}
	return out
}

func effectsOf[E any](rules []policy.Rule[E]) []policy.Effect {
	return mapSlice(rules, func(r policy.Rule[E]) policy.Effect { return r.Effect })
}

func (a *author) moment(at At) policy.Moment { return policy.MomentOf(at.Now.In(a.zone), at.Rates) }

func (a *author) world(at At) policy.World {
	return policy.World{Guard: at.guard(a), Lookup: at.Lookup, Servers: at.serversOf(a),
		Arguments: a.arguments, Programs: a.programs}
}

// serversOf returns the servers that an agent can and must not reach.
func (at At) serversOf(a *author) urls.Servers {
	servers := a.servers
	servers.Own, servers.Opened = slices.Concat(servers.Own, at.World.Servers), at.Opened
	return servers
}

// Ports returns the ports of this machine that agents may always use, by both folders.
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

// guard returns the guard for paths.
func (at At) guard(a *author) paths.Guard {
	g := paths.Guard{Roots: at.World.roots(a)}
	if at.Links != nil {
		g.Links = paths.Once(at.Links)
		g.Roots = g.Roots.Real(g.Links, at.Behind)
	}
	return g
}

// Judge returns a judge for readings of replies; nil if the policy affects no call. note gets each decision,
// may change the arguments of the call, and reports whether the call is refused.
func (s *Set) Judge(who policy.Subject, at func() At,
	note func(*tools.Call, policy.Decision) (refuse bool)) func(*tools.Call) *tools.Refusal {
	if !s.Judges() {
		return nil
	}
	return func(call *tools.Call) *tools.Refusal {
		d := s.Decide(*call, who, at())
		if !note(call, d) {
			return nil
		}
		return &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments),
			Why: d.Message()}
	}
}

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
		return k.set.denyUnreadable(k.why, d.Audits, k.unread)
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

// denyUnreadable denies a call that Look cannot read; as a dry run if nothing is enforced.
func (s *Set) denyUnreadable(why string, audits []policy.Finding, f *policy.Facts) policy.Decision {
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
