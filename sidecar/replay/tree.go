package replay

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Tree explains to people how a reply is read: what it is, what each strategy of the profile made of it and
// why, and the result. It is plain data.
type Tree struct {
	Explained
	Profile    string         `json:"profile"`
	Tools      []string       `json:"tools"` // offered; null: not known, every name is one
	Reply      Shape          `json:"reply"`
	Strategies []TreeStrategy `json:"strategies"`       // highest priority first
	Frames     int            `json:"frames,omitempty"` // of other families, which nothing opened
	Rest       []TreeStep     `json:"others,omitempty"`
	Policy     []TreeDecision `json:"policy,omitempty"` // of each call that was found
}

// TreeStrategy is what a strategy made of the reply.
type TreeStrategy struct {
	ID       string     `json:"id"`
	Kind     parse.Kind `json:"kind"`
	Priority int        `json:"priority"`
	Rule     string     `json:"rule"` // file:line
	Verdict  Verdict    `json:"verdict"`
	Says     string     `json:"says"` // the verdict in words
	Calls    []TreeCall `json:"calls,omitempty"`
	Steps    []TreeStep `json:"steps,omitempty"` // what it looked at, calls aside
}

// Verdict sums up what a strategy made of a reply.
type Verdict string

// The verdicts; the first that fits counts.
const (
	VerdictDisabled  Verdict = "disabled"
	VerdictFound     Verdict = "found"
	VerdictRefused   Verdict = "refused"   // looked like a call and is none
	VerdictCondition Verdict = "condition" // its condition was false, or failed
	VerdictNothing   Verdict = "nothing"   // nothing opened it
	VerdictHandled   Verdict = "handled"   // shown, thought, dropped, released or the end of the turn
)

// TreeDecision is the policy's decision about a call.
type TreeDecision struct {
	Tool string `json:"tool"`
	policy.Decision
}

// TreeCall is a call as a strategy found it.
type TreeCall struct {
	Written    string          `json:"written"` // the name in the model's words; empty: it gave none
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Confidence float64         `json:"confidence"`
	Repairs    []tools.Repair  `json:"repairs"`
}

// TreeStep is a step of the trace, with the condition that was false.
type TreeStep struct {
	parse.Step
	Condition *cond.Term `json:"condition,omitempty"`
}

// maxTerms bounds the denied candidates of a strategy whose condition is explained, since a reply may hold
// hundreds.
const maxTerms = 4

// ExplainTree reads a reply with the code that serves and says what every strategy of the profile made of
// it.
func ExplainTree(set *ruleset.Set, in guard.World, profile string, rec *Record) (*Tree, error) {
	s, err := rec.read(set, in, profile, true)
	if err != nil {
		return nil, err
	}
	return s.tree(set, profile, rec), nil
}

func (s *recordReading) tree(set *ruleset.Set, profile string, rec *Record) *Tree {
	profile = cmp.Or(profile, set.ProfileFor(rec.Model))
	t := &Tree{Explained: *s.explained(set, rec), Profile: profile, Reply: s.shape,
		Strategies: []TreeStrategy{}, Policy: s.decided}
	if !s.catalog.Open() {
		t.Tools = s.catalog.Names()
	}
	for _, st := range set.Strategies(profile).All() {
		if node := s.strategy(set, &st); st.Foreign && node.Verdict == VerdictNothing {
			t.Frames++
		} else {
			t.Strategies = append(t.Strategies, node)
		}
	}
	for _, step := range s.reading.Steps {
		if step.Strategy == "" {
			t.Rest = append(t.Rest, TreeStep{Step: step})
		}
	}
	return t
}

