package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Source is where calls run. It is safe for concurrent use.
type Source interface {
	// Tools returns the tools that the subject can call now, with schemas and descriptions.
	Tools(ctx context.Context, set *ruleset.Set, who policy.Subject) []tools.Tool
	// Run runs a call once, until ctx ends. It touches only what was judged. A retry of the same call
	// has the same id.
	Run(ctx context.Context, id string, call *guard.AllowedCall) tools.Result
}

// ExecutorConfig configures an executor. All fields but Journal must be set.
type ExecutorConfig struct {
	Turns   *turn.Planner
	Guard   *guard.Guard
	Sources []Source // the first one with a tool of a name has it
	Journal *Journal // nil: runs are not kept
	Now     func() time.Time
	Log     *slog.Logger
}

// Executor begins runs. It is safe for concurrent use.
type Executor struct {
	ExecutorConfig
	active      atomic.Int64
	cache       *cache
	recent      *recentRuns
	interrupted *interruptedRuns
}

// recovery is how long after a crash the same request resumes its run. Callers such as OpenClaw repeat
// it for 90 seconds.
const recovery = 10 * time.Minute

// NewExecutor returns an executor without active runs.
func NewExecutor(c ExecutorConfig) *Executor {
	return &Executor{ExecutorConfig: c, cache: newCache(c.Now), recent: newRecentRuns(c.Now),
		interrupted: findInterrupted(c.Journal, c.Now().Add(-recovery))}
}

// Run is one run. It is not safe for concurrent use.
type Run struct {
	*Executor
	Log   *slog.Logger  // of the run
	ID    string        // of an earlier run, if that one has the same request
	Model ruleset.Model // by the id that the caller sees

	span       *telemetry.RunSpan // nil: no tracing
	status     string             // how it ended; empty: it has not
	set        *ruleset.Set
	rules      *Runs // of the set
	caller     turn.Caller
	who        policy.Subject
	judge      *guard.Run
	limit      time.Duration
	window     int  // tokens of the model's context; 0: unknown
	describe   bool // the answer has metadata of the run
	maxReply   int  // the caller's limit of tokens in a reply; 0: none
	started    time.Time
	begin      BeginRecord
	by         string     // the person who resumes it; may be empty
	earlierEnd *ending    // of the run in an earlier process
	entry      *recentRun // of this run; nil: another run has the request
	other      *recentRun // of the other run

	offered map[string]Source
	tools   []tools.Tool
	runState

	account turn.Account
	sink    turn.Sink
	journal *runJournal // nil: not kept
	begun   bool        // a reply has begun
	sinkMu  sync.Mutex  // guards sink while calls run
}

// runState is what a run has done so far. A later run of the same request takes it over.
type runState struct {
	talk    *conversation
	tokens  tokenCount
	usage   usage
	history *history
	pending *modelReply // the last reply, until its calls have run
}

// wantsRun reports whether a request is for a run: its model is in executor mode, or allows both and
// the request has no tools.
func wantsRun(set *ruleset.Set, req *openai.Request) bool {
	model, ok := set.Model(cmp.Or(req.Model, set.Models[0].ID.Value))
	return ok && (model.Mode == ruleset.Executor || model.Mode == ruleset.Either && len(req.Tools) == 0)
}

// Answer begins a run if the request is for one. It is a turn.Answerer.
func (e *Executor) Answer(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from turn.Caller) (turn.Answer, error) {
	if !wantsRun(set, req) {
		return nil, nil
	}
	run, err := e.Begin(ctx, set, req, from)
	if err != nil {
		return nil, err
	}
	return run, nil
}

