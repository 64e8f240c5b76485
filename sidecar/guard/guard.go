package guard

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxSessions is for how many sessions at once it is counted what they did.
const maxSessions = 4096

// DecisionLog keeps what was decided about calls. The error means that the call must
// not leave.
type DecisionLog interface {
	Add(decisions.Decision) error
}

// Config is what a guard works with.
type Config struct {
	World     World
	Approvals *approvals.Store // nil: no person can be asked here
	Confiner  Confiner         // of calls that leave; nil: none runs confined
	Clients   []string         // agents whose calls it confines; nil: all whose commands run here
	Runs      Confiner         // of calls that run here; nil: none runs confined
	Decisions DecisionLog      // nil: there is none
	Now       func() time.Time
	Listening func() map[int]bool // the ports of this machine at which a server listens; nil: unknown
	Metrics   *telemetry.Metrics
	Log       *slog.Logger

	PeerRates  state.PeerRates  // what sessions do at other replicas; nil: there are none
	Departures state.Departures // calls that have left at other replicas; nil: there are none
}

// Share tells the other replicas what sessions do here, until ctx ends.
func (g *Guard) Share(ctx context.Context) { g.rates.Share(ctx) }

// Guard judges the calls of a running server: it counts what sessions do, asks persons,
// and writes the decision log. Safe for concurrent use.
type Guard struct {
	Config
	rates        *state.Rates
	asks         *state.Asks
	departed     *state.Departed
	wrapped      *state.Wrapped
	ports        *state.Ports
	dryRuns      *quiet
	workspaceLog *quiet // about workspaces
}

// New is a guard that has judged nothing yet.
func New(c Config) *Guard {
	return &Guard{Config: c, rates: state.NewRates(maxSessions, c.PeerRates), asks: state.NewAsks(),
		departed: state.NewDeparted(c.Departures), wrapped: state.NewWrapped(),
		ports:   state.NewPorts(maxSessions),
		dryRuns: newQuiet(time.Minute), workspaceLog: newQuiet(0)}
}

// judge judges the calls of one request.
type judge struct {
	*Guard
	set      *ruleset.Set
	named    ruleset.Named // what the gateway says of the workspace
	world    World         // of this request, from its first call on
	who      policy.Subject
	catalog  *tools.Catalog
	as       string // the name of the request; empty: it gets one
	request  string // its name in the decision log
	task     Tasked // it works on that; nil: unknown
	observer Observer
	here     bool            // the calls run here, and not at a gateway
	hooked   *hooked         // the call stands before a gateway's hook; nil: it comes from a reply
	facts    *policy.Facts   // of the last call
	decided  policy.Decision // about it
	waits    bool            // for the answer of a person
	granted  approvals.Span  // the call has passed with such a grant; Once: with none

	// ask asks a person about a call. It says why the call may not leave, or nothing, and which
	// approval it waits for or has used; nil: askPerson.
	ask func(*tools.Call, policy.Decision) (why, approval string)
}

// Tasked is what works on a task that a user has given.
type Tasked interface {
	Task() string // tells one of a session from the others; empty: unknown
}

// Judge says of each call of one request why it may not leave, or nil. It is asked before
// any byte of the call leaves, and may change its arguments. Named is where the agent says
// that it works. A nil func lets every call leave: the rules have nothing to say, and nothing is logged. The
// log names the request as request says; where that is empty, by a name of its own.
func (g *Guard) Judge(set *ruleset.Set, who policy.Subject, catalog *tools.Catalog, request string,
	task Tasked, named ruleset.Named, observer Observer) func(*tools.Call) *tools.Refusal {
	if !set.Judges() && g.Decisions == nil {
		return nil
	}
	j := &judge{Guard: g, set: set, named: named, who: who, catalog: catalog, as: request, task: task,
		observer: observer}
	return j.decide
}

// verdict is what was decided about a call, before anything was done about it.
type verdict struct {
	policy.Decision
	args     []byte         // as they were judged
	approval string         // that the call waits for, or that let it pass
	grant    approvals.Span // that of the approval, if it let more calls pass
}

// decide is asked about every call. What it decides is logged first, if there is a log.
func (j *judge) decide(call *tools.Call) *tools.Refusal {
	began := time.Now()
	if j.request == "" { // most replies have no call
		j.request, j.world = cmp.Or(j.as, rand.Text()), j.where(j.set, j.who, j.named)
	}
	v, refusal := j.weigh(call)
	if err := j.write(call, &v, refusal, began); err != nil {
		j.log().Error("a call is refused, because its decision cannot be logged",
			"event", "decisions_required", "tool", call.Name, "detail", err.Error())
		refusal = &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments),
			Why: "No call may leave while decisions cannot be logged."}
	}
	j.report(call, &v, refusal)
	return refusal
}

// write writes a decision to the log, if there is one.
func (j *judge) write(call *tools.Call, v *verdict, refusal *tools.Refusal, began time.Time) error {
	if j.Decisions == nil {
		return nil
	}
	entry := j.entry(call, v, refusal)
	entry.Took = time.Since(began)
	return j.Decisions.Add(entry)
}

// weigh decides about a call, and says why it may not leave, or nil. What it has judged is
// what leaves, in the wrapper that confines it or as it is.
func (j *judge) weigh(call *tools.Call) (verdict, *tools.Refusal) {
	m := j.moment()
	looked := j.world.look(j.set, *call, j.who, m)
	j.facts = looked.Facts()
	d, confined, understood := looked.Decide(false), false, false
	if j.confines(looked) {
		d, confined, understood = j.decideConfined(looked, d)
	}
	j.decided, j.waits = d, false
	j.tell(call, d)
	v := verdict{Decision: d, args: call.Arguments}
	why, person := "", ""
	switch {
	case d.Effect == policy.Deny:
		why, person = d.Message(), j.toPerson(call, d, "")
	case d.Effect == policy.Ask:
		if j.ask == nil {
			j.ask = j.askPerson
		}
		j.granted = approvals.Once
		if v.approval = j.covering(call, d); v.approval == "" {
			if why, v.approval = j.ask(call, d); why != "" {
				person = j.toPerson(call, d, v.approval)
			}
		}
		v.grant = j.granted
		switch {
		case why != "":
		case j.set.Confine() == ruleset.Always && runsShell(d.Facts): // allowed here
			why = j.confineAlways(call, m)
		case v.grant != approvals.Once && !onlyThis(d) && j.confines(looked): // a person may not have read it
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
			j.ports.Begin(j.who.Session, j.open)
		}
		return v, nil
	}
	return v, &tools.Refusal{Code: tools.Denied, Name: call.Name, Text: string(call.Arguments), Why: why,
		Person: person, Waits: j.waits}
}

// moment is now, with what the session did before.
func (j *judge) moment() Moment {
	now := j.Now()
	return Moment{Now: now, Rates: j.rates.Session(j.who.Session, now),
		Opened: func(port int) bool { return j.ports.Opened(j.who.Session, port, j.open) }}
}

// open are the ports at which a server listens now.
func (g *Guard) open() map[int]bool {
	if g.Listening == nil {
		return nil
	}
	return g.Listening()
}

// entry is a decision for the log.
func (j *judge) entry(call *tools.Call, v *verdict, refusal *tools.Refusal) decisions.Decision {
	return decisions.Decision{
		Call: j.hooked.id(), Request: j.request, Approval: v.approval, Grant: string(v.grant),
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
