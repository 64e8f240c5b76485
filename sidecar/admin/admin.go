// Package admin is the API of the operator: the rules in force, edits, rollback, explain, policy check,
// approvals and resumed runs; and its Go client. Only a resumed run asks the model server.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// API is the admin API, which has its own listener.
type API struct {
	Rules     *live.Rules
	World     guard.World  // in which calls are judged
	Guard     *guard.Guard // judges the calls that a gateway's hook asks about
	Approvals *approvals.Store
	Drafts    *DraftLimiter  // limits the tests of rules that are not in force
	Misses    *Misses        // wrong tokens
	Decisions *decisions.Log // gets the answers; nil: none
	Parts     []Route        // routes of parts of the program
	// Token is the bearer token for everything; empty: none is needed, which only a local listener allows.
	Token    string
	Approver string   // token to look and to answer approvals; empty: none
	Reader   string   // token to look; empty: none
	Hosts    []string // names of the listener besides those of this machine
	Local    bool     // reached from this machine only
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	Level    *slog.LevelVar // of the log
	// Ending is closed when the listener stops, which answers long polls; may be nil.
	Ending <-chan struct{}
}

// maxBody is the longest body, in bytes.
const maxBody = 8 << 20

// handler answers, or returns an *Error; any other error is a fault of ours.
type handler func(http.ResponseWriter, *http.Request) error

// Route is a path that a part of the program serves. The error is an *Error or a fault of ours.
type Route struct {
	Method, Path string
	Serve        func(*API, http.ResponseWriter, *http.Request) error
}

// Handler returns the handler of all routes.
func (a *API) Handler() http.Handler {
	routes := map[string]map[string]handler{
		"/rules":                   {"GET": a.rules, "PUT": a.putRules},
		"/rules/files/{name...}":   {"GET": a.ruleFile},
		"/rules/history":           {"GET": a.history},
		"/rules/rollback":          {"POST": a.rollback},
		"/log":                     {"GET": a.level, "PUT": a.setLevel},
		"/explain":                 {"POST": a.explain},
		"/approvals":               {"GET": a.needToken(a.approvals)},
		"/approvals/{id}":          {"GET": a.needToken(a.approval)},
		"/approvals/{id}/allow":    {"POST": a.needToken(a.allow)},
		"/approvals/{id}/end":      {"POST": a.needToken(a.end)},
		"/approvals/{id}/deny":     {"POST": a.needToken(a.deny)},
		"/approvals/{id}/use":      {"POST": a.needToken(a.use)},
		"/calls/judge":             {"POST": a.needToken(a.judgeCall)},
		"/rules/history/{version}": {"GET": a.pastVersion},
		"/rules/hits":              {"GET": a.hits},
		"/policy/check":            {"POST": a.checkPolicy},
		"/debug/pprof/{name...}":   {"GET": a.profile},
	}
	for _, of := range a.Parts {
		if routes[of.Path] == nil {
			routes[of.Path] = map[string]handler{}
		}
		routes[of.Path][of.Method] = func(w http.ResponseWriter, r *http.Request) error {
			return of.Serve(a, w, r)
		}
	}
	mux := http.NewServeMux()
	for path, methods := range routes {
		mux.Handle(path, a.handle(func(w http.ResponseWriter, r *http.Request) error {
			h, ok := methods[r.Method]
			if r.Method == http.MethodHead {
				h, ok = methods[http.MethodGet]
			}
			if !ok {
				allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
				w.Header().Set("Allow", allow)
				return Refuse(http.StatusMethodNotAllowed, r.Method+" is not served here",
					"this path takes "+allow)
			}
			return h(w, r)
		}))
	}
	mux.Handle("GET /metrics", a.handle(func(w http.ResponseWriter, r *http.Request) error {
		a.Metrics.Handler().ServeHTTP(w, r)
		return nil
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		web.WriteJSON(w, http.StatusOK, map[string]bool{"ok": true})
	})
	mux.Handle("/", a.handle(func(_ http.ResponseWriter, r *http.Request) error {
		return Refuse(http.StatusNotFound, r.URL.Path+" is not served here",
			"there are "+strings.Join(slices.Sorted(maps.Keys(routes)), ", "))
	}))
	return mux
}

// handle admits a request and turns the error of a handler into JSON.
func (a *API) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(web.RulesVersion, a.Rules.Set().Version)
		w.Header().Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		err := a.admit(r, roleFor(r))
		if err == nil {
			err = h(w, r)
		}
		if err == nil {
			return
		}
		var refusal *Error
		if !errors.As(err, &refusal) {
			refusal = Refuse(http.StatusInternalServerError, err.Error(), "")
		}
		if refusal.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		a.Log.Debug("admin request refused", "event", "admin_refused", "method", r.Method, "path", r.URL.Path,
			"status", refusal.status, "detail", refusal.Message)
		web.WriteJSON(w, refusal.status, map[string]any{"error": refusal})
	})
}

