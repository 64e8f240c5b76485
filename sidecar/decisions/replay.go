package decisions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Decider decides a call of the log by other rules. It is called in the order of the log, so that it
// can count what a session did before.
type Decider func(*Record) policy.Decision

// lookBack is how long before the first decision a Decider is called, for rates.
const lookBack = 24 * time.Hour

// Change is a call that other rules decide differently.
type Change struct {
	Seq       uint64           `json:"seq"`
	Time      time.Time        `json:"time"`
	Session   string           `json:"session,omitempty"`
	Tool      string           `json:"tool"`
	Arguments json.RawMessage  `json:"arguments,omitempty"`
	Masked    int              `json:"masked,omitempty"` // secrets that the other rules did not see
	Grant     string           `json:"grant,omitempty"`  // with which it had passed
	Old       policy.Effect    `json:"old"`
	OldRule   string           `json:"old_rule"`
	New       policy.Effect    `json:"new"`
	NewRule   string           `json:"new_rule"`
	Why       string           `json:"why,omitempty"`
	Findings  []policy.Finding `json:"findings,omitempty"`
}

// Tally counts the decisions of a replay.
type Tally struct {
	Records   int `json:"records"`
	Unchanged int `json:"unchanged"`
	Shift
	Skipped int        `json:"skipped"`       // without their original arguments
	Damaged int        `json:"damaged"`       // invalid lines
	Masked  int        `json:"masked"`        // records with secrets that the other rules did not see
	Rules   []RuleSum  `json:"rules"`         // those that decide differently, most first
	Cut     *time.Time `json:"cut,omitempty"` // time at which the replay was stopped; nil: it was not
}

// RuleSum counts what a rule decides differently.
type RuleSum struct {
	Rule string `json:"rule"`
	Shift
}

// Shift counts decisions that differ, by their new effect.
type Shift struct {
	Denied  int `json:"newly_denied"`
	Asked   int `json:"newly_asked"`
	Allowed int `json:"newly_allowed"`
}

// Changed returns how many decisions differ.
func (s Shift) Changed() int { return s.Denied + s.Asked + s.Allowed }

func (s *Shift) add(now policy.Effect) {
	switch now {
	case policy.Deny:
		s.Denied++
	case policy.Ask:
		s.Asked++
	default:
		s.Allowed++
	}
}

// Replay decides the calls of a log by other rules and reports each change.
func Replay(dir string, f Filter, decide Decider, tell func(*Change)) (*Tally, error) {
	list, err := segments(dir)
	if err != nil {
		return &Tally{}, fmt.Errorf("read decisions: %w", err)
	}
	return replay(context.Background(), list, f,
		func(r *Record) bool { return !r.Time.Before(f.Since.Add(-lookBack)) }, decide, tell)
}

// replay replays segments. Counts reports which calls are decided, even if only for the rates of their
// sessions.
func replay(ctx context.Context, list []segment, f Filter, counts func(*Record) bool, decide Decider,
	tell func(*Change)) (*Tally, error) {
	t, rules, last := &Tally{}, map[string]*RuleSum{}, f.Since
	grants := map[string][]policy.Reason{} // of each approval that covers more calls than one
	err := readSegments(list, func(r *Record, broken error) bool {
		if ctx.Err() != nil {
			t.Cut = &last
			return false
		}
		d := r.Decision
		last = r.Time
		if a := r.Answer; broken == nil && a != nil && len(a.Covers) > 0 {
			grants[a.ID] = slices.Clone(a.Covers)
			for i := range grants[a.ID] {
				grants[a.ID][i].Call = "" // a call that passed is one of these
			}
		}
		switch {
		case broken != nil:
			t.Damaged++
		case d == nil || !counts(r):
		case d.Judgeable():
			now := decide(r)
			if !f.Takes(r) {
				break
			}
			if covers := grants[d.Approval]; d.Grant != "" && covers != nil {
				passed := *d
				if d, passed.Effect = &passed, policy.Allow; policy.Covered(now.Reasons, covers) {
					now.Effect = policy.Allow
				}
			}
			t.count(d, &now, rules)
			if leaves(d.Effect) != leaves(now.Effect) {
				tell(change(r, d, &now))
			}
		case f.Takes(r):
			t.Records++
			t.Skipped++
		}
		return true
	})
	for _, sum := range rules {
		t.Rules = append(t.Rules, *sum)
	}
	slices.SortFunc(t.Rules, func(a, b RuleSum) int {
		return cmp.Or(cmp.Compare(b.Changed(), a.Changed()), cmp.Compare(a.Rule, b.Rule))
	})
	if err != nil {
		err = fmt.Errorf("read decisions: %w", err)
	}
	return t, err
}

// leaves maps audit to allow: both let a call leave.
func leaves(e policy.Effect) policy.Effect {
	if e == policy.Audit {
		return policy.Allow
	}
	return e
}

func (t *Tally) count(d *Decision, now *policy.Decision, rules map[string]*RuleSum) {
	t.Records++
	if d.Masked > 0 {
		t.Masked++
	}
	if leaves(d.Effect) == leaves(now.Effect) {
		t.Unchanged++
		return
	}
	name := cmp.Or(now.Rule, "default")
	if leaves(now.Effect) == policy.Allow && now.Rule == "" {
		name = d.RuleName() + " (no longer)" // the rule that is gone says more than the default
	}
	if rules[name] == nil {
		rules[name] = &RuleSum{Rule: name}
	}
	rules[name].add(now.Effect)
	t.Shift.add(now.Effect)
}

func change(r *Record, d *Decision, now *policy.Decision) *Change {
	return &Change{
		Seq: r.Seq, Time: r.Time, Session: d.Session, Tool: d.Tool, Arguments: d.Arguments, Masked: d.Masked,
		Grant: d.Grant, Old: d.Effect, OldRule: d.RuleName(), New: now.Effect,
		NewRule: cmp.Or(now.Rule, "default"),
		Why:     now.Why, Findings: now.Audits,
	}
}
