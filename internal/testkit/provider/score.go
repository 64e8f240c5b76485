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

// Tolerable is the maximal number of questions in a session whose owner wants none.
const Tolerable = 2

// byDesign lists rules whose answer is right although the owner of a day wants another one, with the
// reason. They are counted, but do not fail a day.
var byDesign = map[string]string{
	"write-elsewhere":  "a person is asked about writing outside of the workspace",
	"delete-elsewhere": "a person is asked about deleting outside of the workspace",
	"write-persist":    "what later runs by itself is the user's to change",
	"inline-code":      "nobody has read the code inside a command",
	"gateway-tools":    "jobs that start turns of their own, and the removal of jobs, are a person's to allow",
	"other-tools":      "the tool message is how an assistant speaks; who must not be spoken to is the operator's to say",
	"":                 "the policy does not know what the program does with its arguments",
}

// Verdict is the decision about a call. An empty effect means that there is none.
type Verdict struct {
	SessionCall
	Number int // 1 for the first call of the session
	Effect policy.Effect
	Rule   string // "": the default
	File   string // of the rule; in a locked folder it begins with policy/
	Reason string
}

// Score holds the verdicts of a session, call by call.
type Score struct {
	Session  *Session
	Verdicts []Verdict
}

// Score matches calls with decisions, which are those of the session in order. Decisions about other calls
// are left out.
func (s *Session) Score(list []decisions.Decision) Score {
	out := Score{Session: s}
	for i, c := range s.Calls {
		v := Verdict{SessionCall: c, Number: i + 1}
		if n := slices.IndexFunc(list, c.is); n >= 0 {
			d := list[n]
			v.Effect, v.Rule, v.Reason = d.Effect, d.Rule, d.Why
			v.File, _, _ = strings.Cut(d.Place, ":")
			list = slices.Delete(slices.Clone(list), n, n+1) // calls of one reply come in any order
		}
		out.Verdicts = append(out.Verdicts, v)
	}
	return out
}

// is reports whether a decision is about this call, under its own name or through OpenClaw's tool_call. The
// log has only the beginning of long arguments.
func (c *SessionCall) is(d decisions.Decision) bool {
	if d.Tool == named(c.Tool) {
		return d.Bytes > 0 || same(d.Arguments, c.Args)
	}
	name, args, carried := policy.Carried(d.Tool, d.Arguments)
	return carried && name == named(c.Tool) && same(args, c.Args)
}

// named returns OpenClaw's main name of a tool.
func named(tool string) string {
	if tool == "cron" {
		return "automations"
	}
	return tool
}

// same compares JSON, except for the id of a running program.
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

// Of returns the verdicts with an effect on calls of which the owner wants something.
func (s Score) Of(effect policy.Effect, want string) (out []Verdict) {
	for _, v := range s.Verdicts {
		if v.Effect == effect && v.Want == want {
			out = append(out, v)
		}
	}
	return out
}

// Check fails for every call that was denied, allowed although its owner wants to be asked, or never
// judged, and for too many questions. Other differences are logged.
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

// String returns the score on one line.
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

// Summary describes each call that was not simply allowed.
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

// line describes a verdict on one line, independent of folders.
func (s Score) line(v Verdict) string {
	short := strings.NewReplacer(s.Session.Workspace, "@WS@", s.Session.Home, "@HOME@").Replace
	return fmt.Sprintf("call %d, %s %.120s: %s, wanted %s; %s: %s", v.Number, v.Tool, short(string(v.Args)),
		cmp.Or(string(v.Effect), "never judged"), cmp.Or(v.Want, "nothing"),
		cmp.Or(strings.TrimSpace(v.Rule+" "+v.File), "no rule"), short(v.Reason))
}
