// Package sidecar is the server: routes, and the way of one request through the
// rooms beside it. Everything it knows about replies, rules, servers and tools
// it asks of them; it never reads model text itself.
package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admission"
	"github.com/jgavinray/gpt-oss-executor/sidecar/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/fleet"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/journal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/reply"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/spans"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
	"github.com/jgavinray/gpt-oss-executor/sidecar/witness"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Rules are the rules in force. A request takes the set once and keeps it.
type Rules interface {
	Set() *ruleset.Set
	Trouble() string // what is wrong with the rules on disk, in one sentence; empty: nothing
}

// Config is what a server works with. Rules, Upstream, Guard, Metrics and Log must be set.
type Config struct {
	Sources   []executor.Source // of the tools that run here; none: there are no runs
	Journal   *journal.Journal  // of the runs; nil: what they did is not kept
	Rules     Rules
	Upstream  *upstream.Client // of the settings
	Keys      fleet.Keys       // of other model servers
	Guard     *guard.Guard
	Token     string // of callers; empty: none is asked for
	Memory    admission.Memory
	Names     web.Names
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
	Lab       *lab.Lab                            // of experiments; nil: none is run
	Witness   *witness.Witness                    // keeps the last requests for the console; may be nil
	Spans     *spans.Tracer                       // is told what becomes of requests; nil: tracing is off
	Served    func(context.Context, turn.Account) // is told what came of each request; may be nil
	RoleWait  time.Duration                       // of streams; 0: as the package reply has it
	Replicas  func() Replicas                     // behind the same address; nil: this one is alone
	Elsewhere state.Elsewhere                     // what other replicas know of calls; nil: there are none
}

// Server answers OpenAI-compatible requests.
type Server struct {
	rules    Rules
	turns    *turn.Planner
	runs     *executor.Executor // nil: there is no tool to run
	sessions *state.Sessions
	known    sync.Map // agents that were recognised, and by what
	door     *admission.Door
	lab      *lab.Lab
	witness  *witness.Witness
	spans    *spans.Tracer
	account  func(context.Context, turn.Account)
	token    string
	names    web.Names
	metrics  *telemetry.Metrics
	log      *slog.Logger
	roleWait time.Duration
	replicas func() Replicas
}

// New puts the parts together. Nothing is opened. Close must be called at the end.
func New(c Config) *Server {
	limits := c.Rules.Set().Limits
	s := &Server{
		rules: c.Rules, token: c.Token, names: c.Names, metrics: c.Metrics, log: c.Log, lab: c.Lab,
		witness: c.Witness, spans: c.Spans, account: c.Served, roleWait: cmp.Or(c.RoleWait, reply.RoleWait),
		replicas: c.Replicas,
		sessions: state.NewSessions(maxSessions),
		door:     admission.New(admission.Config{Memory: c.Memory, Now: time.Now, Log: c.Log}),
		turns: &turn.Planner{
			Fleet: fleet.New(fleet.Config{Main: c.Upstream, Keys: c.Keys, Metrics: c.Metrics, Now: time.Now,
				Log: c.Log}), Guard: c.Guard, Recall: state.NewRecall(limits.Thoughts, c.Elsewhere),
			Schemas: tools.NewSchemas(limits.Schemas), Crew: turn.New(idleHands), Metrics: c.Metrics,
			Log: c.Log,
		},
	}
	c.Metrics.Loads(func() telemetry.Load { return telemetry.Load(s.door.State(&s.rules.Set().Limits.Load)) })
	c.Metrics.States(func(say func(upstream, state string)) {
		for _, u := range s.turns.Fleet.States(s.rules.Set()) {
			say(u.Name, string(u.State))
		}
	})
	if len(c.Sources) > 0 {
		s.runs = executor.New(executor.Config{Turns: s.turns, Guard: c.Guard, Sources: c.Sources,
			Journal: c.Journal, Now: time.Now, Log: c.Log})
	}
	return s
}

// Resume goes on with a run that was broken off. All of it goes to the sink.
func (s *Server) Resume(ctx context.Context, id string, sink turn.Sink) error {
	if s.runs == nil {
		return errors.New("resume a run: there is no tool that it could call; set --workspace-tools or --gateway, as for the server that began it")
	}
	run, err := s.runs.Resume(ctx, s.rules.Set(), id, "")
	if err != nil {
		return err
	}
	return run.Run(ctx, sink)
}

// Resumer lets people go on with runs of this server; nil: none is kept. Background runs what it is given
// until the server stops.
func (s *Server) Resumer(background func(func(context.Context))) *executor.Resumer {
	if s.runs == nil || s.runs.Journal == nil {
		return nil
	}
	r := &executor.Resumer{Executor: s.runs, Rules: s.rules.Set, Background: background}
	if s.witness != nil {
		r.Watch = s.resumed
	}
	return r
}

