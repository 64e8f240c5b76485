package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
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

// Send writes a body. A caller who takes none of it for so long gets no more: it would hold the
// memory for good. 0: it may wait.
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
