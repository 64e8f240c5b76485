package guard

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Explanation is what the policy says of one call, and why.
type Explanation struct {
	Version   string            `json:"rules_version"`
	Tool      string            `json:"tool"`
	Class     string            `json:"class"`
	Arguments json.RawMessage   `json:"arguments"`
	Decision  policy.Decision   `json:"decision"`
	Rules     []ruleset.Verdict `json:"rules"`
}

// Explain decides a call as if the model server had sent it for a client; an empty client is openclaw.
// The error says what is wrong with the arguments, a JSON object.
func (w World) Explain(set *ruleset.Set, client, tool string, arguments json.RawMessage,
	confined bool) (*Explanation, error) {
	if _, err := policy.CallOf(tool, "", arguments); err != nil {
		return nil, err
	}
	call := tools.Call{Name: tool, Arguments: arguments, Strategy: "native", Confidence: 1}
	return w.ExplainCall(set, call, policy.Subject{Client: cmp.Or(client, ruleset.OpenClaw),
		Interactive: true}, confined), nil
}

// ExplainCall is Explain for a call that was read, and its subject. It does not know what the session
// did before.
func (w World) ExplainCall(set *ruleset.Set, call tools.Call, who policy.Subject,
	confined bool) *Explanation {
	return w.explain(set, call, who, Moment{Now: time.Now(), Confined: confined})
}

func (w World) explain(set *ruleset.Set, call tools.Call, who policy.Subject, m Moment) *Explanation {
	at, set := w.at(m), set.For(who.Client)
	return &Explanation{
		Version: set.Version, Tool: call.Name, Class: string(set.Tools.Class(call.Name)),
		Arguments: call.Arguments,
		Decision:  set.Decide(call, who, at), Rules: set.Verdicts(call, who, at),
	}
}
