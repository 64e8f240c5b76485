package sidecar

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// asker is who asks for the calls of a request. Somebody can answer a question: a
// person at the gateway, or one who looks at the approvals here.
func asker(h http.Header, req *openai.Request, model string) policy.Subject {
	run := req.Runtime()
	return policy.Subject{
		Model: model, Agent: run.Agent, Channel: run.Channel, Interactive: true,
		Session: cmp.Or(run.Session, sessionID(h)),
	}
}

// weigh decides about a call, and says why it may not leave, or nil. What it has judged is
// what leaves.
func (t *turn) weigh(call *tools.Call) (verdict, *tools.Refusal) {
	now := t.s.now()
	d := t.s.world.Decide(t.set, *call, t.who, guard.Moment{Now: now, Rates: t.s.rates.Session(t.who.Session, now)})
	t.decided(call, d)
	v := verdict{Decision: d, args: call.Arguments}
	why := ""
	switch d.Effect {
	case policy.Deny:
		why = d.Message()
	case policy.Ask:
		why, v.approval = t.askPerson(call, d)
	}
	t.s.rates.Add(t.who.Session, now, d.Counts())
	if why == "" {
		return v, nil
	}
	return v, &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: why}
}

// askPerson lets a call leave with the argument that makes the gateway ask a person, where it
// has one and can be trusted to; else somebody must allow it here. It says why the call
// does not leave, or nothing, and which approval it waits for.
func (t *turn) askPerson(call *tools.Call, d policy.Decision) (why, approval string) {
	if !t.set.AsksHere() && t.s.asks.Heard(t.who.Agent) {
		args, ok := policy.WithAsk(call.Name, call.Arguments, func(tool string) bool { return t.catalog.Takes(tool, "ask") })
		if ok {
			call.Arguments = args
			call.Repairs = append(call.Repairs, tools.Repair{Kind: askRepair, To: `"ask":"always"`})
			return "", ""
		}
	}
	if t.s.approve == nil {
		return d.Message() + " A person must allow this first, and nobody can be asked here.", ""
	}
	q := t.question(call, d)
	if id := t.s.approve.Take(q.Binding()); id != "" {
		return "", id
	}
	e := t.s.approve.Request(q, reason(d))
	switch {
	case e.State == approvals.Allowed && t.s.approve.Take(q.Binding()) != "": // answered meanwhile
		return "", e.ID
	case e.State == approvals.Denied && e.Note != "":
		return fmt.Sprintf("%s A person has said no: %s", d.Message(), e.Note), e.ID
	case e.State == approvals.Denied:
		return d.Message() + " A person has said no.", e.ID
	}
	return fmt.Sprintf("%s A person must allow this first, and was asked: approval %s. Once they have, send exactly this call again.", d.Message(), e.ID), e.ID
}

// askRepair marks a call that leaves with the argument that makes the gateway ask.
const askRepair = "policy.ask"

func isAsk(r tools.Repair) bool { return r.Kind == askRepair }

// question is what a person is asked about.
func (t *turn) question(call *tools.Call, d policy.Decision) approvals.Call {
	q := approvals.Call{
		Tool: call.Name, Arguments: string(call.Arguments), Session: t.who.Session, Agent: t.who.Agent, Model: t.who.Model,
		Policy: t.set.Version, Cwd: t.set.Roots().Cwd,
	}
	if d.Facts != nil {
		q.Command, q.Commands = d.Facts.Call.Command, approvals.CommandsOf(d.Facts.Script)
	}
	return q
}

// reason is why they are asked.
func reason(d policy.Decision) approvals.Reason {
	r := approvals.Reason{Rule: d.Rule, Place: d.Place, Why: d.Why, Instead: d.Instead}
	if d.Span != nil {
		r.Start, r.End = d.Span.Start, d.Span.End
	}
	return r
}

// heard looks whether the gateway has asked about the calls that said so. One that runs
// them at once is not trusted to ask again.
func (s *Server) heard(req *openai.Request) {
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role != "tool" {
			continue
		}
		if agent, ran := s.asks.Result(m.CallID, req.Text(m, 1<<10), s.now()); ran {
			s.metrics.Faults.WithLabelValues("not_asked", "approvals").Inc()
			s.log.Error("the gateway ran a call at once that it was to ask about; from now on nothing is left to it that needs a person's answer. "+
				"Set tools.exec.ask to on-miss and tools.exec.security to full there, or asks: sidecar in exec.yaml here",
				"event", "gateway_does_not_ask", "agent", agent, "call", m.CallID)
		}
	}
}

// decided records what the policy said of a call.
func (t *turn) decided(call *tools.Call, d policy.Decision) {
	for _, f := range d.Audits {
		t.decision(call, policy.Audit, f.Rule, f.Place, f.Why, f.Effect)
	}
	if d.Effect == policy.Deny || d.Effect == policy.Ask {
		t.decision(call, d.Effect, d.Rule, d.Place, d.Why, d.Effect)
	} else if d.Place != "" {
		t.s.metrics.Hits.WithLabelValues(fileOf(d.Place), d.Rule).Inc()
	}
}

// decision counts what one rule said, and logs it. Of a dry run that holds often, one line
// a minute is enough.
func (t *turn) decision(call *tools.Call, effect policy.Effect, rule, place, why string, would policy.Effect) {
	file := fileOf(place)
	t.s.metrics.Decisions.WithLabelValues(string(effect), file, cmp.Or(rule, "default")).Inc()
	if file != "" {
		t.s.metrics.Hits.WithLabelValues(file, rule).Inc()
	}
	if effect == policy.Audit && !t.s.dryRuns.allow(place+" "+rule+" "+string(would), t.s.now()) {
		return
	}
	said := []any{"event", "policy_" + string(effect)}
	if effect == policy.Audit {
		said = append(said, "would", would)
	}
	t.s.log.Warn("policy", append(said, "tool", call.Name, "strategy", call.Strategy,
		"rule", rule, "place", place, "why", why, "agent", t.who.Agent, "session", t.who.Session, "rules", t.set.Version)...)
}

// fileOf is the file of a place: file:line.
func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}
