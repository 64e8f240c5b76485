package sidecar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Admin is the API for those who look after the rules. It has a listener of its
// own, and never asks the model server.
type Admin struct {
	Live      *Live
	Approvals *approvals.Store
	Decisions *decisions.Log // answers go there; nil: there is none
	Token     string         // bearer token that must be shown; empty: none, which only a local listener may do
	Hosts     []string       // names of the listener beside those of this machine
	Local     bool           // the listener is reached from this machine alone
	Metrics   *telemetry.Metrics
	Log       *slog.Logger
	Ending    <-chan struct{} // closed when the listener is to end: who waits for news gets an answer; may be nil
}

// maxAdminBody is the longest body that is read, in bytes.
const maxAdminBody = 8 << 20

// adminHandler answers, or returns an *AdminError. Any other error is a fault of
// ours.
type adminHandler func(http.ResponseWriter, *http.Request) error

// Handler is the HTTP surface.
func (a *Admin) Handler() http.Handler {
	routes := map[string]map[string]adminHandler{
		"/rules":                 {"GET": a.rules, "PUT": a.putRules},
		"/rules/files/{name...}": {"GET": a.ruleFile},
		"/rules/history":         {"GET": a.history},
		"/rules/rollback":        {"POST": a.rollback},
		"/explain":               {"POST": a.explain},
		"/approvals":             {"GET": a.guarded(a.approvals)},
		"/approvals/{id}":        {"GET": a.guarded(a.approval)},
		"/approvals/{id}/allow":  {"POST": a.guarded(a.allow)},
		"/approvals/{id}/deny":   {"POST": a.guarded(a.deny)},
		"/policy/check":          {"POST": a.checkPolicy},
	}
	mux := http.NewServeMux()
	for path, methods := range routes {
		mux.Handle(path, a.answering(func(w http.ResponseWriter, r *http.Request) error {
			h, ok := methods[r.Method]
			if r.Method == http.MethodHead {
				h, ok = methods[http.MethodGet]
			}
			if !ok {
				allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
				w.Header().Set("Allow", allow)
				return refusal(http.StatusMethodNotAllowed, r.Method+" is not served here", "this path takes "+allow)
			}
			return h(w, r)
		}))
	}
	mux.Handle("GET /metrics", a.answering(func(w http.ResponseWriter, r *http.Request) error {
		a.Metrics.Handler().ServeHTTP(w, r)
		return nil
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"ok": true})
	})
	mux.Handle("/", a.answering(func(_ http.ResponseWriter, r *http.Request) error {
		return refusal(http.StatusNotFound, r.URL.Path+" is not served here", "there are "+strings.Join(slices.Sorted(maps.Keys(routes)), ", "))
	}))
	return mux
}

// answering guards a handler, and turns its error into JSON.
func (a *Admin) answering(h adminHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(rulesVersion, a.Live.Set().Version)
		w.Header().Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxAdminBody)
		err := a.guard(r)
		if err == nil {
			err = h(w, r)
		}
		if err == nil {
			return
		}
		var said *AdminError
		if !errors.As(err, &said) {
			said = refusal(http.StatusInternalServerError, err.Error(), "")
		}
		if said.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		a.Log.Debug("admin request refused", "event", "admin_refused", "method", r.Method, "path", r.URL.Path, "status", said.status, "detail", said.Message)
		writeJSON(w, said.status, map[string]any{"error": said})
	})
}

// AdminError is an answer that says what is wrong and what helps. It is the
// member "error" of the body.
type AdminError struct {
	status   int
	Message  string            `json:"message"`
	Hint     string            `json:"hint,omitempty"`
	Problems rulefile.Problems `json:"problems,omitempty"` // of rules that do not load
}

func (e *AdminError) Error() string { return e.Message }

func refusal(status int, message, hint string) *AdminError {
	return &AdminError{status: status, Message: message, Hint: hint}
}

// adminBody reads a body that says it is JSON. An empty one need not say so.
func adminBody(r *http.Request) ([]byte, error) {
	doc, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", tooLong.Limit), "")
	case err != nil:
		return nil, refusal(http.StatusBadRequest, "the body could not be read: "+err.Error(), "")
	case len(doc) == 0:
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, refusal(http.StatusUnsupportedMediaType, "the body must be JSON", "send it with: Content-Type: application/json (curl --json does)")
	}
	return doc, nil
}

// readJSON reads a body with the members of to and no others: a misspelt one
// must not change what is done. An empty body leaves to as it is.
func readJSON(r *http.Request, to any) error {
	doc, err := adminBody(r)
	if err != nil || doc == nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return notTaken(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return notTaken(errors.New("something follows the JSON document"))
	}
	return nil
}

func notTaken(err error) error {
	return refusal(http.StatusBadRequest, "the body cannot be taken: "+err.Error(), "")
}
