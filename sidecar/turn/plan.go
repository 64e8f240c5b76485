package turn

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Planner plans turns. Its fields are what all turns share; all must be set.
type Planner struct {
	Fleet *upstream.Fleet
	Guard *guard.Guard
	// of calls: the thoughts behind those that have left, and notes about those that have not
	Recall  *state.Recall
	Schemas *tools.Schemas
	Metrics *telemetry.Metrics
	Log     *slog.Logger
}

// PlannerConfig is what a planner works with. All but Keys and Elsewhere must be set.
type PlannerConfig struct {
	Keep      ruleset.KeepLimits
	Upstream  *upstream.Client   // of the settings
	Keys      upstream.FleetKeys // of other model servers
	Guard     *guard.Guard
	Elsewhere state.PeerTexts // what other replicas know of calls; nil: there are none
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// NewPlanner is a planner that has planned nothing yet. Its Fleet must be closed at the end.
func NewPlanner(c PlannerConfig) *Planner {
	return &Planner{
		Fleet: upstream.NewFleet(upstream.FleetConfig{Main: c.Upstream, Keys: c.Keys, Metrics: c.Metrics,
			Now: time.Now, Log: c.Log}),
		Guard: c.Guard, Recall: state.NewRecall(c.Keep.Thoughts, c.Elsewhere),
		Schemas: tools.NewSchemas(c.Keep.Schemas), Metrics: c.Metrics, Log: c.Log,
	}
}

// Answer is a request that was planned.
type Answer interface {
	// Run gives the answer to a sink. The error is an *openai.Error of which nothing has left.
	Run(context.Context, Sink) error
	// Account is what came of it so far. Before Run it has the model and the run.
	Account() Account
}

// Answerer plans what answers a request in place of one turn; nil: a turn does. The error is an
// *openai.Error.
type Answerer func(context.Context, *ruleset.Set, *openai.Request, Caller) (Answer, error)

// Caller is what the headers of a request say.
type Caller struct {
	Request string            // its id; may be ""
	Session string            // counts where the request itself names none; may be ""
	Client  string            // the agent that sent it, by its file
	Folder  string            // where a header says that it works; "": none does
	Waits   time.Duration     // how long the caller waits for us; 0: it does not say
	Alive   time.Duration     // a stream begins after so long, if nothing has come; 0: it does not
	Watch   Watcher           // of this request; nil: there is none
	Spans   *telemetry.Parent // of which its turns are children; nil: there is none
	// the run of executor mode, which runs the calls itself, and has each judged before it does; "": none
	Run string
}

// Plan decides everything about a request before the model is asked. The error is an
// *openai.Error.
func (p *Planner) Plan(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from Caller) (*Turn, error) {
	id := cmp.Or(req.Model, set.Models[0].ID.Value)
	n := slices.IndexFunc(set.Models, func(m ruleset.Model) bool { return m.ID.Value == id })
	if n < 0 {
		return nil, openai.ModelNotFound(id)
	}
	model, who := &set.Models[n], Asker(req, from, id)
	route, err := p.Fleet.Route(set, *model, who.Session)
	if err != nil {
		return nil, openai.Internal("model " + id + ": " + err.Error())
	}
	span := from.Spans.Turn(ctx, id, set.Version, set.Arms, who, req)
	ctx = span.In(ctx)
	t := &Turn{p: p, log: telemetry.BindLog(p.Log, ctx), span: span, set: set, route: route, as: model,
		who: who, from: from, since: time.Now(), agent: len(offered(req)) > 0}
	if err := t.plan(ctx, req); err != nil {
		t.endSpan(err)
		return nil, err
	}
	return t, nil
}

// plan decides about the request, for the model server where the way stands.
func (t *Turn) plan(ctx context.Context, req *openai.Request) error {
	p, set, from := t.p, t.set, &t.from
	waiting := deferred(req)
	if err := t.locate(ctx); err != nil {
		return err
	}
	named := from.works(set, req)
	t.listens = t.span.Words()
	if from.Watch != nil {
		from.Watch.Asked(req, from.Run)
		t.listens = t.listens || from.Watch.Listens()
	}
	if t.listens {
		if len(named.Folders) > 0 {
			t.folder = named.Folders[0]
		}
	}
	read, err := t.edited(req) // as the model reads it; the guard looks at req
	if err != nil {
		return err
	}
	t.req = read
	// A run shortens what it holds by itself.
	t.fresh = from.Run == "" && !slices.ContainsFunc(read.Messages,
		func(m openai.Message) bool { return m.Role == "assistant" })
	t.offered, t.forced, t.single = offered(read), read.Forced(), read.Single()
	t.catalog = tools.NewCatalog(set.Tools, p.Schemas, t.offered)
	t.catalog.Defer(waiting)
	t.facts = set.Facts(t.Model.ID.Value, t.srv.ID.Value, req.LastUser)
	t.original, t.facts.Mentioned = req, req.Mentions
	t.facts.Formatted = req.Formatted()
	t.facts.Stops = req.Stops()
	of := sync.OnceValue(func() string { return conversation(from.Session, req) }) // seldom needed, and long
	if t.part = part(t.who.Session); t.who.Session == "" {
		t.part = part(of())
	}
	t.thoughts, t.notes, t.awaited = memory{p.Recall, state.Thought, of}, memory{p.Recall, state.Note,
		of}, memory{p.Recall, state.Awaited, of}
	t.thoughts.fetch(ctx, req)
	t.known = upstream.Memory{Thoughts: t.thoughts, Notes: t.notes}
	if from.Run == "" {
		t.known.Bounds = func(tool string, chars int) tools.TrimBounds {
			return set.Results.Bounds(ruleset.OfGateway, tool, t.window, chars)
		}
		observer := guard.Observer{Log: t.log}
		if t.span != nil {
			observer.Decided = t.decided
		}
		t.facts.Judge = p.Guard.Judge(set, t.who, t.catalog, from.Request, req, named,
			observer)
		t.results(req)
		t.copying()
		t.circling(set.Loop.With(ruleset.LoopIgnores{Arguments: set.Unremarked}).Look(req))
	}
	t.facts.Judge = t.exact(t.facts.Judge)
	return t.write(ctx)
}

// works is where the agent says that it works. No model writes headers, so one outranks the instructions.
func (c *Caller) works(set *ruleset.Set, req *openai.Request) ruleset.Named {
	if c.Folder != "" {
		return ruleset.Named{Folders: []string{c.Folder}}
	}
	return set.Named(req.Instructed)
}

// edited is the request as edits.yaml wants the model to read it.
func (t *Turn) edited(req *openai.Request) (*openai.Request, error) {
	out, done, err := t.set.Edits.Request(req, t.who, t.Model.Sampling)
	t.account.Edits = t.p.Edited(t.set, t.Model.ID.Value, done)
	return out, err
}

// Asker is the subject that asks for the calls of a request. It is interactive: a person at the gateway can
// answer a question, or one who looks at the approvals here.
func Asker(req *openai.Request, from Caller, model string) policy.Subject {
	run := &req.Runtime
	return policy.Subject{
		Model: model, Client: from.Client, Agent: run.Agent, Channel: run.Channel, Run: from.Run != "",
		Interactive: true,
		Session:     cmp.Or(run.Session, from.Session),
	}
}

// one lets a choice hold one call, where the caller takes no more.
func (t *Turn) one(f parse.Facts) parse.Facts {
	if !t.single || f.Judge == nil {
		return f
	}
	judge, made := f.Judge, false
	f.Judge = func(c *tools.Call) *tools.Refusal {
		if made {
			return &tools.Refusal{Code: tools.Denied, Name: c.Name,
				Why: "one call can be made at a time (parallel_tool_calls: false), so this one has to wait for the next reply."}
		}
		refusal := judge(c)
		made = refusal == nil
		return refusal
	}
	return f
}

// offered are the tools that may be called: none where the caller says so.
func offered(req *openai.Request) []tools.Tool {
	if req.ToolChoice == "none" {
		return nil
	}
	return req.Tools
}

// results shows the guard how the calls fared that had left, and notes what it says of them.
func (t *Turn) results(req *openai.Request) {
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Role == "tool" {
			if what, ok := t.awaited.take(m.CallID); ok {
				t.p.Guard.Await(m.CallID, t.who, what)
			}
			t.notes.put(m.CallID, t.p.Guard.Result(t.set, m.CallID,
				func(most int) string { return req.Text(m, most) }))
		}
	}
}
