package prompt

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// EditsOutcome is the effect of one rule on a request and its results.
type EditsOutcome struct {
	Rule    string `json:"rule"` // file:line
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
}

// The outcomes of rules.
const (
	Edited  = "edited"
	Held    = "holds, and changes nothing"
	notHeld = "its condition is false"
)

// Explain returns the effect of every rule, and the edited request. A rule for results is edited if it
// changed one of them.
func (e *Edits) Explain(req *openai.Request, who policy.Subject,
	defaults map[string]any) (list []EditsOutcome, out *openai.Request, err error) {
	out, done, err := e.Request(req, who, defaults)
	if err != nil {
		return nil, nil, err
	}
	held := e.held(req, who)
	for _, r := range e.Rules() {
		o := EditsOutcome{r.Place, r.ID, notHeld}
		switch {
		case slices.Contains(done.Made, r):
			o.Outcome = Edited
		case slices.Contains(held, r):
			o.Outcome = Held
		}
		list = append(list, o)
	}
	for _, failed := range done.Failed {
		list = append(list, EditsOutcome{Outcome: failed.Error()})
	}
	return list, out, nil
}

// held returns the rules whose conditions hold, for the request or one of its results.
func (e *Edits) held(req *openai.Request, who policy.Subject) (out []editRule) {
	d := &draft{q: req, done: &EditsDone{}}
	own, locked := e.requests.holding(d.env(who), d.done)
	for _, r := range append(own, locked...) {
		out = append(out, r.editRule)
	}
	d.eachResult(who, func(_ *openai.Message, r ResultFacts, _ []openai.Span, texts []string) {
		own, locked := e.results.holding(whole(r, texts), d.done)
		for _, r := range append(own, locked...) {
			out = append(out, r.editRule)
		}
	})
	return out
}
