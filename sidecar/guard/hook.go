package guard

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// HookRequest is a call that a gateway is about to run, whichever model made it. The gateway's hook
// asks first.
type HookRequest struct {
	ID        string          `json:"id"` // at the gateway
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // an object
	// Workspace is the agent's folder, as the gateway says; empty: it does not say.
	Workspace   string `json:"workspace"`
	Session     string `json:"session"`
	Agent       string `json:"agent"`
	Channel     string `json:"channel"`
	Model       string `json:"model"`
	Interactive *bool  `json:"interactive"` // nil is true: a person can answer
	// Again means that the call wraps another, about which a person is asked.
	Again bool `json:"again"`
}

// HookRuling is the decision about a hooked call.
type HookRuling struct {
	Effect  policy.Effect `json:"effect"` // allow, deny or ask
	Rule    string        `json:"rule,omitempty"`
	Why     string        `json:"why,omitempty"`
	Instead string        `json:"instead,omitempty"`
	// Message is for the model, if the call is not allowed.
	Message string `json:"message,omitempty"`
	// Departed means that it was judged as it left for the gateway.
	Departed bool             `json:"left,omitempty"`
	Approval *approvals.Entry `json:"approval,omitempty"` // what a person must be asked
	// Shown is the command, or the arguments, as a person may read them.
	Shown string `json:"shown,omitempty"`
}

// hookCall marks a judge whose call comes from a gateway's hook.
type hookCall struct {
	call     string           // its id
	question *approvals.Entry // question for a person
	why      string           // for the model while the question is open
}

func (h *hookCall) id() string {
	if h == nil {
		return ""
	}
	return h.call
}

// Hook judges a call that a gateway is about to run. A call that has left here passes once without a
// second decision, if it is exactly the same. The error says what is wrong with the request.
func (g *Guard) Hook(set *ruleset.Set, q *HookRequest) (*HookRuling, error) {
	if q.Tool == "" {
		return nil, errors.New(`"tool" is missing`)
	}
	var object map[string]any
	if err := json.Unmarshal(q.Arguments, &object); err != nil || object == nil {
		return nil, errors.New(`"arguments" must be a JSON object`)
	}
	if g.departed.Take(q.ID, q.Tool, q.Arguments) {
		return &HookRuling{Effect: policy.Allow, Departed: true}, nil
	}
	set = set.For(ruleset.OpenClaw) // it alone has such hooks
	who := policy.Subject{Model: q.Model, Client: ruleset.OpenClaw, Agent: q.Agent, Session: q.Session,
		Channel: q.Channel, Interactive: q.Interactive == nil || *q.Interactive}
	j := &judge{Guard: g, set: set, who: who, request: "hook-" + rand.Text(), hook: &hookCall{call: q.ID}}
	var named ruleset.Named
	if q.Workspace != "" {
		named.Folders = []string{q.Workspace}
	}
	j.world = j.worldOf(set, who, named)
	j.ask = j.askChat
	if q.Again {
		j.ask = j.askLater
	}
	call := tools.Call{Name: q.Tool, Arguments: q.Arguments, Strategy: "native", Confidence: 1}
	refusal := j.decide(&call)
	r := &HookRuling{Effect: policy.Allow, Rule: j.decision.Rule, Why: j.decision.Why,
		Instead: j.decision.Instead}
	if refusal == nil {
		return r, nil
	}
	r.Effect, r.Message = policy.Deny, refusal.Why
	if e := j.hook.question; e != nil && refusal.Why == j.hook.why { // else it cannot even be logged
		r.Effect, r.Approval, r.Shown = policy.Ask, e, approvals.Visible(hookText(e.Call.Command, object))
	}
	return r, nil
}

// askLater lets a call pass whose rule asks: a person is asked about the call inside of it.
func (j *judge) askLater(_ *tools.Call, d policy.Decision) (why, approval string) {
	if j.set.Confine() == ruleset.Always && runsShell(d.Facts) {
		return cannotConfine, ""
	}
	return "", ""
}

// askChat is askPerson for a call that the gateway asks about in the chat, unless it is answered here.
// What a person may allow must run confined, if all must.
func (j *judge) askChat(call *tools.Call, d policy.Decision) (why, approval string) {
	if j.set.Confine() == ruleset.Always && runsShell(d.Facts) {
		return cannotConfine, ""
	}
	why, e := j.askHere(call, d)
	if e == nil {
		return why, ""
	}
	if e.State == approvals.Pending {
		j.hook.question, j.hook.why = e, why
	}
	return why, e.ID
}

// hookText returns all of a call that a person may read: its command and its other arguments.
func hookText(command string, arguments map[string]any) string {
	rest := maps.Clone(arguments)
	if command != "" && rest["command"] == command {
		delete(rest, "command")
	} else {
		command = ""
	}
	if len(rest) == 0 {
		return command
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(rest) // it was JSON before
	return strings.TrimSpace(command + "\n" + b.String())
}
