// Package policy decides whether a call may leave: rules over what is known of it,
// and the strictest of those that hold. It is pure. It never runs, opens or fetches
// anything, and never changes a call.
package policy

// Effect is what a rule does with a call.
type Effect string

// The effects, from the weakest to the strongest.
const (
	Allow Effect = "allow"
	Audit Effect = "audit" // allowed, and noted as if it were denied: a dry run
	Ask   Effect = "ask"   // allowed if a person says so
	Deny  Effect = "deny"
)

// Rule is one sentence of a policy.
type Rule struct {
	ID     string
	Place  string // file:line
	Effect Effect
	Why    string                   // what the model is told of a denial
	When   func(Call) (bool, error) // nil: always
}

// Rules is a policy. The zero Rules allows everything.
type Rules struct {
	Default Effect // Allow or Deny; empty is Allow
	List    []Rule
}

// Decision is what a policy says of one call. Rule and Place are empty where the
// default decided.
type Decision struct {
	Effect Effect    `json:"effect"`
	Rule   string    `json:"rule,omitempty"`
	Place  string    `json:"place,omitempty"`
	Why    string    `json:"why,omitempty"`
	Audits []Finding `json:"audits,omitempty"` // what would have denied it, were it no dry run
}

// Finding is a rule that holds for a call.
type Finding struct {
	Rule  string `json:"rule"`
	Place string `json:"place"`
	Why   string `json:"why"`
}

// Decide looks at all rules, so that every dry run is noted. A denial beats
// everything, wherever it stands; the first of several is named. A rule that fails
// while it is evaluated denies if it would deny, and does not allow.
func (r *Rules) Decide(c Call) Decision {
	d := Decision{Effect: r.Default, Why: "no rule allows it"}
	if d.Effect != Deny {
		d = Decision{Effect: Allow}
	}
	var audits []Finding
	for i := range r.List {
		rule := &r.List[i]
		holds, err := true, error(nil)
		if rule.When != nil {
			holds, err = rule.When(c)
		}
		switch {
		case err == nil && !holds, err != nil && rule.Effect == Allow:
			continue
		case rule.Effect == Audit:
			audits = append(audits, Finding{rule.ID, rule.Place, rule.Why})
			continue
		case d.Rule != "" && (d.Effect == Deny || rule.Effect == Allow):
			continue // an earlier rule says as much, or more
		}
		d = Decision{Effect: rule.Effect, Rule: rule.ID, Place: rule.Place, Why: rule.Why}
		if err != nil {
			d.Why = "the rule " + rule.ID + " cannot be evaluated for it"
		}
	}
	d.Audits = audits
	return d
}

// Stricter joins what two policies say: a denial of either is one. Of two that
// agree, the one with a rule is told.
func Stricter(a, b Decision) Decision {
	if b.Effect == Deny && a.Effect != Deny || a.Effect == b.Effect && a.Rule == "" {
		a, b = b, a
	}
	a.Audits = append(a.Audits, b.Audits...)
	return a
}
