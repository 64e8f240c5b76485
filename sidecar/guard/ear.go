package guard

import (
	"cmp"
	"log/slog"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Ear hears of the calls of one request. Its zero value hears nothing.
type Ear struct {
	Log  *slog.Logger // of the request; nil: that of the guard
	Told func(Told)   // of each decision; may be nil
}

// Told is a decision about a call.
type Told struct {
	Tool        string
	Effect      policy.Effect
	Rule, Place string // of the rule, and file:line
	Outcome     decisions.Outcome
}

// hears tells who listens.
func (j *judge) hears(call *tools.Call, v *verdict, refusal *tools.Refusal) {
	if j.ear.Told == nil {
		return
	}
	j.ear.Told(Told{call.Name, cmp.Or(v.Effect, policy.Allow), cmp.Or(v.Rule, "default"), v.Place,
		j.outcome(call, refusal)})
	for _, f := range v.Audits {
		j.ear.Told(Told{call.Name, policy.Audit, f.Rule, f.Place, j.outcome(call, refusal)})
	}
}

// outcome is how a call leaves, or that it does not.
func (j *judge) outcome(call *tools.Call, refusal *tools.Refusal) decisions.Outcome {
	switch {
	case j.hooked != nil && j.hooked.asks != nil:
		return decisions.Asked
	case refusal != nil:
		return decisions.Refused
	}
	return OutcomeOf(call)
}

// log is that of the request.
func (j *judge) log() *slog.Logger { return cmp.Or(j.ear.Log, j.Log) }

// Damage reports whether a repair of this kind mends damage of the model's, and is no mark of the
// policy's.
func Damage(kind string) bool { return !ByPolicy(tools.Repair{Kind: kind}) }
