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
	Opened func(port int) bool        // whether a command of the session has opened a port here; nil: unknown
	World  World

	Confined bool // commands run confined, if they can
}

// World is where a call would run, where that is not as paths.yaml has it.
type World struct {
	Set string // the workspace that the start has set; it outranks paths.yaml, but no locked folder
	// where the gateway says that the agent works; nil: it did not. What is set outranks it
	Named     []string
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

// Who asks a person when a rule says ask.
const (
	Gateway  = "gateway" // the agent, about calls with the argument ask
	TheAgent = "agent"   // the agent, by its own settings
	Sidecar  = "sidecar"
	Nobody   = "nobody"
)

// Where an agent runs its commands: on its own machine as its user, or in a sandbox of its own or on another
// machine.
const (
	Here      = "here"
	Elsewhere = "elsewhere"
)

// Asks says who asks a person: one of these. What exec.yaml and the locked folder say outranks the file of
// the agent.
func (s *Set) Asks() string {
	switch {
	case s.own.asksHere || s.locked != nil && s.locked.asksHere:
		return Sidecar
	case s.Agent == nil:
		return Gateway
	}
	return cmp.Or(s.own.asks, Sidecar)
}

// Enforces reports whether anything is enforced: not where all is a dry run.
func (s *Set) Enforces() bool {
	return !s.own.policy.DryRun || s.locked != nil && !s.locked.policy.DryRun
}

// Roots are the folders of paths.yaml, as they are in a world.
func (s *Set) Roots(w World) paths.Roots {
	r := w.over(s.own)
	if s.locked != nil {
		r.Own = slices.Concat(r.Own, w.over(s.locked).Own)
	}
	return r
}

// Fixed reports whether the workspace is said by paths.yaml or the locked folder, so that
// what the gateway says of it does not count.
func (s *Set) Fixed() bool { return s.own.fixed }

// PolicyRules are the effects of all rules about calls, in no order.
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
	return collect(rules, func(r policy.Rule[E]) policy.Effect { return r.Effect })
}

func (a *author) moment(at At) policy.Moment { return policy.MomentOf(at.Now.In(a.zone), at.Rates) }

func (a *author) world(at At) policy.World {
	return policy.World{Guard: at.guard(a), Lookup: at.Lookup, Servers: at.serversOf(a),
		Arguments: a.arguments, Programs: a.programs}
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

// Judge is Decide as a reader asks it. Each decision is told to note, which may change the
// arguments of the call and says whether the call is refused. Nil where the policy has
// nothing to say.
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
