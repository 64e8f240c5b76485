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

// NewApprovals is a store without questions, within the limits of limits.yaml.
// A board holds those of several replicas; nil: there is none. Then the file keeps grants; empty: none does.
func NewApprovals(l ruleset.Limits, now func() time.Time, m *telemetry.Metrics,
	board approvals.Board, file string) *approvals.Store {
	return approvals.New(approvals.Limits{Pending: l.ApprovalPending, Granted: l.ApprovalGranted,
		Denied:     l.ApprovalDenied,
		PerSession: l.ApprovalPerSession, Total: l.ApprovalTotal}, now, m, board, file)
}

// askPerson lets a call leave with the argument that makes the gateway ask a person, if it has one and the
// gateway can be trusted to ask. Else a person must allow the call here. It says why the call does not
// leave, or nothing, and which approval it waits for.
func (j *judge) askPerson(call *tools.Call, d policy.Decision) (why, approval string) {
	var flaw *policy.Flaw
	asks := j.set.Asks()
	if asks == ruleset.Nobody {
		return d.Message() + nobodyAsks, ""
	}
	if asks != ruleset.Sidecar && j.set.Confine() != ruleset.Always && j.asks.Hears(asker(j.who), j.Now()) {
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

// askHere asks a person at the sidecar. It says why the call may not pass, or nothing, and
// what is asked or was answered; nil: no person can be asked.
func (j *judge) askHere(call *tools.Call, d policy.Decision) (why string, asked *approvals.Entry) {
	if j.Approvals == nil {
		return d.Message() + nobodyAsks, nil
	}
	q := j.question(call, d)
	for {
		if id := j.Approvals.Take(q.Binding()); id != "" {
			return "", &approvals.Entry{ID: id, State: approvals.Used}
		}
		if e := j.Approvals.Request(q, reason(d, &q)); e.State != approvals.Allowed { // else: just now
			j.waits = e.State == approvals.Pending
			return notAllowed(d, &e), &e
		}
	}
}

// covering is the id of a grant that lets a call pass; empty: a person must be asked.
func (j *judge) covering(call *tools.Call, d policy.Decision) string {
	if j.Approvals == nil || len(d.Reasons) == 0 {
		return ""
	}
	q, task := j.question(call, d), ""
	if j.task != nil {
		task = j.task.Task()
	}
	e, ok := j.Approvals.Covering(&q, reason(d, &q).All, task)
	if ok {
		j.granted = e.For
		j.log().Info("a grant lets a call pass", "event", "approval_covered", "id", e.ID, "tool", call.Name,
			"rule", d.Rule, "by", e.By, "session", j.who.Session)
	}
	return e.ID
}

// onlyThis reports whether no other call has the reasons of a decision: a grant lets pass what was read.
func onlyThis(d policy.Decision) bool {
	return !slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool { return r.Covers != "" })
}

// nobodyAsks is why a call does not pass about which no person can be asked.
const nobodyAsks = " A person must allow this first, and nobody can be asked here. Do not send it again."

// notAllowed says why a call does not pass, by what has become of its question.
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

// askRepair marks a call that leaves with the argument that makes the gateway ask.
const askRepair = "policy.ask"

func isAsk(r tools.Repair) bool { return r.Kind == askRepair }

// ByPolicy reports whether a repair is a mark of the policy's, and no damage of the model's.
func ByPolicy(r tools.Repair) bool { return isAsk(r) || isWrapped(r) }

// OutcomeOf is how a call leaves, by the marks on it.
func OutcomeOf(call *tools.Call) decisions.Outcome {
	switch {
	case slices.ContainsFunc(call.Repairs, isAsk):
		return decisions.Asked
	case slices.ContainsFunc(call.Repairs, isConfined):
		return decisions.Confined
	}
	return decisions.Passed
}

// Unticketed is text without the ticket that lets a call run once.
func Unticketed(call *tools.Call, text string) string {
	for _, r := range call.Repairs {
		if isWrapped(r) && r.To != "" {
			text = strings.ReplaceAll(text, r.To, "…")
		}
	}
	return text
}

// question is what a person is asked about.
func (j *judge) question(call *tools.Call, d policy.Decision) approvals.Call {
	q := approvals.Call{
		Tool: call.Name, Arguments: string(call.Arguments), Bound: j.set.Unremarked(call.Name,
			string(call.Arguments)), Session: j.who.Session, Agent: j.who.Agent, Client: j.who.Client,
		Model:  j.who.Model,
		Policy: j.set.Version, Cwd: j.world.Roots(j.set).Cwd,
	}
	if d.Facts != nil {
		q.Command, q.Commands = d.Facts.Call.Command, approvals.CommandsOf(d.Facts.Script)
		if j.here {
			q.Files = approvals.FilesOf(d.Facts.Script, workspace.Sum)
		}
	}
	return q
}

// reason is why they are asked about a call.
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

// asker is for whom an agent asks, or does not: OpenClaw may ask on one channel and run the
// same call at once on another.
func asker(who policy.Subject) string { return who.Client + " " + who.Agent + " " + who.Channel }

// apart are the parts of an asker.
func apart(asker string) (client, agent, channel string) {
	client, rest, _ := strings.Cut(asker, " ")
	agent, channel, _ = strings.Cut(rest, " ")
	return client, agent, channel
}

// NoteDeparture notes under which id a call leaves, so that a hook of the gateway does not ask again,
// and whether the gateway shall ask about it, or confine it. What is awaited of
// its result is for the replica to which that comes; empty: nothing.
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

// How what is awaited begins. Behind that is when the call left.
const (
	awaitsAsking   = "asks "
	awaitsConfined = "confined "
)

// Await takes over what is awaited of a call that has left at another replica. An old one says
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

// Result looks at the result of a call that has left; text gives at most so many bytes of it.
// The note is what the model is told with it. The result shows whether the gateway has asked
// about a call that said so: one that runs them at once is not trusted to ask for a while. It
// also shows whether a command has run where it can be confined.
func (g *Guard) Result(set *ruleset.Set, id string, text func(most int) string) (note string) {
	if g.wrapped.Knows(id) {
		return g.fate(id, text(maxResult))
	}
	shown := func() string { return text(maxEvidence) }
	if by, proven := g.asks.Result(id, shown, &set.Asking, g.Now()); proven {
		client, agent, channel := apart(by)
		g.Metrics.Faults.WithLabelValues("", "", "not_asked", "approvals").Inc()
		g.Log.Error("the agent ran a call at once, although it had to ask a person first; for ten minutes such calls wait here. "+
			"Set it up to ask (OpenClaw: tools.exec.ask on-miss and tools.exec.security full), or set asks: sidecar in exec.yaml",
			"event", "gateway_does_not_ask", "client", client, "agent", agent, "channel", channel, "call", id)
	}
	return ""
}

// How much of a result is looked at, in bytes.
const (
	maxEvidence = 1 << 10
	maxResult   = 64 << 10
)

// maxAwaited is how old a call may be whose result says something about its gateway.
const maxAwaited = 10 * time.Minute
