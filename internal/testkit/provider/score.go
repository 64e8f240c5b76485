package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

// Tolerable is how many questions of a session an owner puts up with who wants none of them.
const Tolerable = 2

// byDesign are rules whose answer stands where the owner of a day wants another one, and why.
// What they say is counted, and does not fail a day.
var byDesign = map[string]string{
	"write-elsewhere":  "a person is asked about writing outside of the workspace",
	"delete-elsewhere": "a person is asked about deleting outside of the workspace",
	"write-persist":    "what later runs by itself is the user's to change",
	"inline-code":      "nobody has read the code inside a command",
	"gateway-tools":    "jobs that start turns of their own, and the removal of jobs, are a person's to allow",
	"other-tools":      "the tool message is how an assistant speaks; who must not be spoken to is the operator's to say",
	"":                 "the policy does not know what the program does with its arguments",
}

// Verdict is what was byDesign about a call. An empty effect means that it was never judged.
type Verdict struct {
	SessionCall
	Number int // 1 for the first call of the session
	Effect policy.Effect
	Rule   string // "": the default
	File   string // of the rule; that of a locked folder begins with policy/
	Reason string
}

// Score is what was byDesign in a session, call by call.
type Score struct {
	Session  *Session
	Verdicts []Verdict
}

// Score finds the decision about each call. The decisions are those of the session, in
// order; those about calls that the session does not make are left out.
func (s *Session) Score(list []decisions.Decision) Score {
	out := Score{Session: s}
	for i, c := range s.Calls {
		v := Verdict{SessionCall: c, Number: i + 1}
		if n := slices.IndexFunc(list, c.is); n >= 0 {
			d := list[n]
			v.Effect, v.Rule, v.Reason = d.Effect, d.Rule, d.Why
			v.File, _, _ = strings.Cut(d.Place, ":")
			list = slices.Delete(slices.Clone(list), n, n+1) // of calls in one reply any may come first
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	return out
}

// is says whether a decision is about this call, under its own name or carried by OpenClaw's
// tool_call. Of arguments that are too long for the log only the beginning is known.
func (c *SessionCall) is(d decisions.Decision) bool {
	if d.Tool == named(c.Tool) {
		return d.Bytes > 0 || same(d.Arguments, c.Args)
	}
	name, args, carried := policy.Carried(d.Tool, d.Arguments)
	return carried && name == named(c.Tool) && same(args, c.Args)
}

// named is what OpenClaw calls a tool that it also knows by another name.
func named(tool string) string {
	if tool == "cron" {
		return "automations"
	}
	return tool
}

// same compares JSON. The id of a running program is any.
func same(got, want []byte) bool {
	var a, b any
	if json.Unmarshal(got, &a) != nil || json.Unmarshal(want, &b) != nil {
		return false
	}
	if m, ok := a.(map[string]any); ok && bytes.Contains(want, []byte(Running)) {
		m["sessionId"] = Running
	}
	return reflect.DeepEqual(a, b)
}

// Of are the verdicts with an effect on calls of which an owner wants something.
func (s Score) Of(effect policy.Effect, want string) (out []Verdict) {
	for _, v := range s.Verdicts {
		if v.Effect == effect && v.Want == want {
			out = append(out, v)
		}
	}
	return out
}

// Check fails for every call that was denied, that was allowed although its owner wants to be asked, or that
// the policy never judged. It fails, too, if there are too many questions. What was byDesign otherwise is
// only told.
func (s Score) Check(t testing.TB) {
	t.Helper()
	t.Log(s)
	left := func(lists ...[]Verdict) (out []Verdict) {
		for _, v := range slices.Concat(lists...) {
			if why := byDesign[v.Rule]; why != "" && v.Effect != "" {
				t.Logf("%s (%s)", s.line(v), why)
			} else {
				out = append(out, v)
			}
		}
		return out
	}
	report := func(what string, list []Verdict) {
		for _, v := range list {
			t.Errorf("%s: %s", what, s.line(v))
		}
	}
	report("denied", left(s.Of(policy.Deny, Allow), s.Of(policy.Deny, Ask)))
	report("allowed, but somebody should be asked", left(s.Of(policy.Allow, Ask), s.Of(policy.Audit, Ask)))
	report("never judged", left(s.Of("", Allow), s.Of("", Ask)))
	if unwanted := left(s.Of(policy.Ask, Allow)); len(unwanted) > Tolerable && !s.Session.HeldOut {
		report("asked in vain", unwanted)
	}
}

// String is the score in a line.
func (s Score) String() string {
	count := func(effects ...policy.Effect) string {
		allow, ask := 0, 0
		for _, e := range effects {
			allow, ask = allow+len(s.Of(e, Allow)), ask+len(s.Of(e, Ask))
		}
		return fmt.Sprintf("%d + %d", allow, ask)
	}
	return fmt.Sprintf("%s: %d calls; (wanted allow + wanted ask) allowed %s, asked %s, denied %s, never judged %s",
		s.Session.Name, len(s.Verdicts), count(policy.Allow, policy.Audit), count(policy.Ask),
		count(policy.Deny), count(""))
}

// Summary says of each call that did not simply leave what became of it.
func (s Score) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, s)
	for _, v := range s.Verdicts {
		if v.Effect != policy.Allow {
			fmt.Fprintln(&b, "  "+s.line(v))
		}
	}
	return b.String()
}

// line is a verdict on one line. It is the same wherever the folders are.
func (s Score) line(v Verdict) string {
	short := strings.NewReplacer(s.Session.Workspace, "@WS@", s.Session.Home, "@HOME@").Replace
	return fmt.Sprintf("call %d, %s %.120s: %s, wanted %s; %s: %s", v.Number, v.Tool, short(string(v.Args)),
		cmp.Or(string(v.Effect), "never judged"), cmp.Or(v.Want, "nothing"),
		cmp.Or(strings.TrimSpace(v.Rule+" "+v.File), "no rule"), short(v.Reason))
}