// Begin prepares a run for a request, or resumes the run that the request began before a crash; Run
// must follow. The error is an *openai.Error.
func (e *Executor) Begin(ctx context.Context, set *ruleset.Set, req *openai.Request,
	from turn.Caller) (*Run, error) {
	r, err := e.newRun(ctx, set, req, from)
	if err != nil {
		return nil, err
	}
	e.interrupted.mu.Lock()
	defer e.interrupted.mu.Unlock()
	if err := r.resumeInterrupted(req); err != nil {
		return nil, err
	}
	if r.earlierEnd == nil {
		r.register()
	}
	ctx, r.span = from.Spans.Run(ctx, r.ID, r.Model.ID.Value, set.Version, set.Arms, r.who)
	r.caller.Spans, r.Log = r.span.Children(), telemetry.BindLog(e.Log, ctx)
	return r, nil
}

func (e *Executor) newRun(ctx context.Context, set *ruleset.Set, req *openai.Request,
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
		Executor: e, Log: e.Log, ID: from.Run, Model: model, set: set, caller: from,
		rules:   ruleset.Of[Runs](set),
		who:     turn.SubjectOf(req, from, model.ID.Value),
		offered: map[string]Source{}, started: e.Now(),
	}
	var err error
	if r.limit, err = requestTimeout(req, r.rules.Time); err != nil {
		return nil, err
	}
	if r.describe, err = wantsMetadata(req); err != nil {
		return nil, err
	}
	r.judge = e.Guard.Run(set, r.who, r.ID)
	if r.window, err = e.Turns.Window(ctx, set, model); err != nil {
		return nil, err
	}
	r.tools = r.findTools(ctx)
	r.talk, r.history, r.maxReply = newConversation(req, r.tools), &history{}, maxReplyTokens(req)
	r.begin = BeginRecord{ID: r.ID, Model: model.ID.Value, Session: r.who.Session, Agent: r.who.Agent,
		Channel: r.who.Channel,
		Rules:   set.Version, Sum: requestSum(r.who, req.Body), Request: req.Body}
	return r, nil
}

// findTools returns the tools of the run and notes their sources.
func (r *Run) findTools(ctx context.Context) (out []tools.Tool) {
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

// requestTimeout returns the time limit of a run: that of the rules, or less if the caller asks for
// less.
func requestTimeout(req *openai.Request, most time.Duration) (time.Duration, error) {
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

// maxReplyTokens returns the caller's limit of tokens in a reply; 0 if there is none.
func maxReplyTokens(req *openai.Request) (most int) {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if at, ok := req.Field(name); ok {
			most = max(most, int(gjson.ParseBytes(at.Of(req.Body)).Int()))
		}
	}
	return most
}

// requestSum returns a hash of the request, session, agent and channel.
func requestSum(who policy.Subject, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", who.Agent, who.Channel, who.Session)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

func newID() string { return "run" + rand.Text()[:20] }

// subjectArguments are the arguments that best say what a call is about, best first.
var subjectArguments = []string{"command", "path", "url", "query", "pattern", "message", "text",
	"action", "id"}

const maxSubject = 120

// progress describes a call in a line: its tool and its subject.
func progress(c tools.Call) string {
	for _, name := range subjectArguments {
		if v := gjson.GetBytes(c.Arguments, name); v.Type == gjson.String && v.Str != "" {
			line, _, more := strings.Cut(logText(v.Str), "\n")
			line = strings.Map(printable, line)
			if len(line) > maxSubject {
				line, more = strings.ToValidUTF8(line[:maxSubject], ""), true
			}
			if more {
				line += " …"
			}
			return c.Name + ": " + line
		}
	}
	return c.Name
}

// printable replaces characters that could move or reorder text on a terminal.
func printable(c rune) rune {
	if unicode.IsPrint(c) {
		return c
	}
	return ' '
}

// showProgress sends the caller a line as a thought, which no program takes for the answer.
func (r *Run) showProgress(line string) {
	if !r.sink.Flows() {
		return
	}
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	r.sink.Take(&turn.Piece{Parts: []turn.Part{{Events: []parse.Event{{Kind: parse.Thought,
		Text: "\n" + line + "\n"}}}}})
}
