package provider

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

// decided is what a log would hold if every owner got what they want.
func decided(s *Session) (out []decisions.Decision) {
	for _, c := range s.Calls {
		d := decisions.Decision{Tool: named(c.Tool), Arguments: c.Args, Effect: policy.Allow, Rule: "r",
			Place: "policy/exec.yaml:7"}
		if c.Want == Ask {
			d.Effect = policy.Ask
		}
		if len(c.Args) > 50000 {
			d.Arguments, d.Bytes = json.RawMessage(`"too long"`), len(c.Args)
		}
		out = append(out, d)
	}
	return out
}

// Every call finds its decision, in any order within a reply, and carried by another tool.
func TestScore(t *testing.T) {
	for _, name := range SessionNames(t) {
		s := LoadSession(t, name, "")
		list := decided(s)
		for i := 0; i+1 < len(list); i += 2 {
			list[i], list[i+1] = list[i+1], list[i]
		}
		for i, d := range list {
			if d.Tool == "session_status" || d.Tool == "automations" {
				list[i].Tool, list[i].Arguments = "tool_call", json.RawMessage(`{"id":"`+d.Tool+
					`","args":`+string(d.Arguments)+`}`)
			}
		}
		score := s.Score(list)
		if got := len(score.Of(policy.Allow, Allow)) + len(score.Of(policy.Ask, Ask)); got != len(s.Calls) {
			t.Errorf("%d of %d calls: %s", got, len(s.Calls), score.Summary())
		}
	}
}

// A call that was denied, or not judged, is told with its number.
func TestScoreOfOne(t *testing.T) {
	s := LoadSession(t, "coding", "")
	for i := range s.Calls {
		list := decided(s)
		list[i].Effect = policy.Deny
		if denied := s.Score(list).Of(policy.Deny, s.Calls[i].Want); len(denied) != 1 ||
			denied[0].Number != i+1 || denied[0].File != "policy/exec.yaml" {
			t.Errorf("call %d: %+v", i+1, denied)
		}
		missing := s.Score(slices.Delete(list, i, i+1)).Of("", s.Calls[i].Want)
		if len(missing) != 1 || missing[0].Number != i+1 {
			t.Errorf("call %d is missing: %+v", i+1, missing)
		}
	}
}

// A summary is the same wherever the folders are.
func TestSummaryNamesNoPlace(t *testing.T) {
	for _, name := range SessionNames(t) {
		here, there := LoadSession(t, name, ""), LoadSession(t, name, "/some/where")
		say := func(s *Session) string {
			list := decided(s)
			for i := range list {
				list[i].Effect, list[i].Why = policy.Deny, "This is outside of "+s.Workspace+"."
			}
			return s.Score(list).Summary()
		}
		if a, b := say(here), say(there); a != b || strings.Contains(a, here.Workspace) {
			t.Errorf("%s\n%s", a, b)
		}
	}
}
