// Package sidecar is the server: routes, and the way of one request through the
// rooms beside it. Everything it knows about replies, rules, servers and tools
// it asks of them; it never reads model text itself.
package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Server answers OpenAI-compatible requests.
type Server struct {
	live     *Live
	world    guard.World
	upstream *upstream.Client // the one of the settings
	clients  *clients
	thoughts *state.Thoughts
	rates    *state.Rates
	asks     *state.Asks
	approve  *approvals.Store // nil: nobody can be asked here
	dryRuns  quiet
	now      func() time.Time
	schemas  *tools.Schemas
	sessions *state.Sessions
	metrics  *telemetry.Metrics
	log      *slog.Logger
	token    string // of callers; empty: none is asked for

	decisions DecisionLog // nil: there is none
}

// NewServer puts the parts together. Nothing is opened. Without approve nobody can be asked
// here, so that what needs it does not leave.
func NewServer(live *Live, world guard.World, up *upstream.Client, approve *approvals.Store, token string, log *slog.Logger, m *telemetry.Metrics) *Server {
	limits := live.Set().Limits
	return &Server{
		live: live, world: world, upstream: up, approve: approve, token: token, log: log, metrics: m,
		rates: state.NewRates(maxSessions), asks: state.NewAsks(), now: time.Now,
		clients:  &clients{main: up, log: log},
		thoughts: state.NewThoughts(limits.Thoughts),
		sessions: state.NewSessions(maxSessions),
		schemas:  tools.NewSchemas(limits.Schemas),
	}
}

// Close drops the connections that the server opened by itself.
func (s *Server) Close() { s.clients.close() }

// Handler is the HTTP surface.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.Handle("GET /v1/models", s.returning(s.models))
	mux.Handle("GET /v1/models/{id...}", s.returning(s.model))
	mux.Handle("POST /v1/chat/completions", s.returning(s.chat))
	mux.Handle("/v1/chat/completions", s.returning(notServed(http.StatusMethodNotAllowed, "POST")))
	mux.Handle("/v1/models", s.returning(notServed(http.StatusMethodNotAllowed, "GET, HEAD")))
	mux.Handle("/", s.returning(notServed(http.StatusNotFound, "")))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(rulesVersion, s.live.Set().Version)
		mux.ServeHTTP(w, r)
	})
}

// rulesVersion is the header that says which rules were in force.
const rulesVersion = "X-Rules-Version"

// notServed answers what no other route takes. allow lists the methods of a path
// that has some.
func notServed(status int, allow string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if allow != "" {
			w.Header().Set("Allow", allow)
		}
		e := openai.InvalidRequest("", fmt.Sprintf("%s %s is not served here; try POST /v1/chat/completions or GET /v1/models", r.Method, r.URL.Path))
		e.Status = status
		return e
	}
}

// returning turns a handler's error into an OpenAI-style body.
func (s *Server) returning(h func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := error(nil)
		if s.token != "" && !bearer(r, s.token) {
			err = openai.Unauthorized()
		} else {
			err = h(w, r)
		}
		if err == nil {
			return
		}
		var said *openai.Error
		if !errors.As(err, &said) {
			said = openai.Internal(err.Error())
		}
		if said.Status == upstream.StatusClosed {
			return // nobody is there to read it
		}
		if r.Context().Err() == nil && said.Log != "" {
			s.log.Warn("request failed", "event", "request_failed", "path", r.URL.Path, "status", said.Status, "code", said.Code, "detail", said.Log)
		}
		if err := said.Respond(w); err != nil && r.Context().Err() == nil {
			s.log.Debug("answer not delivered", "event", "answer_lost", "detail", err.Error())
		}
	})
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "status": "live"})
}

// readyz says whether a request would be served: rules are loaded, and the
// upstream can be reached. The probe behind it is cached. Rules on disk that do
// not load are a warning, since older ones are in force.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	set := s.live.Set()
	body := map[string]any{"ready": true, "rules": set.Version, "failing": []string{}}
	if trouble := s.live.Trouble(); trouble != "" {
		body["warnings"] = []string{trouble}
	}
	status := http.StatusOK
	if err := s.upstream.Ready(r.Context(), set.Limits.ProbeTimeout); err != nil {
		status = http.StatusServiceUnavailable
		body["ready"], body["failing"] = false, []string{err.Error()}
	} else {
		body["server"] = s.upstream.Server(r.Context(), set).ID
	}
	writeJSON(w, status, body)
}

// modelEntry is one entry of GET /v1/models.
type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) error {
	list := []modelEntry{}
	for _, m := range s.live.Set().Models {
		list = append(list, modelEntry{m.ID, "model", 0, "gpt-oss-executor"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	return nil
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if _, ok := s.live.Set().Model(id); !ok {
		return openai.ModelNotFound(id)
	}
	writeJSON(w, http.StatusOK, modelEntry{id, "model", 0, "gpt-oss-executor"})
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller who has left gets nothing
}

// seconds since t, for a histogram.
func seconds(t time.Time) float64 { return time.Since(t).Seconds() }
