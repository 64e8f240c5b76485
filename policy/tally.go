package policy

import (
	"fmt"
	"math"

	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/policy/shell"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// last is the order of what no rule says.
const last = math.MaxInt

// tally is a decision in the making.
type tally struct {
	policy *Policy
	facts  *Facts
	best   Decision
	order  int // of the rule behind best
	audits []Finding
	noted  map[string]bool // places of the rules in audits
}

// subject is what a rule is tried on: a program, a path, a URL, or the call itself.
type subject struct {
	name string // empty: the call
	cmd  *shell.Command
}

// call tries the rules about the call as a whole.
func (t *tally) call(m Moment) {
	env := Env{Call: t.facts.Call, Script: t.facts.Script, Cmd: &shell.Command{}, Moment: m}
	if env.Script == nil {
		env.Script = &shell.Script{Parsed: true}
	}
	covered := try(t, t.policy.Calls, &env, subject{})
	if t.facts.Script == nil && !covered {
		t.uncovered(subject{name: t.facts.Call.Tool})
	}
}

// commands tries the rules about commands on each of them.
func (t *tally) commands(m Moment) {
	if t.facts.Script == nil {
		return
	}
	env := Env{Call: t.facts.Call, Script: t.facts.Script, Moment: m}
	for i := range t.facts.Script.Commands {
		cmd, cut := capped(&t.facts.Script.Commands[i])
		env.Cmd = cmd
		s := subject{cmd.Binary, cmd}
		if cut {
			t.take(Decision{Effect: Ask, Why: fmt.Sprintf("it has more than %d operands, which nobody looks through", maxOperands)}, last-1, s)
		}
		if !try(t, t.policy.Commands, &env, s) {
			t.uncovered(s)
		}
	}
}

// paths tries the rules about paths on those of the call and of its commands.
func (t *tally) paths(m Moment) {
	env := PathEnv{Scene: t.facts.scene(m)}
	each := func(uses []paths.Use, cmd *shell.Command) {
		for i := range uses {
			env.Use = uses[i]
			s := subject{uses[i].Path, cmd}
			if !try(t, t.policy.Paths, &env, s) {
				t.uncovered(s)
			}
		}
	}
	each(t.facts.Paths, nil)
	for cmd := range t.facts.commands() {
		env.Program = cmd.Binary
		each(cmd.Reads, cmd)
		each(cmd.Writes, cmd)
		each(cmd.Deletes, cmd)
	}
}

// urls tries the rules about URLs on those of the call and of its commands.
func (t *tally) urls(m Moment) {
	env := URLEnv{Scene: t.facts.scene(m)}
	each := func(uses []urls.Use, cmd *shell.Command) {
		for i := range uses {
			env.Use = uses[i]
			s := subject{uses[i].URL, cmd}
			if !try(t, t.policy.URLs, &env, s) {
				t.uncovered(s)
			}
		}
	}
	each(t.facts.URLs, nil)
	for cmd := range t.facts.commands() {
		env.Program = cmd.Binary
		each(cmd.URLs, cmd)
	}
}

// try tries rules on one subject, and reports whether nothing more is needed to allow it.
// Rules that could not change the decision any more are left out.
func try[E any](t *tally, rules []Rule[E], env *E, s subject) (covered bool) {
	for i := range rules {
		r := &rules[i]
		switch {
		case r.Effect == Audit || r.Shadow:
			if !t.noted[r.Place] {
				if holds, _ := r.holds(env); holds {
					t.note(r.Place, Finding{r.ID, r.Place, r.Why, r.dry()})
				}
			}
		case r.Effect == Allow && covered, r.Effect != Allow && !t.matters(r.Effect, r.Order):
		default:
			holds, err := r.holds(env)
			if !holds {
				continue
			}
			d := Decision{Effect: r.Effect, Rule: r.ID, Place: r.Place, Why: r.Why, Instead: r.Instead}
			if err != nil {
				d.Effect, d.Why, d.Instead = Deny, "the rule "+r.ID+" cannot be evaluated for it", ""
			}
			covered = covered || r.Effect == Allow
			t.take(d, r.Order, s)
		}
	}
	return covered
}

// dry is what a dry run would have done.
func (r *Rule[E]) dry() Effect {
	if r.Shadow {
		return r.Effect
	}
	return Deny
}

// matters reports whether a rule could change the decision. One that asks may also fail,
// and then denies.
func (t *tally) matters(e Effect, order int) bool {
	return t.best.Effect != Deny || e == Deny && order < t.order
}

// uncovered is what becomes of a subject that no rule allows.
func (t *tally) uncovered(s subject) {
	if t.policy.Default == "" || t.policy.Default == Allow {
		return
	}
	d := Decision{Effect: t.policy.Default, Why: "no rule allows it"}
	if s.name != "" {
		d.Why = "no rule allows " + quoted(s.name)
	}
	t.take(d, last, s)
}

// take makes d the decision if it is stronger, or as strong and to be named first.
func (t *tally) take(d Decision, order int, s subject) {
	if t.best.Effect.stronger(d.Effect) || t.best.Effect == d.Effect && order >= t.order {
		return
	}
	d.Operand, d.Span = s.name, t.facts.span(s.cmd)
	t.best, t.order = d, order
}

func (t *tally) note(place string, f Finding) {
	if t.noted == nil {
		t.noted = map[string]bool{}
	}
	t.noted[place] = true
	t.audits = append(t.audits, f)
}

// decision is what is left when everything has been tried.
func (t *tally) decision() Decision {
	d := t.best
	if t.policy.DryRun && d.Effect.stronger(Allow) {
		t.audits = append(t.audits, Finding{d.Rule, d.Place, d.Why, d.Effect})
		d = Decision{Effect: Allow}
	}
	if d.Effect == Ask && !t.facts.Call.Interactive {
		d.Effect, d.Why = Deny, sentence(d.Why)+" It needs a person's approval, and nobody is there to give it"
	}
	if d.Effect == Allow && len(t.audits) > 0 {
		d.Effect = Audit
	}
	d.Audits, d.Facts = t.audits, t.facts
	return d
}

// capped is a command whose lists are no longer than maxOperands.
func capped(c *shell.Command) (_ *shell.Command, cut bool) {
	if max(len(c.Argv), len(c.Operands), len(c.Flags), len(c.Env), len(c.Reads), len(c.Writes), len(c.Deletes), len(c.URLs)) <= maxOperands {
		return c, false
	}
	short := *c
	short.Argv, short.Operands, short.Flags, short.Env = first(c.Argv), first(c.Operands), first(c.Flags), first(c.Env)
	short.Reads, short.Writes, short.Deletes, short.URLs = first(c.Reads), first(c.Writes), first(c.Deletes), first(c.URLs)
	return &short, true
}

func first[T any](list []T) []T { return list[:min(len(list), maxOperands)] }
