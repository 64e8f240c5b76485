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
		s.limiter.Broken(promise, len(body))
	}
	return body, err
}

// parse reads a request for a chat completion, or one that becomes it. asked is nil for the former.
func (s *Server) parse(ctx context.Context, body []byte,
	to translate) (req *openai.Request, asked *askedResponse, err error) {
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

// caller is what is known of who sent a request.
func (s *Server) caller(w http.ResponseWriter, r *http.Request, set *ruleset.Set, req *openai.Request,
	span *telemetry.Parent) turn.Caller {
	agent, waits := s.recognise(r, set, req), callerWaits(r.Header)
	return turn.Caller{Request: w.Header().Get(web.RequestID), Session: named(r.Header, set.Sessions, req),
		Client: agent.Name, Folder: agent.Workspace(r.Header.Get), Waits: waits,
		Spans: span}
}

// recognise finds the agent that sent a request. The log has one line of each, and of each way to recognise
// it.
func (s *Server) recognise(r *http.Request, set *ruleset.Set, req *openai.Request) *ruleset.Agent {
	agent, by := set.Recognise(r.Header.Get, req)
	if _, known := s.known.LoadOrStore(agent.Name+" "+by, true); !known {
		s.log.InfoContext(r.Context(), "a request of "+agent.Name+": "+by, "event",
			"agent_recognised", "client", agent.Name, "by", by,
			"user_agent", r.UserAgent(), "rules", set.Version)
	}
	return agent
}

// refused is the error of the API for one of the limiter.
func (s *Server) refused(err error) error {
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

// turnedAway is the one line in the log, and the count, of a request to which no answer was opened.
func (s *Server) turnedAway(ctx context.Context, w http.ResponseWriter, r *http.Request,
	apiErr *openai.Error) {
	const most = 256 // bytes of a path
	s.metrics.Refused.WithLabelValues(strconv.Itoa(apiErr.Status)).Inc()
	s.log.InfoContext(ctx, "refused", "event", "request_refused", "request", w.Header().Get(web.RequestID),
		"from", web.Address(r), "session", sessionID(r.Header, s.rules.Set().Sessions),
		"method", r.Method, "path", r.URL.Path[:min(len(r.URL.Path), most)], "status", apiErr.Status,
		"code", apiErr.Code, "detail", apiErr.Message, "rules", w.Header().Get(web.RulesVersion))
}

// bodyWait is how long a caller may take to send its request.
const bodyWait = time.Minute

// unfit says that a body is not worth reading, as its headers have it.
func unfit(r *http.Request, limit int64) error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return openai.Encoded()
	}
	if r.ContentLength > limit {
		return openai.TooLarge(limit)
	}
	return nil
}

// readBody reads at most limit bytes; what came of them it gives with an error, too. The buffer fits the
// body where its length is known, and is not large: who says much may send little, and memory is taken
// for what came.
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

// callerWaits is how long the caller says that it waits, as the OpenAI SDKs do; 0: it does
// not say.
func callerWaits(h http.Header) time.Duration {
	const most = 1 << 24 // seconds; more would not fit a Duration
	n, err := strconv.ParseFloat(h.Get("X-Stainless-Timeout"), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, most) * float64(time.Second))
}

// keepalive is how long a caller is left without an event: a third of what it waits, if
// that is less than the rules say.
func keepalive(waits, most time.Duration) time.Duration {
	if third := waits / 3; third > 0 && third < most {
		return max(third, 100*time.Millisecond)
	}
	return most
}