// Error says what is wrong and what helps. It is the member "error" of the answer.
type Error struct {
	status   int
	Message  string            `json:"message"`
	Hint     string            `json:"hint,omitempty"`
	Problems rulefile.Problems `json:"problems,omitempty"` // of rules that do not load
}

func (e *Error) Error() string { return e.Message }

// Status returns the HTTP status of the answer.
func (e *Error) Status() int { return e.status }

// Refuse returns an error with a status and a hint; empty: none is known.
func Refuse(status int, message, hint string) *Error {
	return &Error{status: status, Message: message, Hint: hint}
}

// readBody reads a JSON body, which its Content-Type must announce unless it is empty.
func readBody(r *http.Request) ([]byte, error) {
	doc, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, Refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes",
			tooLong.Limit), "")
	case err != nil:
		return nil, Refuse(http.StatusBadRequest, "the body could not be read: "+err.Error(), "")
	case len(doc) == 0:
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		return nil, Refuse(http.StatusUnsupportedMediaType, "the body must be JSON",
			"send it with: Content-Type: application/json (curl --json does)")
	}
	return doc, nil
}

// ReadJSON reads a body with no other members than those of to, since a misspelt one must not change what
// is done. An empty body leaves to as it is.
func ReadJSON(r *http.Request, to any) error { return decode(r, to, true) }

// readLoosely is ReadJSON for bodies that may have further members.
func readLoosely(r *http.Request, to any) error { return decode(r, to, false) }

func decode(r *http.Request, to any, whole bool) error {
	doc, err := readBody(r)
	if err != nil || doc == nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if whole {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(to); err != nil {
		return badBody(jsontext.Error(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return badBody(errors.New("something follows the JSON document"))
	}
	return nil
}

func badBody(err error) error {
	return Refuse(http.StatusBadRequest, "the body cannot be used: "+err.Error(),
		"docs/endpoints.md says what each path takes")
}

// admit accepts a request with a token of the needed role, and never one of a web page.
func (a *API) admit(r *http.Request, needs web.Role) error {
	names := web.Names{Local: a.Local, Token: a.Token != "", Hosts: a.Hosts}
	if why, hint := names.Refuse(r); why != "" {
		return Refuse(http.StatusForbidden, why, hint)
	}
	if a.Token == "" {
		return nil
	}
	switch is := a.Tokens().Shown(r); {
	case is == web.NoRole && r.Header.Get("Authorization") != "" && a.Missed(r):
		return Refuse(http.StatusTooManyRequests, "the token is wrong, as many were from this address",
			"the right one is taken at any time")
	case is == web.NoRole:
		return Refuse(http.StatusUnauthorized, "the token is missing or wrong",
			"send it with: Authorization: Bearer TOKEN (the setting admin_token)")
	case is < needs:
		return Refuse(http.StatusForbidden,
			fmt.Sprintf("the token is that of a %s, and this takes one of: %s", is, needs),
			"admin_token may do everything, admin_approver_token may answer approvals, admin_reader_token may look")
	}
	return nil
}

// Tokens returns the tokens of the listener.
func (a *API) Tokens() web.Tokens {
	return web.Tokens{Admin: a.Token, Approver: a.Approver, Reader: a.Reader}
}

// roleFor returns the role that may send a request: readers may send what changes nothing.
func roleFor(r *http.Request) web.Role {
	looks := r.Method == http.MethodGet || r.Method == http.MethodHead
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/debug/"):
		return web.Admin
	case strings.HasPrefix(path, "/approvals/") && (looks || strings.HasSuffix(path, "/allow") ||
		strings.HasSuffix(path, "/deny")):
		return web.Approver // one approval shows a call with nothing masked
	case looks, path == "/explain", path == "/policy/check":
		return web.Reader
	}
	return web.Admin
}

// Serve serves the admin API until ctx ends, and then waits a moment for what
// is being answered. The error is nil after a stop that was asked for.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if err := web.ServeUntil(ctx, srv, l); err != nil {
		return fmt.Errorf("serve the admin API: %w", err)
	}
	wait, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if err != nil {
		return fmt.Errorf("stop the admin API: %w", err)
	}
	return nil
}
