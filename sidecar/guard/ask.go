package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// NewApprovals returns an empty store with the limits of limits.yaml. The board holds the questions of
// several replicas; nil: there is none, and the file keeps grants; empty: they are not kept.
func NewApprovals(l ruleset.Limits, now func() time.Time, m *telemetry.Metrics,
	board approvals.Board, file string) *approvals.Store {
	return approvals.New(approvals.Limits{Pending: l.ApprovalPending, Granted: l.ApprovalGranted,
		Denied:     l.ApprovalDenied,
		PerSession: l.ApprovalPerSession, Total: l.ApprovalTotal}, now, m, board, file)
}

// askPerson adds the argument that makes the gateway ask a person, if the tool has one and the gateway
// is trusted to ask. Otherwise a person must allow the call here. It returns why the call does not
// leave, or "", and the approval that it waits for.
func (j *judge) askPerson(call *tools.Call, d policy.Decision) (why, approval string) {
	var flaw *policy.Flaw
	asks := j.set.Asks()
	if asks == ruleset.Nobody {
		return d.Message() + cannotAsk, ""
	}
	if asks != ruleset.Sidecar && j.set.Confine() != ruleset.Always && j.asks.Trusts(asker(j.who), j.Now()) {
		if asks == ruleset.TheAgent {
			call.Repairs = append(call.Repairs, tools.Repair{Kind: askRepair, To: "the agent"})
			return "", ""
		}
		args, err := policy.WithAsk(call.Name, call.Arguments, d.Reason(),
			func(tool string) bool { return j.catalog.Takes(tool, "ask") })
		if err == nil {
			call.Arguments = args
			call.Repairs = append(call.Repairs, tools.Repair{Kind: askRepair, To: `"ask":"always"`})
			return "", ""
		}
		_ = errors.As(err, &flaw)
	}
	if j.Approvals == nil && flaw != nil {
		return fmt.Sprintf("%s A person must allow this first. They can only be asked about plain commands, and this is none: %s. %s", d.Message(), flaw.Why, flaw.Instead), ""
	}
	why, e := j.askHere(call, d)
	if e == nil {
		return why, ""
	}
	return why, e.ID
}

// askHere asks a person at the sidecar. It returns why the call may not pass, or "", and the question;
// nil: no person can be asked.
func (j *judge) askHere(call *tools.Call, d policy.Decision) (why string, asked *approvals.Entry) {
	if j.Approvals == nil {
		return d.Message() + cannotAsk, nil
	}
	q := j.question(call, d)
	for {
		if id := j.Approvals.Take(q.Binding()); id != "" {
			return "", &approvals.Entry{ID: id, State: approvals.Used}
		}
		if e := j.Approvals.Request(q, reason(d, &q)); e.State != approvals.Allowed { // else: just now
			j.waiting = e.State == approvals.Pending
			return notAllowed(d, &e), &e
		}
	}
}

// coveringGrant returns the id of a grant that lets a call pass; "" if a person must be asked.
func (j *judge) coveringGrant(call *tools.Call, d policy.Decision) string {
	if j.Approvals == nil || len(d.Reasons) == 0 {
		return ""
	}
	q, task := j.question(call, d), ""
	if j.task != nil {
		task = j.task.Task()
	}
	e, ok := j.Approvals.Covering(&q, reason(d, &q).All, task)
	if ok {
		j.grantSpan = e.For
		j.log().Info("a grant lets a call pass", "event", "approval_covered", "id", e.ID, "tool", call.Name,
			"rule", d.Rule, "by", e.By, "session", j.who.Session)
	}
	return e.ID
}

// coversOne reports whether a grant would cover only calls like this one, which the person has read.
func coversOne(d policy.Decision) bool {
	return !slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool { return r.Covers != "" })
}

// cannotAsk is why a call does not pass if no person can be asked.
const cannotAsk = " A person must allow this first, and no person can be asked here. Do not send it again."

// notAllowed returns why a call does not pass, by the state of its question.
func notAllowed(d policy.Decision, e *approvals.Entry) string {
	why := ""
	switch {
	case e.State == approvals.Unknown:
		why = "A person must allow this first, and the server where that is kept cannot be reached now. Do it another way, or tell the user."
	case e.State == approvals.Denied && e.ID == "":
		why = fmt.Sprintf("A person must allow this first, and cannot be asked: %s. Do it in smaller parts, or another way.", e.Note)
	case e.State == approvals.Denied && e.Note != "":
		why = "A person has said no, so do not send it again. They say: " + e.Note
	case e.State == approvals.Denied:
		why = "A person has said no. Do not send it again."
	case e.State == approvals.Expired:
		why = fmt.Sprintf("A person was asked, and there is no answer: %s. Do it another way, or tell the user what to run and why.", e.Note)
	default:
		why = fmt.Sprintf("A person must allow this first, and was asked: approval %s. When it is allowed, send exactly this call again.", e.ID)
	}
	return d.Message() + " " + why
}

// askRepair marks a call with the argument that makes the gateway ask.
const askRepair = "policy.ask"

func isAsk(r tools.Repair) bool { return r.Kind == askRepair }

// ByPolicy reports whether a repair is a mark of the policy, not damage by the model.
func ByPolicy(r tools.Repair) bool { return isAsk(r) || isWrapped(r) }

