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

// Hooked is a call that a gateway is about to run, whichever model has made it. Its hook asks
// first.
type Hooked struct {
	ID        string          `json:"id"` // of the call, at the gateway
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // an object
	// where the gateway says that the agent works; empty: it does not say it
	Workspace   string `json:"workspace"`
	Session     string `json:"session"`
	Agent       string `json:"agent"`
	Channel     string `json:"channel"`
	Model       string `json:"model"`
	Interactive *bool  `json:"interactive"` // absent is true: a person can answer
	// the call inside of it comes by itself: a person is asked about that one
	Again bool `json:"again"`
}

// HookRuling is what becomes of a hooked call.
type HookRuling struct {
	Effect  policy.Effect `json:"effect"` // allow, deny or ask
	Rule    string        `json:"rule,omitempty"`
	Why     string        `json:"why,omitempty"`
	Instead string        `json:"instead,omitempty"`
	// what the model is told, where the call is not allowed
	Message string `json:"message,omitempty"`
	// it was judged as it left for the gateway, and not again
	Departed bool             `json:"left,omitempty"`
	Approval *approvals.Entry `json:"approval,omitempty"` // what a person is to be asked
	// the command, or the arguments, as a person may read them
	Shown string `json:"shown,omitempty"`
}

// hooked marks a judge whose call stands before a gateway's hook, and what it asks.
type hooked struct {
	call string // its id
	asks *approvals.Entry
	why  string // that the model is told while the question is open
}

func (h *hooked) id() string {
	if h == nil {
		return ""
	}
	return h.call
}

// Hook judges a call that a gateway is about to run. One that has left here passes without a
// second decision, once, if it is exactly the same. The error says what is wrong with the
// question.
func (g *Guard) Hook(set *ruleset.Set, q *Hooked) (*HookRuling, error) {
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
	j := &judge{Guard: g, set: set, who: who, request: "hook-" + rand.Text(), hooked: &hooked{call: q.ID}}
	var named ruleset.Named
	if q.Workspace != "" {
		named.Folders = []string{q.Workspace}
	}
	j.world = j.where(set, who, named)
	j.ask = j.askChat
	if q.Again {
		j.ask = j.askLater
	}
	call := tools.Call{Name: q.Tool, Arguments: q.Arguments, Strategy: "native", Confidence: 1}
	refusal := j.decide(&call)
	r := &HookRuling{Effect: policy.Allow, Rule: j.decided.Rule, Why: j.decided.Why,
		Instead: j.decided.Instead}
	if refusal == nil {
		return r, nil
	}
	r.Effect, r.Message = policy.Deny, refusal.Why
	if e := j.hooked.asks; e != nil && refusal.Why == j.hooked.why { // else it cannot even be logged
		r.Effect, r.Approval, r.Shown = policy.Ask, e, approvals.Visible(shown(e.Call.Command, object))
	}
	return r, nil
}

// askLater lets a call pass that asks: what it wraps comes by itself.
func (j *judge) askLater(_ *tools.Call, d policy.Decision) (why, approval string) {
	if j.set.Confine() == ruleset.Always && runsShell(d.Facts) {
		return cannotConfine, ""
	}
	return "", ""
}

// askChat is askPerson for a call that the gateway asks about, in the chat, if the answer is
// not known here. What a person may allow must run confined, if all must.
func (j *judge) askChat(call *tools.Call, d policy.Decision) (why, approval string) {
	if j.set.Confine() == ruleset.Always && runsShell(d.Facts) {
		return cannotConfine, ""
	}
	why, e := j.askHere(call, d)
	if e == nil {
		return why, ""
	}
	if e.State == approvals.Pending {
		j.hooked.asks, j.hooked.why = e, why
	}
	return why, e.ID
}

// shown is all of a call that a person may read: its command, and its other arguments.
func shown(command string, arguments map[string]any) string {
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
