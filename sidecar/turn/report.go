package turn

import (
	"context"
	"errors"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// reportFault records a fault for the operator.
func (t *Turn) reportFault(f ruleset.Fault, r *ruleset.Remedy, again bool, about tools.Refusal, err error) {
	action := ruleset.GiveUp
	if again {
		action = r.Action
	}
	t.account.addFaults(FaultRecord{f, action, about.Name, detail(about, err)})
	t.span.Fault(string(f), string(action), about.Name, again)
	t.planner.Metrics.Faults.WithLabelValues(t.labels(string(f), string(action))...).Inc()
	t.log.Info("fault", "event", "fault", "fault", f, "action", action, "model", t.Model.ID.Value,
		"server", t.srv.ID.Value,
		"tool", about.Name, "detail", detail(about, err), "rules", t.set.Version)
}

// leastPrompt is the smallest request, in bytes, whose prompt tokens are checked; no token has as many as
// mostBytes.
const (
	leastPrompt = 16 << 10
	mostBytes   = 12
)

// warnUnread warns of a prompt that the server may have cut silently. Servers that report cached tokens may
// count only the rest.
func (t *Turn) warnUnread(ctx context.Context) {
	read := t.account.last[0]
	if t.attempt.size < leastPrompt || read == 0 || read*mostBytes > t.attempt.size || read < t.window/2 {
		return
	}
	t.log.WarnContext(ctx, "the model server has read much less than it was sent: its context is too small, or it counts only what is new", "event", "prompt_cut",
		"prompt_tokens", read, "bytes", t.attempt.size, "context_window", t.window, "model", t.Model.ID.Value,
		"server", t.srv.ID.Value, "rules", t.set.Version)
}

// detail returns what a fault tells the operator.
func detail(about tools.Refusal, err error) string {
	var apiErr *openai.Error
	if errors.As(err, &apiErr) && apiErr.Log != "" {
		return apiErr.Log
	}
	return about.Why
}

// labels returns the labels of a metric for this turn, and more.
func (t *Turn) labels(more ...string) []string {
	return telemetry.Labels(t.Model.ID.Value, t.set.Arms, more...)
}

// count counts what a reading found.
func (t *Turn) count(r *parse.Reading) {
	for i := range r.Calls {
		c := &r.Calls[i]
		t.planner.Metrics.Calls.WithLabelValues(t.labels(c.Strategy)...).Inc()
		t.account.addCall(c.Strategy)
		for _, kind := range guard.Repairs(c) {
			t.planner.Metrics.Repairs.WithLabelValues(t.labels(kind)...).Inc()
		}
	}
	if r.Headless && !t.up.EatsHeaders() {
		t.up.AteHeader()
		t.log.Info("this model server eats the header of thoughts: from now on the first text of its replies is held for a moment",
			"event", "headers_eaten", "model", t.Model.ID.Value, "server", t.srv.ID.Value)
	}
	t.set.Hit(r, func(rule ruleset.Rule) {
		t.planner.Metrics.Hits.WithLabelValues(t.labels(rule.File, rule.ID)...).Inc()
	})
	if r.Repeated > 0 { // or there would be a series of nothing
		t.account.Repeated += r.Repeated
		t.planner.Metrics.Repeated.WithLabelValues(t.labels()...).Add(float64(r.Repeated))
	}
	t.account.Refused += len(r.Refused)
	for i := range r.Refused {
		t.planner.Metrics.Refusals.WithLabelValues(t.labels(string(r.Refused[i].Code))...).Inc()
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		t.log.Debug("reading", "event", "reading_step", "strategy", st.Strategy, "rule", st.Rule,
			"field", st.Field,
			"from", st.From, "to", st.To, "outcome", st.Outcome, "note", st.Note)
	}
}

// Edited counts what edits.yaml did and returns the ids of the rules.
func (p *Planner) Edited(set *ruleset.Set, model string, done prompt.EditsDone) (ids []string) {
	for _, err := range done.Failed {
		p.Log.Warn("a condition failed", "event", "edit_failed", "detail", err.Error(), "rules", set.Version)
	}
	for _, r := range done.Made {
		p.Metrics.Hits.WithLabelValues(telemetry.Labels(model, set.Arms, r.File, r.ID)...).Inc()
		ids = append(ids, r.ID)
	}
	return ids
}

// noteRefused tells operator and model of calls that were refused while others left. The model is not asked
// again, but reads a note with the result of the last call that left.
func (t *Turn) noteRefused(ids []string, refusals []tools.Refusal) {
	if len(ids) == 0 {
		return
	}
	var notes []string
	for _, r := range refusals {
		fault, known := refusalFaults[r.Code]
		if !known {
			continue // it was no call
		}
		t.log.Warn("a call was refused, and others of the same reply have left", "event", "call_refused",
			"fault", fault, "tool", r.Name,
			"detail", r.Why, "left", len(ids), "model", t.Model.ID.Value, "server", t.srv.ID.Value,
			"agent", t.subject.Agent, "session", t.subject.Session, "rules", t.set.Version)
		remedy := t.set.Recovery.For(fault)
		why := remedy.Correction(r.Name, r.Why, t.catalog.Names())
		if why == "" {
			why = "The call of " + r.Name + " was not made: " + r.Why
		}
		notes = append(notes, why)
	}
	if len(notes) > 0 {
		t.notes.put(ids[len(ids)-1], "Of the calls that you made together, not all were run. "+
			strings.Join(notes, " "))
	}
}

// remember keeps the thoughts behind the calls that left under these ids.
func (t *Turn) remember(ids []string, r *parse.Reading) {
	for i, id := range ids {
		t.thoughts.put(id, r.Reasoning)
		if i < len(r.Calls) {
			t.awaited.put(id, t.planner.Guard.NoteDeparture(id, t.subject, &r.Calls[i]))
		}
	}
}
