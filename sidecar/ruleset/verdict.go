package ruleset

import "github.com/jgavinray/gpt-oss-executor/policy"

// Verdict is what one rule of exec.yaml says of a call.
type Verdict struct {
	Rule   string        `json:"rule"`
	Place  string        `json:"place"` // file:line
	Effect policy.Effect `json:"effect"`
	Holds  bool          `json:"holds"`
	Error  string        `json:"error,omitempty"`
	Term   *Term         `json:"condition,omitempty"` // nil: the rule has none
}

// judged is a rule with what is needed to take its condition apart.
type judged struct {
	rule   policy.Rule
	when   *text
	lists  lists
	locked bool // it stands in the locked folder
}

// Verdicts says of every rule whether it holds for a call, in the order of the
// files; those of the locked folder last.
func (s *Set) Verdicts(c policy.Call) []Verdict {
	out := make([]Verdict, len(s.judged))
	for i, j := range s.judged {
		c := c
		if j.locked {
			c = s.underLock(c)
		}
		v := Verdict{Rule: j.rule.ID, Place: j.rule.Place, Effect: j.rule.Effect, Holds: true}
		if j.when != nil {
			holds, err := j.rule.When(c)
			if v.Holds = holds; err != nil {
				v.Error = plainMessage(err)
			}
			term := terms(*j.when, c, j.lists)
			v.Term = &term
		}
		out[i] = v
	}
	return out
}
