package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RulesVersion is the header with the version of the rules in force.
const RulesVersion = "X-Rules-Version"

// Upstream is the header that names the model server, if there are several.
const Upstream = "X-Upstream"

// WriteJSON answers with a document. It ignores a caller that has left.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Send writes a body. It gives up on a caller that accepts nothing for as long as idle, and would hold the
// memory for ever; 0: no limit.
func Send(w http.ResponseWriter, body []byte, idle time.Duration) {
	const piece = 64 << 10
	ctl := http.NewResponseController(w)
	for len(body) > 0 {
		if idle > 0 {
			_ = ctl.SetWriteDeadline(time.Now().Add(idle)) // a writer without deadlines has none to move
		}
		n, err := w.Write(body[:min(len(body), piece)])
		if err != nil {
			return // a caller who has left gets nothing
		}
		body = body[n:]
	}
}

// ServeUntil serves until ctx ends; the caller stops the server. An error means that the server ended by
// itself.
func ServeUntil(ctx context.Context, srv *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// RequestID is the header that names a request, in and out.
const RequestID = "X-Request-Id"

// maxRequestID bounds the id of a caller, in bytes.
const maxRequestID = 128

// RequestIDOf returns the id that the caller gave, if it is printable, or else a new one.
func RequestIDOf(r *http.Request) string {
	id := r.Header.Get(RequestID)
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, odd) {
		return "req" + rand.Text()
	}
	return id
}

// Address returns the host that a request comes from.
func Address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}
