package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Source is where calls run. It is safe for concurrent use.
type Source interface {
	// Tools are those that the subject can call now, each with its schema and a description.
	Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) []tools.Tool
	// Run runs a call once, until ctx ends. It touches nothing but what was judged. The id is
	// the same whenever the same call of a run is tried again.
	Run(ctx context.Context, id string, call *guard.Passed) tools.Result
}

// ExecutorConfig is what an executor works with. All fields but Journal must be set.
type ExecutorConfig struct {
	Turns   *turn.Planner
	Guard   *guard.Guard
	Sources []Source // of tools with the same name, that of the first counts
	Journal *Journal // nil: what runs did is not kept
	Now     func() time.Time
	Log     *slog.Logger
}

// Executor begins runs. It is safe for concurrent use.
type Executor struct {
	ExecutorConfig
	open   atomic.Int64 // runs that go on
	cache  *cache
	recent *memos
	cut    *cut
}

// recovery is how long after a crash the same request goes on with its run by itself. Callers
// such as OpenClaw send it again for 90 seconds.
const recovery = 10 * time.Minute

// NewExecutor is an executor without runs.
func NewExecutor(c ExecutorConfig) *Executor {
	return &Executor{ExecutorConfig: c, cache: newCache(c.Now), recent: newMemos(c.Now),
		cut: findCut(c.Journal, c.Now().Add(-recovery))}
}

// Run is one run. It is for one Go.
type Run struct {
	*Executor
	Log   *slog.Logger  // of the run
	ID    string        // of the run that answers: that of an earlier one, where the request was sent before
	Model ruleset.Model // under the id that the caller sees

	span     *telemetry.RunSpan // nil: tracing is off
	status   string             // how it ended; empty: it did not
	set      *ruleset.Set
	rules    *Runs // of the set
	from     turn.Caller
	who      policy.Subject
	judge    *guard.Run
	time     time.Duration // that it may take
	window   int           // tokens that the model takes; 0: unknown
	describe bool          // the answer says what the run did
	reply    int           // tokens that the caller wants at most; 0: it does not say
	since    time.Time
	begin    BeginRecord
	by       string  // the person who lets it go on; "": none does
	before   *ending // the run has ended already, in a process before this one
	mine     *memo   // of this run; nil: another one with the same request goes on
	joined   *memo   // that one

	offered map[string]Source
	tools   []tools.Tool
	work

	account turn.Account
	sink    turn.Sink
	kept    *runJournal // nil: nothing is kept
	begun   bool        // a reply of the model has begun
	telling sync.Mutex  // guards the sink while calls run
}

// work is what a run has done so far. Another run may go on with it.
type work struct {
	talk    *talk
	tally   tally
	usage   usage
	acts    *acts
	pending *modelReply // the last reply, if its calls have not all run
}

// wants reports whether a request is for a run: its model says so.
func wants(set *ruleset.Set, req *openai.Request) bool {
	model, ok := set.Model(cmp.Or(req.Model, set.Models[0].ID.Value))
	return ok && (model.Mode == ruleset.Executor || model.Mode == ruleset.Either && len(req.Tools) == 0)
}

// Answer begins a run for a request that is for one, as a turn.Answerer.
func (e *Executor) Answer(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from turn.Caller) (turn.Answer, error) {
	if !wants(set, req) {
		return nil, nil
	}
	run, err := e.Begin(ctx, set, req, from)
	if err != nil {
		return nil, err
	}
	return run, nil
}

// Begin reads what a run is asked for. A run that the same request began, and that a crash has
// broken off, goes on. Run must follow. The error is an *openai.Error.
func (e *Executor) Begin(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from turn.Caller) (*Run, error) {
	r, err := e.plan(ctx, set, req, from)
	if err != nil {
		return nil, err
	}
	e.cut.mu.Lock()
	defer e.cut.mu.Unlock()
	if err := r.takeOver(req); err != nil {
		return nil, err
	}
	if r.before == nil {
		r.enter()
	}
	ctx, r.span = from.Spans.Run(ctx, r.ID, r.Model.ID.Value, set.Version, set.Arms, r.who)
	r.from.Spans, r.Log = r.span.Children(), telemetry.BindLog(e.Log, ctx)
	return r, nil
}

// plan is a new run.
func (e *Executor) plan(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from turn.Caller) (*Run, error) {
	id := cmp.Or(req.Model, set.Models[0].ID.Value)
	model, ok := set.Model(id)
	switch {
	case !ok:
		return nil, openai.ModelNotFound(id)
	case req.N > 1:
		return nil, openai.InvalidRequest("n", "n must be 1: a run has one answer.")
	}
	from.Run = newID()
	r := &Run{
		Executor: e, Log: e.Log, ID: from.Run, Model: model, set: set, from: from,
		rules:   ruleset.Of[Runs](set),
		who:     turn.SubjectOf(req, from, model.ID.Value),
		offered: map[string]Source{}, since: e.Now(),
	}
	var err error
	if r.time, err = timeOf(req, r.rules.Time); err != nil {
		return nil, err
	}
	if r.describe, err = describes(req); err != nil {
		return nil, err
	}
	r.judge = e.Guard.Run(set, r.who, r.ID)
	if r.window, err = e.Turns.Window(ctx, set, model); err != nil {
		return nil, err
	}
	r.tools = r.offer(ctx)
	r.talk, r.acts, r.reply = newTalk(req, r.tools), &acts{}, replyOf(req)
	r.begin = BeginRecord{ID: r.ID, Model: model.ID.Value, Session: r.who.Session, Agent: r.who.Agent,
		Channel: r.who.Channel,
		Rules:   set.Version, Sum: sumOf(r.who, req.Body), Request: req.Body}
	return r, nil
}

// offer finds the tools of the run.
func (r *Run) offer(ctx context.Context) (out []tools.Tool) {
	for _, s := range r.Sources {
		for _, t := range s.Tools(ctx, r.set, r.who) {
			rule := r.rules.Tool(t.Name)
			if _, taken := r.offered[t.Name]; taken || !rule.Offered() {
				continue
			}
			r.offered[t.Name] = s
			out = append(out, t)
		}
	}
	return out
}

// timeOf is how long a run may take: as long as the rules say, or less where the caller says
// so in seconds.
func timeOf(req *openai.Request, most time.Duration) (time.Duration, error) {
	at, ok := req.Field("timeout")
	if !ok {
		return most, nil
	}
	v := gjson.ParseBytes(at.Of(req.Body))
	switch {
	case v.Type == gjson.Null:
		return most, nil
	case v.Type != gjson.Number || v.Num <= 0:
		return 0, openai.InvalidRequest("timeout", "timeout must be a number of seconds above 0.")
	case v.Num >= most.Seconds():
		return most, nil
	}
	return time.Duration(v.Num * float64(time.Second)), nil
}

// replyOf is how many tokens a caller wants at most; 0: it does not say.
func replyOf(req *openai.Request) (most int) {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if at, ok := req.Field(name); ok {
			most = max(most, int(gjson.ParseBytes(at.Of(req.Body)).Int()))
		}
	}
	return most
}

// sumOf is the same for requests that are the same, of the same session.
func sumOf(who policy.Subject, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", who.Agent, who.Channel, who.Session)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// newID is the id of a run: letters and digits.
func newID() string { return "run" + rand.Text()[:20] }
