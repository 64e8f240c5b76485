package guard

import (
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// replayedSessions is for how many sessions at once a replay counts what they did.
const replayedSessions = 1 << 16

// Decider lets a rule set decide about the calls of a decision log, each at its time. What a
// session did before is counted anew. Links are followed as they are now.
func (w World) Decider(set *ruleset.Set) decisions.Decider {
	rates := state.NewRates(replayedSessions, nil)
	return func(r *decisions.Record) policy.Decision {
		d := r.Decision
		call, who := logged(d)
		now := w.In(d.Workspace, d.Cwd).Decide(set, call, who,
			Moment{Now: r.Time, Rates: rates.Session(d.Session, r.Time),
				Confined: d.Outcome == decisions.Confined})
		rates.Add(d.Session, r.Time, now.Counts())
		return now
	}
}

// ExplainLogged asks a rule set about one call of a decision log, as of its time. What its session
// did before is not known.
func (w World) ExplainLogged(set *ruleset.Set, r *decisions.Record) *Explanation {
	call, who := logged(r.Decision)
	return w.In(r.Decision.Workspace, r.Decision.Cwd).explain(set, call, who,
		Moment{Now: r.Time, Confined: r.Decision.Outcome == decisions.Confined})
}

// logged is a call of a decision log, and who asked for it.
func logged(d *decisions.Decision) (tools.Call, policy.Subject) {
	return tools.Call{Name: d.Tool, Arguments: d.Arguments, Strategy: d.Strategy, Confidence: d.Confidence},
		policy.Subject{Model: d.Model, Client: d.Client, Agent: d.Agent, Session: d.Session,
			Channel: d.Channel, Run: d.Run, Interactive: d.Interactive}
}
