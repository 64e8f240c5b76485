package guard

import (
	"cmp"
	"log/slog"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Observer is told each decision about the calls of one request. Its zero value takes none.
type Observer struct {
	Log     *slog.Logger       // of the request; nil: that of the guard
	Decided func(CallDecision) // of each decision; may be nil
}

// CallDecision is a decision about a call.
type CallDecision struct {
	Tool        string
	Effect      policy.Effect
	Rule, Place string // of the rule, and file:line
	Outcome     decisions.Outcome
}

// report gives the observer the decision about a call, and those that only audit it.
func (j *judge) report(call *tools.Call, v *verdict, refusal *tools.Refusal) {
	if j.observer.Decided == nil {
		return
	}
	j.observer.Decided(CallDecision{call.Name, cmp.Or(v.Effect, policy.Allow), cmp.Or(v.Rule, "default"),
		v.Place,
		j.outcome(call, refusal)})
	for _, f := range v.Audits {
		j.observer.Decided(CallDecision{call.Name, policy.Audit, f.Rule, f.Place, j.outcome(call, refusal)})
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
func (j *judge) log() *slog.Logger { return cmp.Or(j.observer.Log, j.Log) }

// Repairs are the kinds of what was mended in a call, wherever it is counted. One of them is that the server
// had not parsed the call, so that another strategy than native found it. A mark of the policy's is none.
func Repairs(call *tools.Call) (kinds []string) {
	if call.Strategy != "" && call.Strategy != string(parse.Native) {
		kinds = append(kinds, "call.text")
	}
	for _, r := range call.Repairs {
		if !ByPolicy(r) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}
