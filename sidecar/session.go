package sidecar

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxSessions  = 4096 // that are remembered
	maxSessionID = 256  // bytes of its header that tell one session from another
)

// enter lets a request in, or says that its session has too many. Leave must be called
// at its end.
func (s *Server) enter(r *http.Request, set *ruleset.Set) (leave func(), err error) {
	session, limits := sessionID(r.Header, set.Sessions), &set.Limits
	id, pace := "session "+session, limits.Session
	if session == "" {
		id, pace = "caller "+web.Address(r), limits.Caller
	}
	if wait := s.sessions.Enter(id, time.Now(), state.Pace(pace)); wait > 0 {
		s.metrics.Requests.WithLabelValues("", strconv.Itoa(http.StatusTooManyRequests)).Inc()
		return nil, openai.SessionLimited(wait)
	}
	return func() { s.sessions.Leave(id) }, nil
}

// sessionID is the session that one of these headers names; empty: none.
func sessionID(h http.Header, headers []string) string {
	for _, header := range headers {
		if id := h.Get(header); id != "" {
			return id[:min(len(id), maxSessionID)]
		}
	}
	return ""
}

// named is the session of a request without a runtime line, which says more: what a header names,
// or the request itself, whose prompts have a cache of their own; else the trace that it is part of,
// which a gateway keeps for all steps of one turn.
func named(h http.Header, headers []string, req *openai.Request) string {
	if id := sessionID(h, headers); id != "" {
		return id
	}
	if at, ok := req.Field("prompt_cache_key"); ok {
		if id, _ := openai.Text(req.Body, at); id != "" {
			return id[:min(len(id), maxSessionID)]
		}
	}
	return trace(h.Get("traceparent"))
}

// trace is the trace of that header as a session; empty: it names none.
// https://www.w3.org/TR/trace-context/#traceparent-header
func trace(parent string) string {
	const digits = "0123456789abcdef"
	part := strings.Split(parent, "-")
	if len(part) < 4 || len(part[1]) != 32 || strings.Trim(part[1], digits) != "" ||
		strings.Trim(part[1], "0") == "" {
		return ""
	}
	return telemetry.TraceSession + part[1]
}