// resumed begins to keep a run that goes on without a caller.
func (s *Server) resumed(set *ruleset.Set, run *executor.Run) executor.Watching {
	who := run.Account().Who
	return shown{s.witness.Begin(witness.Asking{
		ID: run.ID, Model: who.Model, Session: who.Session, Agent: who.Agent, Channel: who.Channel,
		Run: run.ID, Arms: set.Arms, Rules: set.Version,
	}, set.Limits.Console)}
}

// shown is a run that people may look at.
type shown struct{ *witness.Record }

func (w shown) Ended(a turn.Account, err error) { w.Served(a, statusOf(err), errorText(err)) }

// Journal is where runs of this server are kept; nil: nowhere.
func (s *Server) Journal() *journal.Journal {
	if s.runs == nil {
		return nil
	}
	return s.runs.Journal
}

// Close drops the connections that the server opened by itself.
func (s *Server) Close() {
	s.turns.Fleet.Close()
	s.turns.Crew.Close()
}

// idleHands is how many goroutines of the crew wait for work at most.
const idleHands = 16

// Handler is the HTTP surface.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.Handle("GET /v1/models", s.returning(s.models))
	mux.Handle("GET /v1/models/{id...}", s.returning(s.model))
	mux.Handle("POST /v1/chat/completions", s.returning(s.chat))
	mux.Handle("POST /v1/responses", s.returning(s.responses))
	mux.Handle("POST /feedback", s.returning(s.feedback))
	mux.Handle("/v1/chat/completions", s.returning(notServed(http.StatusMethodNotAllowed, "POST")))
	mux.Handle("/v1/responses", s.returning(notServed(http.StatusMethodNotAllowed, "POST")))
	mux.Handle("/v1/models", s.returning(notServed(http.StatusMethodNotAllowed, "GET, HEAD")))
	mux.Handle("/", s.returning(notServed(http.StatusNotFound, "")))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(web.RulesVersion, s.rules.Set().Version)
		w.Header().Set(web.RequestID, web.RequestIDOf(r))
		if why, hint := s.names.Refuse(r); why != "" && r.URL.Path != "/healthz" {
			s.fail(w, r, openai.Forbidden(strings.ToUpper(why[:1])+why[1:]+"; "+hint+"."))
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// notServed answers what no other route takes. allow lists the methods of a path
// that has some.
func notServed(status int, allow string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if allow != "" {
			w.Header().Set("Allow", allow)
		}
		e := openai.InvalidRequest("",
			fmt.Sprintf("%s %s is not served here; try POST /v1/chat/completions, POST /v1/responses or GET /v1/models", r.Method, r.URL.Path))
		e.Status = status
		return e
	}
}

// returning turns a handler's error into an OpenAI-style body.
func (s *Server) returning(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.token != "" && !web.Bearer(r, s.token) {
			s.fail(w, r, openai.Unauthorized())
		} else if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var apiErr *openai.Error
	if !errors.As(err, &apiErr) {
		apiErr = openai.Internal(err.Error())
	}
	ctx, told := r.Context(), false
	if where := (*placedError)(nil); errors.As(err, &where) {
		ctx, told = where.ctx, where.told
	}
	if !told {
		s.turnedAway(ctx, w, r, apiErr)
	}
	if apiErr.Status == upstream.StatusClosed {
		panic(http.ErrAbortHandler) // who has closed its sending half alone would read an empty 200
	}
	if r.Context().Err() == nil && apiErr.Log != "" {
		s.log.WarnContext(ctx, "request failed", "event",
			"request_failed", "request", w.Header().Get(web.RequestID), "path", r.URL.Path,
			"status", apiErr.Status, "code", apiErr.Code, "detail", apiErr.Log)
	}
	if err := apiErr.Respond(w); err != nil && r.Context().Err() == nil {
		s.log.Debug("answer not delivered", "event", "answer_lost", "detail", err.Error())
	}
}

// Upstreams are the model servers of the rules in force, after each was asked whether it can be
// reached. The answers are kept for a moment.
func (s *Server) Upstreams(ctx context.Context) []fleet.State {
	return s.turns.Fleet.Look(ctx, s.rules.Set())
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	web.WriteJSON(w, http.StatusOK, map[string]any{"ok": true, "status": "live"})
}

// Ready says why a request would not be served: the model server cannot be reached, is none,
// or has no model that the first id of models.yaml could mean. Of several servers one is
// enough. The error is for the operator; it holds no address.
func (s *Server) Ready(ctx context.Context) error {
	set := s.rules.Set()
	if s.door.Short(&set.Limits.Load) {
		return errors.New("memory is nearly full: new requests get 503, those under way go on")
	}
	if len(set.Models[0].Upstreams) > 0 {
		return s.turns.Fleet.Ready(ctx, set, set.Models[0])
	}
	main := s.turns.Fleet.Main
	if err := main.Ready(ctx, set.Limits.ProbeTimeout); err != nil {
		return err
	}
	first := set.Models[0]
	if first.Upstream.Value != "" {
		return nil
	}
	_, err := main.Model(ctx, set, first, first.ID.Value)
	var apiErr *openai.Error
	if errors.As(err, &apiErr) {
		return errors.New("upstream: " + apiErr.Message)
	}
	return err
}
