package guard

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxSessions is how many sessions are counted at once.
const maxSessions = 4096

// DecisionLog keeps decisions about calls. After an error the call must not leave.
type DecisionLog interface {
	Add(decisions.Decision) error
}

// Config configures a guard.
type Config struct {
	World     World
	Approvals *approvals.Store // nil: no person can be asked here
	Confiner  Confiner         // of calls that leave; nil: none runs confined
	Clients   []string         // agents whose calls Confiner takes; nil: all whose commands run here
	Runs      Confiner         // of calls that run here; nil: none runs confined
	Decisions DecisionLog      // nil: there is none
	Now       func() time.Time
	Listening func() map[int]bool // ports of this machine with a server; nil: unknown
	Metrics   *telemetry.Metrics
	Log       *slog.Logger

	PeerRates  state.PeerRates  // of sessions at other replicas; may be nil
	Departures state.Departures // of calls at other replicas; may be nil
}

// Share publishes what sessions do to the other replicas, until ctx ends.
func (g *Guard) Share(ctx context.Context) { g.rates.Share(ctx) }

// Guard judges the calls of a running server: it counts what sessions do, asks people and writes the
// decision log. It is safe for concurrent use.
type Guard struct {
	Config
	rates         *state.Rates
	asks          *state.Asks
	departed      *state.Departed
	wrapped       *state.Wrapped
	ports         *state.Ports
	dryRuns       *throttle
	workspaceLogs *throttle // about workspaces
}

// New returns a guard that has judged nothing.
func New(c Config) *Guard {
	return &Guard{Config: c, rates: state.NewRates(maxSessions, c.PeerRates), asks: state.NewAsks(),
		departed: state.NewDeparted(c.Departures), wrapped: state.NewWrapped(),
		ports:   state.NewPorts(maxSessions),
		dryRuns: newThrottle(time.Minute), workspaceLogs: newThrottle(0)}
}

// judge judges the calls of one request.
type judge struct {
	*Guard
	set         *ruleset.Set
	named       ruleset.Named // what the gateway says of the workspace
	world       World         // set at the first call
	who         policy.Subject
	catalog     *tools.Catalog
	requestName string     // empty: random
	request     string     // name in the decision log
	task        TaskSource // nil: unknown
	observer    Observer
	local       bool            // the calls run here, not at a gateway
	hook        *hookCall       // nil: the call comes from a reply
	facts       *policy.Facts   // of the last call
	decision    policy.Decision // about the last call
	waiting     bool            // for a person's answer
	grantSpan   approvals.Span  // of the grant with which the call passed; Once: none

	// ask asks a person about a call. It returns why the call may not leave, or "", and the approval
	// that it waits for or has used; nil: askPerson.
	ask func(*tools.Call, policy.Decision) (why, approval string)
}

// TaskSource works on a task of a user.
type TaskSource interface {
	Task() string // unique in its session; empty: unknown
}

// Judge returns a function that says why a call of one request may not leave, or nil. It is called
// before any byte of the call leaves, and may change the arguments. Named is where the agent says that
// it works; request is the name in the log, or empty for a random one. A nil function lets every call
// leave: the rules have nothing to say, and there is no log.
func (g *Guard) Judge(set *ruleset.Set, who policy.Subject, catalog *tools.Catalog, request string,
	task TaskSource, named ruleset.Named, observer Observer) func(*tools.Call) *tools.Refusal {
	if !set.Judges() && g.Decisions == nil {
		return nil
	}
	j := &judge{Guard: g, set: set, named: named, who: who, catalog: catalog, requestName: request,
		task: task, observer: observer}
	return j.decide
}

// judgement is what was decided about a call.
type judgement struct {
	policy.Decision
	args     []byte         // as judged
	approval string         // that the call waits for, or with which it passes
	grant    approvals.Span // span of the approval
}

// decide decides a call. If there is a log, the decision is written before the call may leave.
func (j *judge) decide(call *tools.Call) *tools.Refusal {
	began := time.Now()
	if j.request == "" { // most replies have no call
		j.request, j.world = cmp.Or(j.requestName, rand.Text()), j.worldOf(j.set, j.who, j.named)
	}
	v, refusal := j.judgeCall(call)
	if err := j.writeLog(call, &v, refusal, began); err != nil {
		j.log().Error("a call is refused, because its decision cannot be logged",
			"event", "decisions_required", "tool", call.Name, "detail", err.Error())
		refusal = &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments),
			Why: "No call may leave while decisions cannot be logged."}
	}
	j.observe(call, &v, refusal)
	return refusal
}

