package policy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func when(word string) func(Call) (bool, error) {
	return func(c Call) (bool, error) {
		if c.Tool == "broken" {
			return false, errors.New("no")
		}
		return c.Command == word, nil
	}
}

func TestDecide(t *testing.T) {
	list := []Rule{
		{ID: "ls", Place: "a:1", Effect: Allow, Why: "harmless", When: when("ls")},
		{ID: "try", Place: "a:2", Effect: Audit, Why: "one day", When: when("ls")},
		{ID: "no-rm", Place: "a:3", Effect: Deny, Why: "gone is gone", When: when("rm")},
		{ID: "rm", Place: "a:4", Effect: Allow, When: when("rm")},
	}
	audits := []Finding{{"try", "a:2", "one day"}}
	for _, c := range []struct {
		name  string
		rules Rules
		call  Call
		want  Decision
	}{
		{"nothing", Rules{}, Call{Command: "x"}, Decision{Effect: Allow}},
		{"default allow", Rules{Allow, list}, Call{Command: "x"}, Decision{Effect: Allow}},
		{"default deny", Rules{Deny, list}, Call{Command: "x"}, Decision{Effect: Deny, Why: "no rule allows it"}},
		{"allowed, audited", Rules{Deny, list}, Call{Command: "ls"}, Decision{Allow, "ls", "a:1", "harmless", audits}},
		{"a denial beats what allows", Rules{Allow, []Rule{list[3], list[2]}}, Call{Command: "rm"}, Decision{Deny, "no-rm", "a:3", "gone is gone", nil}},
		{"a broken denial denies", Rules{Allow, list[2:3]}, Call{Tool: "broken"}, Decision{Deny, "no-rm", "a:3", "the rule no-rm cannot be evaluated for it", nil}},
		{"a broken allow does not allow", Rules{Deny, list[:1]}, Call{Tool: "broken"}, Decision{Effect: Deny, Why: "no rule allows it"}},
		{"a broken dry run is noted", Rules{Allow, list[1:2]}, Call{Tool: "broken"}, Decision{Effect: Allow, Audits: audits}},
		{"a denial hides no dry run", Rules{Deny, []Rule{list[2], {ID: "all", Effect: Audit}, list[3]}}, Call{Command: "rm"}, Decision{Deny, "no-rm", "a:3", "gone is gone", []Finding{{Rule: "all"}}}},
		{"of two denials the first", Rules{Allow, []Rule{list[2], {ID: "all", Effect: Deny}}}, Call{Command: "rm"}, Decision{Deny, "no-rm", "a:3", "gone is gone", nil}},
		{"without a condition", Rules{Allow, []Rule{{ID: "all", Effect: Deny, Why: "no"}}}, Call{}, Decision{Deny, "all", "", "no", nil}},
	} {
		if diff := cmp.Diff(c.want, c.rules.Decide(c.call)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestStricter(t *testing.T) {
	allow, deny := Decision{Effect: Allow, Audits: []Finding{{Rule: "x"}}}, Decision{Effect: Deny, Rule: "no"}
	for _, got := range []Decision{Stricter(allow, deny), Stricter(deny, allow)} {
		if got.Effect != Deny || got.Rule != "no" || len(got.Audits) != 1 {
			t.Errorf("%+v", got)
		}
	}
	if got := Stricter(allow, Decision{Effect: Allow, Rule: "ls"}); got.Effect != Allow || got.Rule != "ls" || len(got.Audits) != 1 {
		t.Errorf("%+v", got)
	}
}
