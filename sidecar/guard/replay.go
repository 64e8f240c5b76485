package guard

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// replayedSessions is for how many sessions at once a replay counts.
const replayedSessions = 1 << 16

// Decider decides the calls of a decision log by a rule set, each at its time. It counts anew what a
// session did before. Links are followed as they are now.
func (w World) Decider(set *ruleset.Set) decisions.Decider {
	rates := state.NewRates(replayedSessions, nil)
	return func(r *decisions.Record) policy.Decision {
		d := r.Decision
		call, who := loggedCall(d)
		now := w.In(d.Workspace, d.Cwd).Decide(set, call, who,
			Moment{Now: r.Time, Rates: rates.Session(d.Session, r.Time),
				Confined: d.Outcome == decisions.Confined})
		rates.Add(d.Session, r.Time, now.Counts())
		return now
	}
}

// ExplainLogged explains one call of a decision log as of its time. It does not know what the session
// did before.
func (w World) ExplainLogged(set *ruleset.Set, r *decisions.Record) *Explanation {
	call, who := loggedCall(r.Decision)
	return w.In(r.Decision.Workspace, r.Decision.Cwd).explain(set, call, who,
		Moment{Now: r.Time, Confined: r.Decision.Outcome == decisions.Confined})
}

// loggedCall returns a call of a decision log and its subject.
func loggedCall(d *decisions.Decision) (tools.Call, policy.Subject) {
	return tools.Call{Name: d.Tool, Arguments: d.Arguments, Strategy: d.Strategy, Confidence: d.Confidence},
		policy.Subject{Model: d.Model, Client: d.Client, Agent: d.Agent, Session: d.Session,
			Channel: d.Channel, Run: d.Run, Interactive: d.Interactive}
}
