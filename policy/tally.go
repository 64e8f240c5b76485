package policy

import (
	"fmt"
	"iter"
	"math"
)

// lastOrder is the order of a decision without a rule.
const lastOrder = math.MaxInt

// tally is the state of Policy.Decide.
type tally struct {
	policy *Policy
	facts  *Facts
	best   Decision
	order  int // of the rule behind best
	audits []Finding
	noted  map[string]bool // places of the rules in audits
	asks   reasons
}

// tryCall applies the rules about the call as a whole.
func (t *tally) tryCall(m Moment) {
	env := t.facts.CallEnv(m)
	covered := tryRules(t, t.policy.Calls, env, Operand{})
	if t.facts.Script == nil && !covered {
		t.applyDefault(Operand{Name: t.facts.Call.Tool}, env)
	}
}

// tryEach applies rules to all operands of a kind.
func tryEach[E any](t *tally, rules []Rule[E], envs iter.Seq2[*E, Operand]) {
	for env, o := range envs {
		if o.Cut {
			t.consider(Decision{Effect: Ask,
				Why: fmt.Sprintf("it has more than %d operands, more than are looked through", maxOperands)},
				lastOrder-1, o, "")
		}
		if !tryRules(t, rules, env, o) {
			t.applyDefault(o, env)
		}
	}
}

// tryRules applies rules to one operand and reports whether a rule allows it. It skips rules that cannot
// change the decision.
func tryRules[E any](t *tally, rules []Rule[E], env *E, o Operand) (covered bool) {
	for i := range rules {
		r := &rules[i]
		switch {
		case !r.concerns(o.Command):
		case r.Effect == Audit || r.Shadow:
			if !t.noted[r.Place] {
				if holds, _ := r.Holds(env); holds {
					t.note(r.Place, Finding{r.ID, r.Place, t.facts.expand(r.Why), r.dry()})
				}
			}
		case r.Effect == Allow && covered, r.Effect != Allow && !t.matters(r.Effect, r.Order):
		default:
			holds, err := r.Holds(env)
			if !holds {
				continue
			}
			d := Decision{Effect: r.Effect, Rule: r.ID, Place: r.Place, Why: r.Why, Instead: r.Instead}
			if err != nil {
				d.Effect, d.Why, d.Instead = Deny, "the rule "+r.ID+" cannot be evaluated for it", ""
			}
			covered = covered || r.Effect == Allow
			covers := ""
			if d.Effect == Ask {
				covers = t.facts.covers(env, r.Facts)
			}
			t.consider(d, r.Order, o, covers)
		}
	}
	return covered
}

// dry returns the effect that a dry run would have had.
func (r *Rule[E]) dry() Effect {
	if r.Shadow {
		return r.Effect
	}
	return Deny
}

// matters reports whether a rule could change the decision. One that asks may also fail, and then denies.
func (t *tally) matters(e Effect, order int) bool {
	return t.best.Effect != Deny || e == Deny && order < t.order
}

// applyDefault decides about an operand that no rule allows.
func (t *tally) applyDefault(o Operand, env any) {
	if t.policy.Default == "" || t.policy.Default == Allow {
		return
	}
	d := Decision{Effect: t.policy.Default, Why: "No rule allows it"}
	if o.Name != "" {
		d.Why = "No rule allows " + quoted(o.Name)
	}
	t.consider(d, lastOrder, o, t.facts.covers(env, true))
}

// consider makes d the decision if it is stronger than the best, or as strong with a smaller order.
func (t *tally) consider(d Decision, order int, o Operand, covers string) {
	if d.Effect == Ask {
		t.asks = t.asks.add(Reason{Rule: d.Rule, Place: d.Place, Why: t.facts.expand(d.Why), Covers: covers})
	}
	if t.best.Effect.stronger(d.Effect) || t.best.Effect == d.Effect && order >= t.order {
		return
	}
	d.Operand, d.Span = o.Name, t.facts.span(o.Command)
	t.best, t.order = d, order
}

func (t *tally) note(place string, f Finding) {
	if t.noted == nil {
		t.noted = map[string]bool{}
	}
	t.noted[place] = true
	t.audits = append(t.audits, f)
}

// decision returns the result after all rules have been tried.
func (t *tally) decision() Decision {
	d := t.best
	if d.Effect == Ask && t.asks.granted(t.policy.Granted) {
		d = Decision{Effect: Allow, Rule: "granted"}
	}
	d.Why, d.Instead = t.facts.expand(d.Why), t.facts.expand(d.Instead)
	if t.policy.DryRun && d.Effect.stronger(Allow) {
		t.audits = append(t.audits, Finding{d.Rule, d.Place, d.Why, d.Effect})
		d = Decision{Effect: Allow}
	}
	if d.Effect == Ask && !t.facts.Call.Interactive {
		d.Effect, d.Why = Deny, sentence(d.Why)+
			" It needs a person's approval, and no person is there to give it"
	}
	if d.Effect == Allow && len(t.audits) > 0 {
		d.Effect = Audit
	}
	if d.Audits, d.Facts = t.audits, t.facts; d.Effect == Ask && len(t.asks) <= maxReasons {
		d.Reasons = t.asks
	}
	return d
}