// writeLog writes a decision to the log, if there is one.
func (j *judge) writeLog(call *tools.Call, v *judgement, refusal *tools.Refusal, began time.Time) error {
	if j.Decisions == nil {
		return nil
	}
	entry := j.logEntry(call, v, refusal)
	entry.Took = time.Since(began)
	return j.Decisions.Add(entry)
}

// judgeCall decides a call and returns why it may not leave, or nil. The call that leaves is the one
// that was judged, wrapped or as it is.
func (j *judge) judgeCall(call *tools.Call) (judgement, *tools.Refusal) {
	m := j.moment()
	looked := j.world.look(j.set, *call, j.who, m)
	j.facts = looked.Facts()
	d, confined, understood := looked.Decide(false), false, false
	if j.canConfine(looked) {
		d, confined, understood = j.decideConfined(looked, d)
	}
	j.decision, j.waiting = d, false
	j.report(call, d)
	v := judgement{Decision: d, args: call.Arguments}
	why, person := "", ""
	switch {
	case d.Effect == policy.Deny:
		why, person = d.Message(), j.personText(call, d, "")
	case d.Effect == policy.Ask:
		if j.ask == nil {
			j.ask = j.askPerson
		}
		j.grantSpan = approvals.Once
		if v.approval = j.coveringGrant(call, d); v.approval == "" {
			if why, v.approval = j.ask(call, d); why != "" {
				person = j.personText(call, d, v.approval)
			}
		}
		v.grant = j.grantSpan
		switch {
		case why != "":
		case j.set.Confine() == ruleset.Always && runsShell(d.Facts): // allowed here
			why = j.confineAlways(call, m)
		case v.grant != approvals.Once && !coversOne(d) && j.canConfine(looked): // maybe unread
			why = j.confine(call, looked, false)
		}
	case confined:
		why = j.confine(call, looked, understood)
	case j.set.Confine() == ruleset.Always && j.set.Enforces() && runsShell(d.Facts):
		why = cannotConfine
	}
	j.rates.Add(j.who.Session, m.Now, d.Counts())
	if why == "" {
		if d.Facts != nil && d.Facts.Script != nil {
			j.ports.Begin(j.who.Session, j.openPorts)
		}
		return v, nil
	}
	return v, &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: why,
		Person: person, Waits: j.waiting}
}

// moment returns the current time and what the session did before.
func (j *judge) moment() Moment {
	now := j.Now()
	return Moment{Now: now, Rates: j.rates.Session(j.who.Session, now),
		Opened: func(port int) bool { return j.ports.Opened(j.who.Session, port, j.openPorts) }}
}

// openPorts returns the ports with a server.
func (g *Guard) openPorts() map[int]bool {
	if g.Listening == nil {
		return nil
	}
	return g.Listening()
}

// logEntry returns a decision for the log.
func (j *judge) logEntry(call *tools.Call, v *judgement, refusal *tools.Refusal) decisions.Decision {
	return decisions.Decision{
		Call: j.hook.id(), Request: j.request, Approval: v.approval, Grant: string(v.grant),
		Session: j.who.Session,
		Client:  j.who.Client, Agent: j.who.Agent, Channel: j.who.Channel, Run: j.who.Run,
		Interactive: j.who.Interactive,
		Model:       j.who.Model, Workspace: j.world.named, Cwd: j.world.cwd, Tool: call.Name,
		Class: string(j.set.Tools.Class(call.Name)), Strategy: call.Strategy, Confidence: call.Confidence,
		Arguments: v.args, Effect: cmp.Or(v.Effect, policy.Allow), Enforced: v.Effect != policy.Audit,
		Outcome: j.outcome(call, refusal),
		Rule:    v.Rule, Place: v.Place, Why: v.Why, Instead: v.Instead, Findings: v.Audits,
		Rules: j.set.Version, Arms: j.set.Arms,
	}
}

// Connection decides whether a running command may connect to a server, as far as its address is
// known. It counts nothing: the call was counted when it left.
func (g *Guard) Connection(set *ruleset.Set, who policy.Subject, tool string, u urls.Use) policy.Decision {
	now := g.Now()
	return set.CheckConnection(u, tool, who,
		g.World.at(Moment{Now: now, Rates: g.rates.Session(who.Session, now),
			Opened: func(port int) bool { return g.ports.Opened(who.Session, port, g.openPorts) }}))
}
