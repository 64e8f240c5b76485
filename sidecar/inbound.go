package sidecar

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admission"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/responses"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// inbound is a request that was read, and has not been planned.
type inbound struct {
	set    *ruleset.Set
	req    *openai.Request
	asked  *responses.Asked // nil: for a chat completion
	caller turn.Caller
	line   string // in which it waits for its turn: its session, or who sent it
}

// entered lets a request in, and reads it.
func (s *Server) entered(o *opened, w http.ResponseWriter, r *http.Request, to translate) (err error) {
	set := s.rules.Set()
	w.Header().Set(web.RulesVersion, set.Version) // of these rules, whatever is edited meanwhile
	o.ctx, o.span = s.placed(w, r, set)
	if err := s.door.Refuse(r.ContentLength, &set.Limits.Load); err != nil {
		w.Header().Set("Connection", "close") // one that waits for its next request takes as much as half a stream
		return err
	}
	if o.leave, err = s.enter(r, &set.Limits); err != nil {
		return err
	}
	in := &inbound{set: set}
	body, err := readBody(w, r, int64(set.Limits.RequestBytes))
	if err != nil {
		return err
	}
	if to != nil {
		if body, in.asked, err = to(body); err != nil {
			return err
		}
	}
	if in.req, err = openai.ParseRequest(body); err != nil {
		return err
	}
	in.caller = turn.Caller{Request: w.Header().Get(web.RequestID), Session: named(r.Header, in.req), Waits: callerWaits(r.Header), Spans: o.span.Children()}
	in.line = cmp.Or(turn.Asker(in.req, in.caller, "").Session, web.Address(r))
	o.in = in
	return nil
}

// refused is the error of the API for one of the door.
func (s *Server) refused(err error) error {
	var why *admission.Refusal
	switch {
	case errors.As(err, &why):
		s.metrics.Shed.WithLabelValues(why.Why).Inc()
		s.metrics.Requests.WithLabelValues("", strconv.Itoa(http.StatusServiceUnavailable)).Inc()
		return openai.Refused(why.Error(), why.After)
	case errors.Is(err, turn.ErrStopping):
		return openai.Overloaded(time.Second)
	case errors.Is(err, context.Canceled):
		return turn.Left()
	}
	return err
}

// bodyWait is how long a caller may take to send its request.
const bodyWait = time.Minute

// readBody reads at most limit bytes. The buffer fits the body where its length is known, and is not
// large: who says much may send little, and memory is taken for what came.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, openai.TooLarge(limit)
	}
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
		return nil, openai.TooLarge(limit)
	case err != nil:
		e := openai.InvalidRequest("", "the request body ended early")
		e.Log = "read request body: " + err.Error()
		return nil, e
	case buf.Len() == 0:
		return nil, openai.InvalidRequest("", "the request body is empty; send a JSON object with model and messages")
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
