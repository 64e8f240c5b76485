package sidecar

import (
	"cmp"
	"encoding/json"
	"slices"
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

// verdict is what was decided about a call, before anything was done about it.
type verdict struct {
	policy.Decision
	args     json.RawMessage // as they were judged
	approval string          // that the call waits for, or that let it pass
}

// decide says why a call may not leave, or nil. It is asked about every call, before any of
// its bytes leave. What it decides is logged first, if there is a log.
func (t *turn) decide(call *tools.Call) *tools.Refusal {
	began := time.Now()
	v, refusal := t.weigh(call)
	if t.s.decisions == nil {
		return refusal
	}
	entry := t.entry(call, &v, refusal)
	entry.Took = time.Since(began)
	err := t.s.decisions.Add(entry)
	if err == nil {
		return refusal
	}
	t.s.log.Error("a call is refused, since it cannot be logged", "event", "decisions_required", "tool", call.Name, "detail", err.Error())
	return &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: "No call may leave while decisions cannot be logged."}
}

// entry is a decision for the log.
func (t *turn) entry(call *tools.Call, v *verdict, refusal *tools.Refusal) decisions.Decision {
	outcome := decisions.Left
	switch {
	case refusal != nil:
		outcome = decisions.Refused
	case slices.ContainsFunc(call.Repairs, isAsk):
		outcome = decisions.Asked
	}
	return decisions.Decision{
		Request: t.id, Approval: v.approval, Session: t.who.Session, Agent: t.who.Agent, Channel: t.who.Channel, Interactive: t.who.Interactive,
		Model: t.who.Model, Tool: call.Name, Class: string(t.set.Tools.Class(call.Name)), Strategy: call.Strategy, Confidence: call.Confidence,
		Arguments: v.args, Effect: cmp.Or(v.Effect, policy.Allow), Enforced: v.Effect != policy.Audit, Outcome: outcome,
		Rule: v.Rule, Place: v.Place, Why: v.Why, Instead: v.Instead, Findings: v.Audits, Rules: t.set.Version,
	}
}
