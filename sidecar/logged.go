package sidecar

import (
	"crypto/rand"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// DecisionLog keeps what was decided about calls. The error means that the call must
// not leave.
type DecisionLog interface {
	Add(decisions.Decision) error
}

// LogDecisions makes the server write every decision to a log. It is for the time
// before the server serves.
func (s *Server) LogDecisions(to DecisionLog) { s.decisions = to }

// judging asks the policy about each call, and logs what it says, where there is a log.
// It is nil where nobody wants to know of calls.
func (t *turn) judging() func(tools.Call) *tools.Refusal {
	var decided policy.Decision // about the call that is judged, one at a time
	judge := t.set.Judge(t.model.ID, func(call tools.Call, d policy.Decision) bool {
		decided = d
		return t.decided(call, d)
	})
	if t.s.decisions == nil {
		return judge
	}
	request := rand.Text()
	return func(call tools.Call) (refusal *tools.Refusal) {
		began := time.Now()
		decided = policy.Decision{Effect: policy.Allow}
		if judge != nil {
			refusal = judge(call)
		}
		entry := t.entry(call, decided, refusal)
		entry.Request, entry.Took = request, time.Since(began)
		if err := t.s.decisions.Add(entry); err != nil {
			t.s.log.Error("a call is refused, since it cannot be logged", "event", "decisions_required", "tool", call.Name, "detail", err.Error())
			return &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: "no call may leave while decisions cannot be logged"}
		}
		return refusal
	}
}

// entry is a decision for the log.
func (t *turn) entry(call tools.Call, d policy.Decision, refusal *tools.Refusal) decisions.Decision {
	outcome := decisions.Left
	switch {
	case refusal != nil:
		outcome = decisions.Refused
	case d.Effect == policy.Ask:
		outcome = decisions.Asked
	}
	return decisions.Decision{
		Model: t.model.ID, Tool: call.Name, Class: string(t.set.Tools.Class(call.Name)), Strategy: call.Strategy, Confidence: call.Confidence,
		Arguments: call.Arguments, Effect: d.Effect, Enforced: refusal != nil || d.Effect != policy.Deny, Outcome: outcome,
		Rule: d.Rule, Place: d.Place, Why: d.Why, Findings: d.Audits, Rules: t.set.Version,
	}
}
