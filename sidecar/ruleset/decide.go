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
	for _, list := range []struct {
		given []string
		to    *[]string
	}{{w.Write, &r.Write}, {w.Read, &r.Read}, {w.ReadFiles, &r.ReadFiles}} {
		if list.given != nil {
			*list.to = list.given
		}
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
