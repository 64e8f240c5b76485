package sidecar

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// read reads the body of a request, if there is memory for it.
func (s *Server) read(w http.ResponseWriter, r *http.Request, set *ruleset.Set) ([]byte, error) {
	promise, err := s.limiter.Promise(r.ContentLength, &set.Limits.Load)
	if err != nil {
		// one that waits for its next request takes as much as half a stream
		w.Header().Set("Connection", "close")
		return nil, err
	}
	body, err := readBody(w, r, int64(set.Limits.RequestBytes))
	if err != nil {
		s.limiter.Release(promise, len(body))
	}
	return body, err
}

// parse reads a request for a chat completion, translated from another API if asked is not nil.
func (s *Server) parse(ctx context.Context, body []byte,
	to translator) (req *openai.Request, asked *responseParams, err error) {
	if to != nil {
		if body, asked, err = to(body); err != nil {
			return nil, nil, err
		}
		if len(asked.LeftOut) > 0 {
			s.log.InfoContext(ctx, "items of the input are left out: the model could not read them",
				"event", "items_left_out", "types", strings.Join(asked.LeftOut, " "))
		}
	}
	if req, err = openai.ParseRequest(body); err == nil {
		req, err = req.Narrowed()
	}
	return req, asked, err
}

// caller describes the sender of a request.
func (s *Server) caller(w http.ResponseWriter, r *http.Request, set *ruleset.Set, req *openai.Request,
	span *telemetry.Parent) turn.Caller {
	agent, waits := s.recognise(r, set, req), callerWaits(r.Header)
	return turn.Caller{Request: w.Header().Get(web.RequestID),
		Session: sessionOf(r.Header, set.Sessions, req),
		Client:  agent.Name, Folder: agent.Workspace(r.Header.Get), Waits: waits,
		Spans: span}
}

// recognise finds the agent that sent a request. It logs each agent and each way of recognising it once.
func (s *Server) recognise(r *http.Request, set *ruleset.Set, req *openai.Request) *ruleset.Agent {
	agent, by := set.Recognise(r.Header.Get, req)
	if _, known := s.known.LoadOrStore(agent.Name+" "+by, true); !known {
		s.log.InfoContext(r.Context(), "a request of "+agent.Name+": "+by, "event",
			"agent_recognised", "client", agent.Name, "by", by,
			"user_agent", r.UserAgent(), "rules", set.Version)
	}
	return agent
}

// apiError turns errors of the limiter and of the context into those of the API.
func (s *Server) apiError(err error) error {
	var why *web.Refusal
	switch {
	case errors.As(err, &why):
		s.metrics.Shed.WithLabelValues(why.Why).Inc()
		s.metrics.Requests.WithLabelValues("", strconv.Itoa(http.StatusServiceUnavailable)).Inc()
		return openai.Refused(why.Error(), why.After)
	case errors.Is(err, turn.ErrStopping):
		return openai.Overloaded(time.Second)
	case errors.Is(err, context.Canceled):
		return turn.ClientClosed()
	}
	return err
}

// logRefused counts and logs a request to which no answer was opened.
func (s *Server) logRefused(ctx context.Context, w http.ResponseWriter, r *http.Request,
	apiErr *openai.Error) {
	const most = 256 // bytes of a path
	s.metrics.Refused.WithLabelValues(strconv.Itoa(apiErr.Status)).Inc()
	s.log.InfoContext(ctx, "refused", "event", "request_refused", "request", w.Header().Get(web.RequestID),
		"from", web.Address(r), "session", sessionID(r.Header, s.rules.Set().Sessions),
		"method", r.Method, "path", r.URL.Path[:min(len(r.URL.Path), most)], "status", apiErr.Status,
		"code", apiErr.Code, "detail", apiErr.Message, "rules", w.Header().Get(web.RulesVersion))
}

// bodyWait is the time in which a caller must send its request.
const bodyWait = time.Minute

// checkHeaders rejects a body that is encoded or too long.
func checkHeaders(r *http.Request, limit int64) error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return openai.Encoded()
	}
	if r.ContentLength > limit {
		return openai.TooLarge(limit)
	}
	return nil
}

// readBody reads at most limit bytes, and returns what it has read with an error, too. Its buffer grows
// with what comes, not with a Content-Length that may be wrong.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	const atOnce = 1 << 20
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(min(r.ContentLength, atOnce)) + bytes.MinRead)
	}
	within := http.NewResponseController(w)
	_ = within.SetReadDeadline(time.Now().Add(bodyWait)) // a writer of a test has none
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	err = errors.Join(err, r.Body.Close())
	_ = within.SetReadDeadline(time.Time{})
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return buf.Bytes(), openai.TooLarge(limit)
	case err != nil:
		e := openai.InvalidRequest("", "the request body ended early")
		e.Log = "read request body: " + err.Error()
		return buf.Bytes(), e
	case buf.Len() == 0:
		return nil, openai.InvalidRequest("",
			"the request body is empty; send a JSON object with model and messages")
	case !utf8.Valid(buf.Bytes()): // the model server would fail, or read something else
		return buf.Bytes(), openai.NotUTF8(buf.Bytes())
	}
	return buf.Bytes(), nil
}

// callerWaits returns the timeout that the OpenAI SDKs send; 0: unknown.
func callerWaits(h http.Header) time.Duration {
	const most = 1 << 24 // seconds; more would not fit a Duration
	n, err := strconv.ParseFloat(h.Get("X-Stainless-Timeout"), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, most) * float64(time.Second))
}

// keepalive returns the longest silence for a caller: a third of its timeout, at most that of the rules.
func keepalive(waits, most time.Duration) time.Duration {
	if third := waits / 3; third > 0 && third < most {
		return max(third, 100*time.Millisecond)
	}
	return most
}

const (
	maxSessions  = 4096 // remembered
	maxSessionID = 256  // bytes of the header
)

// enter admits a request, unless its session or address has too many. leave must be called at its end.
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

// sessionID returns the session that one of these headers names; empty: none does.
func sessionID(h http.Header, headers []string) string {
	for _, header := range headers {
		if id := h.Get(header); id != "" {
			return id[:min(len(id), maxSessionID)]
		}
	}
	return ""
}

// sessionOf returns the session of a request without a runtime line: that of a header, its
// prompt_cache_key, or its trace, which a gateway keeps for all steps of one turn.
func sessionOf(h http.Header, headers []string, req *openai.Request) string {
	if id := sessionID(h, headers); id != "" {
		return id
	}
	if at, ok := req.Field("prompt_cache_key"); ok {
		if id, _ := openai.Text(req.Body, at); id != "" {
			return id[:min(len(id), maxSessionID)]
		}
	}
	return traceSession(h.Get("traceparent"))
}

// traceSession returns the trace in a traceparent header as a session; empty: there is none.
// https://www.w3.org/TR/trace-context/#traceparent-header
func traceSession(parent string) string {
	const digits = "0123456789abcdef"
	part := strings.Split(parent, "-")
	if len(part) < 4 || len(part[1]) != 32 || strings.Trim(part[1], digits) != "" ||
		strings.Trim(part[1], "0") == "" {
		return ""
	}
	return telemetry.TraceSession + part[1]
}