// OutcomeOf returns how a call leaves, by its marks.
func OutcomeOf(call *tools.Call) decisions.Outcome {
	switch {
	case slices.ContainsFunc(call.Repairs, isAsk):
		return decisions.Asked
	case slices.ContainsFunc(call.Repairs, isConfined):
		return decisions.Confined
	}
	return decisions.Passed
}

// WithoutTicket removes from text the ticket that lets a call run once.
func WithoutTicket(call *tools.Call, text string) string {
	for _, r := range call.Repairs {
		if isWrapped(r) && r.To != "" {
			text = strings.ReplaceAll(text, r.To, "…")
		}
	}
	return text
}

// question returns what a person is asked about.
func (j *judge) question(call *tools.Call, d policy.Decision) approvals.Call {
	q := approvals.Call{
		Tool: call.Name, Arguments: string(call.Arguments), Bound: j.set.Unremarked(call.Name,
			string(call.Arguments)), Session: j.who.Session, Agent: j.who.Agent, Client: j.who.Client,
		Model:  j.who.Model,
		Policy: j.set.Version, Cwd: j.world.Roots(j.set).Cwd,
	}
	if d.Facts != nil {
		q.Command, q.Commands = d.Facts.Call.Command, approvals.CommandsOf(d.Facts.Script)
		if j.local {
			q.Files = approvals.FilesOf(d.Facts.Script, workspace.Sum)
		}
	}
	return q
}

// reason returns why a person is asked about a call.
func reason(d policy.Decision, call *approvals.Call) approvals.Reason {
	r := approvals.Reason{Rule: d.Rule, Place: d.Place, Why: d.Why, Instead: d.Instead,
		All: slices.Clone(d.Reasons)}
	for i := range r.All {
		if r.All[i].Covers == "" {
			r.All[i].Call = call.Exactly()
		}
	}
	if d.Span != nil {
		r.Start, r.End = d.Span.Start, d.Span.End
	}
	return r
}

// asker names a subject that is asked, or not: OpenClaw may ask on one channel and run the same call
// at once on another.
func asker(who policy.Subject) string { return who.Client + " " + who.Agent + " " + who.Channel }

// splitAsker returns the parts of an asker.
func splitAsker(asker string) (client, agent, channel string) {
	client, rest, _ := strings.Cut(asker, " ")
	agent, channel, _ = strings.Cut(rest, " ")
	return client, agent, channel
}

// NoteDeparture notes the id with which a call leaves, so that a hook of the gateway does not ask
// again, and whether the gateway must ask about it or confine it. It returns what the replica that
// gets the result must know; "": nothing.
func (g *Guard) NoteDeparture(id string, who policy.Subject, call *tools.Call) (awaited string) {
	g.departed.Add(id, call.Name, call.Arguments)
	switch {
	case slices.ContainsFunc(call.Repairs, isAsk):
		g.asks.Add(id, asker(who), g.Now())
		return awaitsAsking + g.Now().Format(time.RFC3339Nano)
	case slices.ContainsFunc(call.Repairs, isConfined):
		g.wrapped.Add(id, asker(who))
		return awaitsConfined + g.Now().Format(time.RFC3339Nano)
	}
	return ""
}

// Prefixes of what is awaited of a result, before the time when the call left.
const (
	awaitsAsking   = "asks "
	awaitsConfined = "confined "
)

// Await takes over what is awaited of a call that has left at another replica. An old call says
// nothing about now.
func (g *Guard) Await(id string, who policy.Subject, awaited string) {
	kind, text, _ := strings.Cut(awaited, " ")
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || g.Now().Sub(at) > maxAwaited {
		return
	}
	switch kind + " " {
	case awaitsAsking:
		g.asks.Add(id, asker(who), at)
	case awaitsConfined:
		g.wrapped.Add(id, asker(who))
	}
}

// Result examines the result of a call; text returns at most so many bytes of it. The note is for the
// model. The result shows whether the gateway asked about a call that required it: a gateway that runs
// such calls at once is not trusted for a while. It also shows whether a command ran where it can be
// confined.
func (g *Guard) Result(set *ruleset.Set, id string, text func(most int) string) (note string) {
	if g.wrapped.Knows(id) {
		return g.confinementNote(id, text(maxResult))
	}
	shown := func() string { return text(maxEvidence) }
	if by, proven := g.asks.Result(id, shown, &set.Asking, g.Now()); proven {
		client, agent, channel := splitAsker(by)
		g.Metrics.Faults.WithLabelValues("", "", "not_asked", "approvals").Inc()
		g.Log.Error("the agent ran a call at once, although it had to ask a person first; for ten minutes such calls wait here. "+
			"Set it up to ask (OpenClaw: tools.exec.ask on-miss and tools.exec.security full), or set asks: sidecar in exec.yaml",
			"event", "gateway_does_not_ask", "client", client, "agent", agent, "channel", channel, "call", id)
	}
	return ""
}

// Bytes of a result that are examined.
const (
	maxEvidence = 1 << 10
	maxResult   = 64 << 10
)

// maxAwaited is the age up to which a call says something about its gateway.
const maxAwaited = 10 * time.Minute
