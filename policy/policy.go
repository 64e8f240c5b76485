// Package policy decides whether a call may leave: rules over what is known of it,
// and the strictest of those that hold. It is pure. It never runs, opens or fetches
// anything, and never changes a call.
package policy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Effect is what a rule does with a call.
type Effect string

// The effects, from the weakest to the strongest.
const (
	Allow Effect = "allow"
	Audit Effect = "audit" // allowed, and noted as if it were denied: a dry run
	Deny  Effect = "deny"
)

// Call is what a condition sees of a call. The tag doc is what operators read about a
// field.
type Call struct {
	Tool       string         `expr:"tool" doc:"The name of the tool that would run."`
	Class      string         `expr:"class" doc:"read, write or exec, by the classes of arguments.yaml."`
	Args       map[string]any `expr:"args" doc:"The arguments, for example args.path."`
	Command    string         `expr:"command" doc:"The shell line of a tool that takes one, else an empty text."`
	Strategy   string         `expr:"strategy" doc:"The id of the strategy that found the call."`
	Confidence float64        `expr:"confidence" doc:"How sure that strategy is, 0 to 1."`
	Model      string         `expr:"model" doc:"The model id that the caller asked for."`
}

// CallOf takes the arguments of a call apart. Arguments that are no JSON object
// leave Args empty.
func CallOf(tool, class string, arguments []byte) Call {
	c := Call{Tool: tool, Class: class, Args: map[string]any{}}
	if json.Unmarshal(arguments, &c.Args) != nil || c.Args == nil {
		c.Args = map[string]any{}
	}
	c.Command = shellLine(c.Args)
	return c
}

// carrier is the tool with which OpenClaw's Tool Search calls another one:
// {"id": name, "args": {…}}.
const carrier = "tool_call"

// Carried gives the call that another one carries, if it carries one.
func Carried(tool string, arguments []byte) (inner string, args []byte, ok bool) {
	var c struct {
		ID   string          `json:"id"`
		Args json.RawMessage `json:"args"`
	}
	if tool != carrier || json.Unmarshal(arguments, &c) != nil || c.ID == "" {
		return "", nil, false
	}
	var text string
	if json.Unmarshal(c.Args, &text) == nil { // encoded twice
		c.Args = json.RawMessage(text)
	}
	return c.ID, c.Args, true
}

// shellLine is the command in arguments: a text, or a list of words.
func shellLine(args map[string]any) string {
	for _, key := range []string{"command", "cmd", "script"} {
		switch v := args[key].(type) {
		case string:
			return v
		case []any:
			words := make([]string, len(v))
			for i := range v {
				words[i] = fmt.Sprint(v[i])
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// Rule is one sentence of a policy.
type Rule struct {
	ID     string
	Place  string // file:line
	Effect Effect
	Why    string                   // what the model is told of a denial
	When   func(Call) (bool, error) // nil: always
}

// Rules is a policy. The zero Rules allows everything.
type Rules struct {
	Default Effect // Allow or Deny; empty is Allow
	List    []Rule
}

// Decision is what a policy says of one call. Rule and Place are empty where the
// default decided.
type Decision struct {
	Effect Effect    `json:"effect"`
	Rule   string    `json:"rule,omitempty"`
	Place  string    `json:"place,omitempty"`
	Why    string    `json:"why,omitempty"`
	Audits []Finding `json:"audits,omitempty"` // what would have denied it, were it no dry run
}

// Finding is a rule that holds for a call.
type Finding struct {
	Rule  string `json:"rule"`
	Place string `json:"place"`
	Why   string `json:"why"`
}

// Decide looks at all rules. A denial beats everything, wherever it stands. A rule
// that fails while it is evaluated denies if it would deny, and does not allow.
func (r *Rules) Decide(c Call) Decision {
	d := Decision{Effect: r.Default, Why: "no rule allows it"}
	if d.Effect != Deny {
		d = Decision{Effect: Allow}
	}
	for i := range r.List {
		rule := &r.List[i]
		holds, err := true, error(nil)
		if rule.When != nil {
			holds, err = rule.When(c)
		}
		switch {
		case err != nil && rule.Effect == Deny:
			return Decision{Effect: Deny, Rule: rule.ID, Place: rule.Place, Why: "the rule " + rule.ID + " cannot be evaluated for it", Audits: d.Audits}
		case err == nil && !holds, err != nil && rule.Effect == Allow:
		case rule.Effect == Deny:
			return Decision{Effect: Deny, Rule: rule.ID, Place: rule.Place, Why: rule.Why, Audits: d.Audits}
		case rule.Effect == Audit:
			d.Audits = append(d.Audits, Finding{rule.ID, rule.Place, rule.Why})
		case d.Rule == "":
			d = Decision{Effect: Allow, Rule: rule.ID, Place: rule.Place, Why: rule.Why, Audits: d.Audits}
		}
	}
	return d
}

// Stricter joins what two policies say: a denial of either is one.
func Stricter(a, b Decision) Decision {
	if b.Effect == Deny && a.Effect != Deny {
		a, b = b, a
	}
	a.Audits = append(a.Audits, b.Audits...)
	return a
}
