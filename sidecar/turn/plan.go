package turn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"strings"
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

// Planner plans turns. Its fields are shared by all turns and must be set.
type Planner struct {
	Fleet *upstream.Fleet
	Guard *guard.Guard
	// Recall keeps the thoughts behind calls that left, and notes about calls that did not.
	Recall  *state.Recall
	Schemas *tools.Schemas
	Metrics *telemetry.Metrics
	Log     *slog.Logger
}

// PlannerConfig configures a planner. All but Keys and Elsewhere must be set.
type PlannerConfig struct {
	Keep      ruleset.KeepLimits
	Upstream  *upstream.Client   // that of the settings
	Keys      upstream.FleetKeys // of other model servers
	Guard     *guard.Guard
	Elsewhere state.PeerTexts // what other replicas know of calls; nil: there are none
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
}

// NewPlanner returns a planner whose Fleet must be closed at the end.
func NewPlanner(c PlannerConfig) *Planner {
	return &Planner{
		Fleet: upstream.NewFleet(upstream.FleetConfig{Main: c.Upstream, Keys: c.Keys, Metrics: c.Metrics,
			Now: time.Now, Log: c.Log}),
		Guard: c.Guard, Recall: state.NewRecall(c.Keep.Thoughts, c.Elsewhere),
		Schemas: tools.NewSchemas(c.Keep.Schemas), Metrics: c.Metrics, Log: c.Log,
	}
}

// Answer is a planned request.
type Answer interface {
	// Run sends the answer to a sink. The error is an *openai.Error of which nothing has left.
	Run(context.Context, Sink) error
	// Account returns what has become of it so far. Before Run it has the model and the run.
	Account() Account
}

// Answerer plans what answers a request; nil: a single turn. The error is an *openai.Error.
type Answerer func(context.Context, *ruleset.Set, *openai.Request, Caller) (Answer, error)

// Caller is what the headers of a request say.
type Caller struct {
	Request string            // its id; may be ""
	Session string            // for a request that names none itself; may be ""
	Client  string            // name of the agent, as in its file
	Folder  string            // workspace from a header; "": none
	Waits   time.Duration     // how long the caller waits; 0: unknown
	Alive   time.Duration     // a stream begins after so long even if nothing has come; 0: it does not
	Watch   Watcher           // nil: there is none
	Spans   *telemetry.Parent // parent of the turns' spans; nil: there is none
	// Run is the run of executor mode, which executes calls itself and has each judged first; "": none.
	Run string
}

// Plan decides everything about a request before the model is asked. The error is an *openai.Error.
func (p *Planner) Plan(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from Caller) (*Turn, error) {
	id := cmp.Or(req.Model, set.Models[0].ID.Value)
	n := slices.IndexFunc(set.Models, func(m ruleset.Model) bool { return m.ID.Value == id })
	if n < 0 {
		return nil, openai.ModelNotFound(id)
	}
	model, who := &set.Models[n], SubjectOf(req, from, id)
	route, err := p.Fleet.Route(set, *model, who.Session)
	if err != nil {
		return nil, openai.Internal("model " + id + ": " + err.Error())
	}
	span := from.Spans.Turn(ctx, id, set.Version, set.Arms, who, req)
	ctx = span.In(ctx)
	t := &Turn{planner: p, log: telemetry.BindLog(p.Log, ctx), span: span, set: set, route: route,
		ruleModel: model,
		subject:   who, caller: from, planned: time.Now(), agent: len(offeredTools(req)) > 0}
	if err := t.plan(ctx, req); err != nil {
		t.endSpan(err)
		return nil, err
	}
	return t, nil
}

// plan prepares the request for the current model server.
func (t *Turn) plan(ctx context.Context, req *openai.Request) error {
	p, set, from := t.planner, t.set, &t.caller
	waiting := deferredTools(req)
	if err := t.locate(ctx); err != nil {
		return err
	}
	named := from.workspace(set, req)
	t.wantsWords = t.span.Words()
	if from.Watch != nil {
		from.Watch.Asked(req, from.Run)
		t.wantsWords = t.wantsWords || from.Watch.Listens()
	}
	if t.wantsWords && len(named.Folders) > 0 {
		t.folder = named.Folders[0]
	}
	read, err := t.applyEdits(req) // as the model reads it; the guard looks at req
	if err != nil {
		return err
	}
	t.req = read
	// A run shortens what it holds by itself.
	t.fresh = from.Run == "" && !slices.ContainsFunc(read.Messages,
		func(m openai.Message) bool { return m.Role == "assistant" })
	t.offered, t.forced, t.oneCall = offeredTools(read), read.Forced(), read.Single()
	t.catalog = tools.NewCatalog(set.Tools, p.Schemas, t.offered)
	t.catalog.Defer(waiting)
	t.facts = set.Facts(t.Model.ID.Value, t.srv.ID.Value, req.LastUser)
	t.original, t.facts.Mentioned = req, req.Mentions
	t.facts.Formatted = req.Formatted()
	t.facts.Stops = req.Stops()
	// rarely needed, and long
	key := sync.OnceValue(func() string { return conversationKey(from.Session, req) })
	if t.bucket = bucketOf(t.subject.Session); t.subject.Session == "" {
		t.bucket = bucketOf(key())
	}
	t.thoughts = memory{p.Recall, state.Thought, key}
	t.notes = memory{p.Recall, state.Note, key}
	t.awaited = memory{p.Recall, state.Awaited, key}
	t.thoughts.fetch(ctx, req)
	t.known = upstream.Memory{Thoughts: t.thoughts, Notes: t.notes}
	if from.Run == "" {
		t.known.Bounds = func(tool string, chars int) tools.TrimBounds {
			return set.Results.Bounds(ruleset.OfGateway, tool, t.window, chars)
		}
		observer := guard.Observer{Log: t.log}
		if t.span != nil {
			observer.Decided = t.traceDecision
		}
		t.facts.Judge = p.Guard.Judge(set, t.subject, t.catalog, from.Request, req, named,
			observer)
		t.readResults(req)
		t.refuseCopies()
		t.refuseLoops(set.Loop.Look(req))
	}
	t.refuseRounded()
	return t.write(ctx)
}

