// Package policy decides whether a call may leave: rules over what is known of it,
// and the strictest of those that hold. It is pure. It never runs, opens or fetches
// anything, and never changes a call.
package policy

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy/shell"
)

// Effect is what a rule does with a call.
type Effect string

// The effects, from the weakest to the strongest.
const (
	Allow Effect = "allow"
	Audit Effect = "audit" // allowed, and noted as if it were denied: a dry run
	Ask   Effect = "ask"   // allowed if a person says so
	Deny  Effect = "deny"
)

// stronger reports whether e says no to more than f.
func (e Effect) stronger(f Effect) bool { return e.rank() > f.rank() }

func (e Effect) rank() int {
	switch e {
	case Audit:
		return 1
	case Ask:
		return 2
	case Deny:
		return 3
	}
	return 0
}

// Rule is one sentence of a policy, with a condition over an Env, a PathEnv or a URLEnv.
type Rule[E any] struct {
	ID      string
	Place   string // file:line
	Effect  Effect
	Shadow  bool   // a dry run of Deny or Ask: noted, and not enforced
	Facts   bool   // it asks by facts, and not by the words of a command
	Why     string // what the model is told
	Instead string // what it may do; empty: nothing is said
	Order   int    // of two with one effect, the smaller one explains

	When func(*E) (bool, error) // nil: always
	// of which a command must be one, or have one, for the condition to hold; both nil: any command may fit
	Programs, Tags map[string]bool
}

// concerns reports whether a rule may hold for a command; nil: the call itself.
func (r *Rule[E]) concerns(c *shell.Command) bool {
	return c == nil || r.Programs == nil && r.Tags == nil || r.Programs[c.Binary] ||
		slices.ContainsFunc(c.Tags, func(tag string) bool { return r.Tags[tag] })
}

// Holds tries the condition. A rule that cannot be evaluated holds, with an error, except
// where it allows.
func (r *Rule[E]) Holds(e *E) (holds bool, err error) {
	if r.When == nil {
		return true, nil
	}
	if holds, err = r.When(e); err != nil {
		return r.Effect != Allow, err
	}
	return holds, nil
}

// Policy is all rules of one author. The zero Policy allows everything.
type Policy struct {
	Default  Effect   // for what no rule allows: Allow, Ask or Deny; empty is Allow
	DryRun   bool     // nothing is enforced, everything is noted
	Granted  []Reason // a person has allowed for good what has no other reasons to be asked about
	Calls    []Rule[Env]
	Commands []Rule[Env] // tried for each command of a script
	Paths    []Rule[PathEnv]
	URLs     []Rule[URLEnv]
}

// maxOperands is how many entries of a list of one command conditions see. What has
// more asks, whatever the rules say.
const maxOperands = 256

// Decide looks at every command, path and URL, and at all rules that could make a
// difference. A denial beats everything, wherever it stands; of several rules with one
// effect the first explains. A rule that fails denies if it would deny or ask, and does
// not allow. What no rule allows gets the default.
func (p *Policy) Decide(f *Facts, m Moment) Decision {
	t := tally{policy: p, facts: f, best: Decision{Effect: Allow}, order: last}
	t.call(m)
	each(&t, p.Commands, f.CommandEnvs(m))
	each(&t, p.Paths, f.PathEnvs(m))
	each(&t, p.URLs, f.URLEnvs(m))
	return t.decision()
}
