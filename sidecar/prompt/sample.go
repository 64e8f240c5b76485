package prompt

import "time"

// trial is one way in which a template is tried.
type trial struct {
	form  string
	facts any
	bare  bool // no tool is offered
}

// samples are all trials: each form of the template, with all its data.
func (p *Prompt) samples() (out []trial) {
	facts := Facts{Model: "gpt-oss", Now: time.Unix(0, 0), Tools: []Tool{
		toolOf("read", "Reads a file.",
			`{"type":"object","properties":{"path":{"type":"string","description":"Which one."},"limit":{"type":"integer"}},"required":["path"]}`),
		toolOf("now", "", ""),
	}}
	out = append(out, trial{facts: facts},
		trial{facts: Facts{Model: "gpt-oss", Now: facts.Now, Tools: facts.Tools[1:]}})
	calls := []Call{
		{"read", `{"path":"notes.md","limit":3}`, []Pair{{"path", "notes.md"}, {"limit", "3"}}},
		{"now", `{}`, nil},
	}
	for form, data := range map[string][]any{
		callsForm:   {Reply{"I look.", calls}, Reply{"", calls[1:]}},
		resultsForm: {Results{[]Result{{"read", "All is well."}, {"now", ""}}}},
		answerForm:  {Answer{"All is well."}},
	} {
		if !p.has(form) {
			continue
		}
		for _, d := range data {
			out = append(out, trial{form: form, facts: d})
		}
	}
	return append(out, trial{facts: Facts{Model: "gpt-oss", Now: facts.Now}, bare: true})
}