// strategy is what became of one strategy.
func (s *recordReading) strategy(set *ruleset.Set, st *parse.Strategy) TreeStrategy {
	t := TreeStrategy{ID: st.ID, Kind: st.Kind, Priority: st.Priority, Rule: st.Place}
	for _, c := range s.reading.Calls {
		if c.Strategy == st.ID {
			t.Calls = append(t.Calls, treeCall(c))
		}
	}
	terms := 0
	for _, step := range s.reading.Steps {
		if step.Strategy != st.ID || step.Outcome == parse.Found {
			continue
		}
		node := TreeStep{Step: step}
		if step.Denied != nil && terms < maxTerms {
			if term, ok := set.WhyNot(st.ID, *step.Denied); ok {
				node.Condition = &term
				terms++
			}
		}
		t.Steps = append(t.Steps, node)
	}
	switch {
	case set.Barred(st.ID) != "":
		t.Verdict, t.Says = VerdictDisabled, "off: "+set.Barred(st.ID)+" keeps it off"
	case !st.Enabled:
		t.Verdict, t.Says = VerdictDisabled, "off: disabled in the profile"
	case len(t.Calls) > 0:
		t.Verdict, t.Says = VerdictFound, "found "+terminal.Count(len(t.Calls), "call")
	case len(t.Steps) == 0 && st.Kind == parse.Harmony && s.reading.Marked:
		t.Verdict, t.Says = VerdictHandled, "messages, and no call in them"
	case len(t.Steps) == 0:
		t.Verdict, t.Says = VerdictNothing, s.whyNothing(st)
	default:
		t.Verdict, t.Says = summary(t.Steps)
	}
	return t
}

func treeCall(c tools.Call) TreeCall {
	t := TreeCall{Written: c.Name, Name: c.Name, Arguments: c.Arguments, Confidence: c.Confidence,
		Repairs: c.Repairs}
	if t.Repairs == nil {
		t.Repairs = []tools.Repair{}
	}
	for _, r := range c.Repairs {
		if strings.HasPrefix(r.Kind, "name.") {
			t.Written = r.From
			break
		}
	}
	return t
}

// whyNothing says why an enabled strategy has not looked at anything.
func (s *recordReading) whyNothing(st *parse.Strategy) string {
	switch {
	case st.Kind == parse.Native:
		return "no tool_calls"
	case st.Kind == parse.Phrases && s.catalog.Open():
		return "off: it reads prose only where the offered tools are known"
	case st.Kind == parse.Phrases && len(s.reading.Calls)+len(s.reading.Refused) > 0:
		return "not asked: the reply holds calls already"
	}
	return "nothing that opens it"
}

// summary sums up steps without calls.
func summary(steps []TreeStep) (Verdict, string) {
	denied := -1
	for i := range steps {
		switch s := &steps[i]; {
		case s.Outcome == parse.Refused && s.Denied == nil:
			return VerdictRefused, s.Says()
		case s.Denied != nil && denied < 0:
			denied = i
		}
	}
	if denied >= 0 {
		return VerdictCondition, "off: " + steps[denied].Says()
	}
	return VerdictHandled, steps[0].Says()
}

// Says describes the step.
func (s *TreeStep) Says() string {
	switch {
	case s.Denied != nil && s.Error != "":
		return "its condition fails: " + s.Error
	case s.Denied != nil:
		return "its condition is false"
	}
	did := map[parse.Outcome]string{
		parse.Shown: "shown as text", parse.Thinking: "taken for reasoning",
		parse.Finished: "the end of the turn",
	}[s.Outcome]
	if did == "" {
		did = string(s.Outcome)
	}
	return did + ": " + s.Note
}

// Judgeable returns the calls that were found and those that the policy denied.
func (t *Tree) Judgeable() (out []tools.Call) {
	for _, c := range t.Calls {
		out = append(out, tools.Call{Name: c.Name, Arguments: c.Arguments, Strategy: c.Strategy,
			Confidence: c.Confidence, Repairs: c.Repairs})
	}
	for _, f := range t.Refused {
		if f.Code == tools.Denied && json.Valid([]byte(f.Text)) {
			out = append(out, tools.Call{Name: f.Name, Arguments: json.RawMessage(f.Text), Strategy: "native",
				Confidence: 1})
		}
	}
	return out
}
