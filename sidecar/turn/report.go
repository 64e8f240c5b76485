package turn

import (
	"errors"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// report makes a fault visible to the operator.
func (t *Turn) report(f ruleset.Fault, r *ruleset.Remedy, again bool, about tools.Refusal, err error) {
	action := ruleset.GiveUp
	if again {
		action = r.Action
	}
	t.p.Metrics.Faults.WithLabelValues(string(f), string(action)).Inc()
	detail := about.Why
	var said *openai.Error
	if errors.As(err, &said) && said.Log != "" {
		detail = said.Log
	}
	t.p.Log.Info("fault", "event", "fault", "fault", f, "action", action, "model", t.Model.ID.Value, "server", t.srv.ID.Value,
		"tool", about.Name, "detail", detail, "rules", t.set.Version)
}

// count records what a reading found. A clean reply costs nothing here.
func (t *Turn) count(r *parse.Reading) {
	for i := range r.Calls {
		c := &r.Calls[i]
		t.p.Metrics.Calls.WithLabelValues(c.Strategy).Inc()
		for _, fix := range c.Repairs {
			t.p.Metrics.Repairs.WithLabelValues(fix.Kind).Inc()
		}
	}
	t.set.Hit(r, func(rule ruleset.Rule) { t.p.Metrics.Hits.WithLabelValues(rule.File, rule.ID).Inc() })
	for i := range r.Refused {
		t.p.Metrics.Refusals.WithLabelValues(string(r.Refused[i].Code)).Inc()
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		t.p.Log.Debug("reading", "event", "reading_step", "strategy", st.Strategy, "rule", st.Rule, "field", st.Field,
			"from", st.From, "to", st.To, "outcome", st.Outcome, "note", st.Note)
	}
}

// remember keeps the thoughts behind the calls that left under these ids.
func (t *Turn) remember(ids []string, r *parse.Reading) {
	for i, id := range ids {
		t.p.Thoughts.Put(id, r.Reasoning)
		if i < len(r.Calls) {
			t.p.Guard.Left(id, t.who.Agent, &r.Calls[i])
		}
	}
}
