package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
)

// RulesVersion is the header that says which rules were in force.
const RulesVersion = "X-Rules-Version"

// Upstream is the header that says which of several model servers answers.
const Upstream = "X-Upstream"

// WriteJSON answers with a document. A caller who has left gets nothing.
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

// ServeUntil serves until ctx ends, and leaves the stopping to its caller. An error means
// that the server ended by itself.
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