// workspace returns where the agent works. Headers outrank the instructions, since no model writes them.
func (c *Caller) workspace(set *ruleset.Set, req *openai.Request) ruleset.Named {
	if c.Folder != "" {
		return ruleset.Named{Folders: []string{c.Folder}}
	}
	return set.Named(req.Instructed)
}

// applyEdits returns the request as edits.yaml wants the model to read it.
func (t *Turn) applyEdits(req *openai.Request) (*openai.Request, error) {
	out, done, err := t.set.Edits.Request(req, t.subject, t.Model.Sampling)
	t.account.Edits = t.planner.Edited(t.set, t.Model.ID.Value, done)
	return out, err
}

// SubjectOf returns who asks for the calls of a request. The subject is interactive: someone at the gateway
// or at the approvals page can answer a question.
func SubjectOf(req *openai.Request, from Caller, model string) policy.Subject {
	run := &req.Runtime
	return policy.Subject{
		Model: model, Client: from.Client, Agent: run.Agent, Channel: run.Channel, Run: from.Run != "",
		Interactive: true,
		Session:     cmp.Or(run.Session, from.Session),
	}
}

// oneCallOnly allows a choice one call, where the caller takes no more.
func (t *Turn) oneCallOnly(f parse.Facts) parse.Facts {
	if !t.oneCall || f.Judge == nil {
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

// offeredTools returns the tools that may be called, none where the caller says so.
func offeredTools(req *openai.Request) []tools.Tool {
	if req.ToolChoice == "none" {
		return nil
	}
	return req.Tools
}

// readResults shows the guard the results of earlier calls and keeps its notes about them.
func (t *Turn) readResults(req *openai.Request) {
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Role == "tool" {
			if what, ok := t.awaited.take(m.CallID); ok {
				t.planner.Guard.Await(m.CallID, t.subject, what)
			}
			t.notes.put(m.CallID, t.planner.Guard.Result(t.set, m.CallID,
				func(most int) string { return req.Text(m, most) }))
		}
	}
}

// maxPrompt is how much of a system prompt is searched for deferred tools, in bytes.
const maxPrompt = 256 << 10

// deferredHeading precedes the list of deferred tools, with lines such as "- name (owner): what it does".
// OpenClaw 2026.9.6 writes it into the system prompt.
const deferredHeading = "Available deferred-schema tools:"

// deferredTools returns the tools that OpenClaw's Tool Search lists in the system prompt only. They are
// called through the tool tool_call.
func deferredTools(req *openai.Request) []string {
	via := false
	for i := range req.Tools {
		via = via || req.Tools[i].Name == "tool_call"
	}
	if !via {
		return nil
	}
	m := &req.Messages[0]
	if m.Role != "system" && m.Role != "developer" {
		return nil
	}
	_, list, ok := strings.Cut(req.Text(m, maxPrompt), deferredHeading)
	if !ok {
		return nil
	}
	var names []string
	for line := range strings.Lines(strings.TrimLeft(list, "\n")) {
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			break
		}
		if end := strings.IndexAny(entry, " :\r\n"); end >= 0 {
			entry = entry[:end]
		}
		if entry != "" {
			names = append(names, strings.Clone(entry)) // and not all of the prompt
		}
	}
	return names
}

// memory holds texts of calls. A call with an id of ours is known everywhere, since no other call has that
// id and the session may have been renamed. An id of the server, such as call0, is known in its
// conversation only.
type memory struct {
	recall       *state.Recall
	kind         state.Kind
	conversation func() string // the conversation
}

// Get returns the text of a call.
func (m memory) Get(callID string) (string, bool) { return m.recall.Get(m.kind, m.key(callID)) }

func (m memory) put(callID, text string) {
	if callID != "" {
		m.recall.Put(m.kind, m.key(callID), text)
	}
}

func (m memory) take(callID string) (string, bool) { return m.recall.Take(m.kind, m.key(callID)) }

// fetch gets what other replicas know of the calls of a request.
func (m memory) fetch(ctx context.Context, req *openai.Request) {
	m.recall.Fetch(ctx, func() (keys []string) {
		for i := range req.Messages {
			msg := &req.Messages[i]
			for j := range msg.Calls {
				keys = append(keys, m.key(msg.Calls[j].ID))
			}
			if msg.Role == "tool" && msg.CallID != "" {
				keys = append(keys, m.key(msg.CallID))
			}
		}
		return keys
	})
}

func (m memory) key(callID string) string {
	id := openai.CleanCallID(callID)
	if openai.OwnCallID(id) {
		return id
	}
	return m.conversation() + "\x00" + id
}

// conversationKey identifies a conversation by the session that the caller names, or by its beginning up to
// the first message of the user, which holds OpenClaw's session. The session key, such as agent:main:main,
// is the same at each gateway.
func conversationKey(session string, req *openai.Request) string {
	if session != "" && !strings.HasPrefix(session, telemetry.TraceSession) {
		return "session " + session
	}
	sum := sha256.New()
	for i := range req.Messages {
		sum.Write(req.Messages[i].Of(req.Body))
		if req.Messages[i].Role == "user" {
			break
		}
	}
	return "begins " + string(sum.Sum(nil))
}
