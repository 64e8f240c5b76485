// Package sidecar serves the HTTP API and leads each request through the packages below it. It answers in
// chat completions or in Responses, as a stream of events or as one document; what needs no edit leaves as
// the bytes that came. It never reads the model's text itself.
package sidecar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
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
	Trouble() string // a sentence about faulty rules on disk; empty: they are in force
}

// Config holds the parts of a server. Turns, Rules, Metrics and Log must be set.
type Config struct {
	Turns    *turn.Planner
	Watch    []turn.Watch  // watch each request
	Answer   turn.Answerer // answers requests in place of one turn; nil: a turn answers each
	Routes   []Route       // of parts of the program
	Rules    Rules
	Token    string // of callers; empty: none is needed
	Memory   web.Memory
	Names    web.Names
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Spans    *telemetry.Tracer // nil: tracing is off
	RoleWait time.Duration     // see sinkConfig; 0: usualRoleWait
	Replicas func() Replicas   // nil: this server is alone
}

// Route is a path that a part of the program serves. The error of Serve is an *openai.Error.
type Route struct {
	Pattern string
	Serve   func(http.ResponseWriter, *http.Request) error
}

// Server answers OpenAI-compatible requests.
type Server struct {
	rules    Rules
	turns    *turn.Planner
	sessions *state.Sessions
	known    sync.Map // agents and ways of recognising them that were logged
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

// New returns a server. It opens nothing.
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

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.Handle("GET /v1/models", s.handle(s.models))
	mux.Handle("GET /v1/models/{id...}", s.handle(s.model))
	mux.Handle("POST /v1/chat/completions", s.handle(s.chat))
	mux.Handle("POST /v1/responses", s.handle(s.responses))
	for _, route := range s.routes {
		mux.Handle(route.Pattern, s.handle(route.Serve))
	}
	for path, allow := range map[string]string{"/v1/chat/completions": "POST", "/v1/responses": "POST",
		"/v1/models": "GET, HEAD"} {
		mux.Handle(path, s.handle(notServed(http.StatusMethodNotAllowed, allow)))
	}
	mux.Handle("/", s.handle(notServed(http.StatusNotFound, "")))
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

// notServed answers requests without a route. allow lists the methods that the path has.
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

// handle checks the token and turns the error of a handler into the answer.
func (s *Server) handle(h func(http.ResponseWriter, *http.Request) error) http.Handler {
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
	ctx, recorded := r.Context(), false
	if where := (*tracedError)(nil); errors.As(err, &where) {
		ctx, recorded = where.ctx, where.logged
	}
	if !recorded {
		s.logRefused(ctx, w, r, apiErr)
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

// Ready returns why a request would not be served: no model server can be reached, or none has the first
// model of models.yaml. The error is for the operator and holds no address.
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

// readyz reports whether a request would be served: rules are loaded and a model server can be reached. The
// probe is cached. Faulty rules on disk are a warning, since older ones are in force.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	set := s.rules.Set()
	body := map[string]any{"ready": true, "rules": set.Version, "failing": []string{}}
	if trouble := s.rules.Trouble(); trouble != "" {
		body["warnings"] = []string{trouble}
	}
	status := http.StatusOK
	if err := s.Ready(r.Context()); err != nil {
		status = http.StatusServiceUnavailable
		body["ready"], body["failing"] = false, []string{err.Error()}
	} else if len(set.Models[0].Upstreams) == 0 {
		body["server"] = s.turns.Fleet.Main.Server(r.Context(), set).ID.Value
	}
	if s.replicas != nil {
		s.replicas().describe(body)
	}
	body["upstreams"] = s.turns.Fleet.Look(r.Context(), set)
	web.WriteJSON(w, status, body)
}

// Replicas are the sidecars behind one address that this one knows of.
type Replicas struct {
	This string    // id of this replica
	Away bool      // the shared server cannot be asked
	List []Replica // heard of lately
}

// Replica is one of them.
type Replica struct {
	ID    string    `json:"id"`
	Rules string    `json:"rules"` // version in force
	Seen  time.Time `json:"seen"`
	// seconds by which its clock is ahead of the shared server's; 0: it is right
	Ahead float64 `json:"clock_ahead,omitempty"`
}

// describe adds the replicas to the answer of readyz. Without the shared server a replica stays ready: all
// of them lack it, and they serve.
func (r Replicas) describe(body map[string]any) {
	warnings, _ := body["warnings"].([]string)
	body["replica"], body["shared"], body["replicas"] = r.This, "up", r.List
	if r.Away {
		body["shared"] = "away"
		warnings = append(warnings,
			"the server that replicas share is away: each goes by what it knows itself")
	}
	versions := map[string]int{}
	for _, one := range r.List {
		if one.Ahead != 0 {
			warnings = append(warnings,
				fmt.Sprintf("the clock of replica %s differs from that of the server that replicas share by %+g s: set it", one.ID, one.Ahead))
		}
		versions[one.Rules]++
	}
	if len(versions) > 1 {
		var counts []string
		for _, v := range slices.Sorted(maps.Keys(versions)) {
			counts = append(counts, fmt.Sprintf("%s at %d", v, versions[v]))
		}
		warnings = append(warnings, "replicas have different rules in force: "+strings.Join(counts, ", "))
	}
	if len(warnings) > 0 {
		body["warnings"] = warnings
	}
}

// modelEntry is an entry of GET /v1/models.
type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func newModelEntry(id string) modelEntry { return modelEntry{id, "model", 0, "gpt-oss-executor"} }

func (s *Server) models(w http.ResponseWriter, _ *http.Request) error {
	list := []modelEntry{}
	for _, m := range s.rules.Set().Models {
		list = append(list, newModelEntry(m.ID.Value))
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	return nil
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if _, ok := s.rules.Set().Model(id); !ok {
		return openai.ModelNotFound(id)
	}
	web.WriteJSON(w, http.StatusOK, newModelEntry(id))
	return nil
}
