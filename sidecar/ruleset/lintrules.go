package ruleset

import (
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// lintRules warns about rules that never decide, or not as they seem to.
func (l *loader) lintRules(rules []policyRule, isExec bool) {
	var before []splitTerms
	for _, r := range rules {
		t := splitRule(r)
		for _, b := range before {
			if b.covers(t) {
				l.warn(r.ID.All(), codeShadowed,
					fmt.Sprintf("%s never decides: whenever it holds, %s does, too", r.ID.Value,
						b.rule.ID.Value),
					"that stands "+relativePlace(b.rule.At, r.At)+"; delete one, or say what is different")
				break
			}
		}
		before = append(before, t)
		if r.When == nil {
			continue
		}
		named := func(name string) bool { return mentions(r.When, name) }
		switch {
		case r.Allow != nil && isExec && !named("cmd") && (named("command") || named("script")):
			l.warn(r.When.All(), codeNever, r.ID.Value+" allows no command: its condition does not name cmd",
				"a command is allowed program by program, such as cmd.binary == 'make'")
		case isExec && named("cmd") && len(r.Hit)+len(r.Miss) == 0:
			l.warn(r.ID.All(), codeUntried, r.ID.Value+" is never tried",
				"write a command for which it holds under hit, and one for which it does not under miss")
		}
		if r.Allow != nil {
			l.lintEmpty(*r.When)
		}
	}
}

// splitTerms is a rule with the terms of its condition that and joins.
type splitTerms struct {
	rule   policyRule
	effect policy.Effect // empty: a dry run, which hides nothing
	terms  []string
}

func splitRule(r policyRule) splitTerms {
	t := splitTerms{rule: r}
	switch {
	case r.Shadow || r.Audit != nil:
	case r.Deny != nil:
		t.effect = policy.Deny
	case r.Ask != nil || r.Unsure != nil:
		t.effect = policy.Ask
	case r.Allow != nil:
		t.effect = policy.Allow
	}
	if r.When == nil {
		return t
	}
	terms, ok := cond.Conjuncts(r.When.Value)
	if !ok {
		return splitTerms{rule: r}
	}
	t.terms = terms
	return t
}

// covers reports whether t holds whenever other does, with the same effect.
func (t splitTerms) covers(other splitTerms) bool {
	if t.effect == "" || t.effect != other.effect {
		return false
	}
	return !slices.ContainsFunc(t.terms,
		func(term string) bool { return !slices.Contains(other.terms, term) })
}

// lintEmpty warns of all in a rule that allows, since it holds for an empty list.
func (l *loader) lintEmpty(when rulefile.Text) {
	terms, _ := cond.Conjuncts(when.Value)
	for _, all := range cond.Loops(when, "all") {
		if !slices.Contains(terms, "len("+all.Over+") > 0") {
			l.warn(all.At, codeEmpty, "all holds for an empty list, too",
				"write len("+all.Over+") > 0 and … where there must be something")
		}
	}
}
