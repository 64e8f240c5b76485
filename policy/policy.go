// Package policy decides whether a call may leave the sidecar: it applies rules to the facts of a call, and
// the strictest rule that holds wins. It is pure: it never runs, opens or fetches anything, and never changes
// a call.
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

// stronger reports whether e restricts a call more than f.
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

// Rule is one rule of a policy, with a condition over an Env, a PathEnv or a URLEnv.
type Rule[E any] struct {
	ID      string
	Place   string // file:line
	Effect  Effect
	Shadow  bool   // a dry run of Deny or Ask: recorded, not enforced
	Facts   bool   // it asks because of facts, not because of the words of a command
	Why     string // what the model is told
	Instead string // what the model may do instead; may be empty
	Order   int    // the smaller one explains, of two rules with one effect

	When func(*E) (bool, error) // nil: always
	// programs and tags, one of which the command must have; both nil: any command
	Programs, Tags map[string]bool
}

// concerns reports whether the rule may hold for a command; nil stands for the call itself.
func (r *Rule[E]) concerns(c *shell.Command) bool {
	return c == nil || r.Programs == nil && r.Tags == nil || r.Programs[c.Binary] ||
		slices.ContainsFunc(c.Tags, func(tag string) bool { return r.Tags[tag] })
}

// Holds evaluates the condition. If that fails, the rule holds and Holds returns the error, unless the rule
// allows.
func (r *Rule[E]) Holds(e *E) (holds bool, err error) {
	if r.When == nil {
		return true, nil
	}
	if holds, err = r.When(e); err != nil {
		return r.Effect != Allow, err
	}
	return holds, nil
}

// Policy holds all rules of one author. The zero Policy allows everything.
type Policy struct {
	Default  Effect   // for what no rule allows: Allow, Ask or Deny; empty means Allow
	DryRun   bool     // everything is recorded, nothing enforced
	Granted  []Reason // reasons that a person has allowed for good; a call with only these is allowed
	Calls    []Rule[Env]
	Commands []Rule[Env] // for each command of a script
	Paths    []Rule[PathEnv]
	URLs     []Rule[URLEnv]
}

// maxOperands limits the lists of one command that conditions see. A command with longer lists asks, whatever
// the rules say.
const maxOperands = 256

// Decide applies the rules to the call and to each of its commands, paths and URLs. A denial beats
// everything; of several rules with one effect, the first explains. A rule that cannot be evaluated denies if
// it would deny or ask, and does not allow. What no rule allows gets the default. Rules that cannot change
// the decision are skipped.
func (p *Policy) Decide(f *Facts, m Moment) Decision {
	t := tally{policy: p, facts: f, best: Decision{Effect: Allow}, order: lastOrder}
	t.tryCall(m)
	tryEach(&t, p.Commands, f.CommandEnvs(m))
	tryEach(&t, p.Paths, f.PathEnvs(m))
	tryEach(&t, p.URLs, f.URLEnvs(m))
	return t.decision()
}
