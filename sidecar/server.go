// Package sidecar is the server: routes, and the way of one request through the
// rooms beside it. It answers in chat completions or in Responses, as a stream of events or as one document;
// what needs no edit leaves as the bytes that came. It never reads model text itself.
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

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Rules are the rules in force. A request takes the set once and keeps it.
type Rules interface {
	Set() *ruleset.Set
	Trouble() string // what is wrong with the rules on disk, in one sentence; empty: nothing
}

// Config is what a server works with. Turns, Rules, Metrics and Log must be set.
type Config struct {
	Turns    *turn.Planner
	Watch    []turn.Watch  // begin to watch each request
	Answer   turn.Answerer // answers requests in place of one turn; nil: a turn answers each
	Routes   []Route       // of the parts
	Rules    Rules
	Token    string // of callers; empty: none is asked for
	Memory   web.Memory
	Names    web.Names
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Spans    *telemetry.Tracer // is told what becomes of requests; nil: tracing is off
	RoleWait time.Duration     // of streams; 0: as the package reply has it
	Replicas func() Replicas   // behind the same address; nil: this one is alone
}

// Route is a path that a part of the program serves. The error is an *openai.Error.
type Route struct {
	Pattern string
	Serve   func(http.ResponseWriter, *http.Request) error
}

// Server answers OpenAI-compatible requests.
type Server struct {
	rules    Rules
	turns    *turn.Planner
	sessions *state.Sessions
	known    sync.Map // agents that were recognised, and by what
	limiter  *web.Limiter
	watch    []turn.Watch
	answerer turn.Answerer
	routes   []Route
	spans    *telemetry.Tracer
	token    string
	names    web.Names
	metrics  *telemetry.Metrics
	log      *slog.Logger
	roleWait time.Duration
	replicas func() Replicas
}

// New puts the server together. Nothing is opened.
func New(c Config) *Server {
	s := &Server{
		rules: c.Rules, turns: c.Turns, watch: c.Watch, answerer: c.Answer, routes: c.Routes, token: c.Token,
		names: c.Names, metrics: c.Metrics, log: c.Log, spans: c.Spans,
		roleWait: cmp.Or(c.RoleWait, usualRoleWait), replicas: c.Replicas,
		sessions: state.NewSessions(maxSessions),
		limiter:  web.NewLimiter(web.LimiterConfig{Memory: c.Memory, Now: time.Now, Log: c.Log}),
	}
	c.Metrics.Loads(func() telemetry.Load {
		return telemetry.Load(s.limiter.State(&s.rules.Set().Limits.Load))
	})
	c.Metrics.States(func(say func(upstream, state string)) {
		for _, u := range s.turns.Fleet.States(s.rules.Set()) {
			say(u.Name, string(u.State))
		}
	})
	return s
}

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
	for _, route := range s.routes {
		mux.Handle(route.Pattern, s.returning(route.Serve))
	}
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
		ctx, told = where.ctx, where.logged
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

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	web.WriteJSON(w, http.StatusOK, map[string]any{"ok": true, "status": "live"})
}

// Ready says why a request would not be served: the model server cannot be reached, is none,
// or has no model that the first id of models.yaml could mean. Of several servers one is
// enough. The error is for the operator; it holds no address.
func (s *Server) Ready(ctx context.Context) error {
	set := s.rules.Set()
	if s.limiter.Short(&set.Limits.Load) {
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
