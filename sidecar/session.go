package sidecar

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

const (
	maxSessions  = 4096 // that are remembered
	maxSessionID = 256  // bytes of its header that tell one session from another
)

// enter lets a request in, or says that its session has too many. Leave must be called
// at its end.
func (s *Server) enter(r *http.Request, limits *ruleset.Limits) (leave func(), err error) {
	id, pace := "session "+sessionID(r.Header), limits.Session
	if sessionID(r.Header) == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		id, pace = "caller "+host, limits.Caller
	}
	if wait := s.sessions.Enter(id, time.Now(), state.Pace(pace)); wait > 0 {
		s.metrics.Requests.WithLabelValues("", strconv.Itoa(http.StatusTooManyRequests)).Inc()
		return nil, openai.SessionLimited(wait)
	}
	return func() { s.sessions.Leave(id) }, nil
}

// sessionID is the session that a caller names; empty: none.
func sessionID(h http.Header) string {
	for _, header := range []string{"session_id", "session-id", "x-session-affinity"} { // session-id is Codex's
		if id := h.Get(header); id != "" {
			return id[:min(len(id), maxSessionID)]
		}
	}
	return ""
}

// cacheKey is the session that a request itself names: its prompts have a cache of their own.
func cacheKey(req *openai.Request) string {
	at, ok := req.Field("prompt_cache_key")
	if !ok {
		return ""
	}
	id, _ := openai.Text(req.Body, at)
	return id[:min(len(id), maxSessionID)]
}
