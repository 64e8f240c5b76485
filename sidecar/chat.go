package sidecar

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// chat serves one request, in one direction:
//
//	bytes → request → rule set → plan → upstream → reading → answer
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error {
	began := time.Now()
	set := s.live.Set()
	w.Header().Set(rulesVersion, set.Version) // of these rules, whatever is edited meanwhile
	leave, err := s.enter(r, set.Limits)
	if err != nil {
		return err
	}
	defer leave()
	body, err := readBody(w, r, int64(set.Limits.RequestBytes))
	if err != nil {
		return err
	}
	req, err := openai.ParseRequest(body)
	if err != nil {
		return err
	}
	t, err := s.plan(r, set, req)
	if err != nil {
		return err
	}
	if req.Stream {
		s.metrics.Open.Inc()
		defer s.metrics.Open.Dec()
		out := newStreamed(w, t, keepalive(r, set.Limits.Keepalive))
		defer out.stop()
		t.out = out
	} else {
		t.out = &whole{w: w, t: t}
	}
	err = t.run(r.Context())
	s.metrics.Whole.WithLabelValues(strconv.FormatBool(req.Stream)).Observe(seconds(began))
	s.metrics.Requests.WithLabelValues(t.model.ID, strconv.Itoa(statusOf(err))).Inc()
	return err
}

// plan decides everything about a request before the model is asked.
func (s *Server) plan(r *http.Request, set *ruleset.Set, req *openai.Request) (*turn, error) {
	id := req.Model
	if id == "" {
		id = set.Models[0].ID
	}
	model, ok := set.Model(id)
	if !ok {
		return nil, openai.ModelNotFound(id)
	}
	up, err := s.clients.of(model.Upstream)
	if err != nil {
		return nil, openai.Internal("model " + id + ": " + err.Error())
	}
	waiting := deferred(req)
	if req, err = prompted(req, set.Prompts[model.Prompt]); err != nil {
		return nil, err
	}
	ctx := r.Context()
	srv := up.Server(ctx, set)
	if model.Server != "" {
		srv = set.Server(model.Server)
	}
	model = up.Model(ctx, set, model, id)
	catalog := tools.NewCatalog(set.Tools, s.schemas, offered(req))
	catalog.Defer(waiting)
	t := &turn{
		s: s, up: up, set: set, usage: req.UsageWanted, model: model, srv: srv, catalog: catalog,
		strategies: set.Strategies(model.Profile),
		facts: parse.Facts{
			Model: model.ID, Server: srv.ID, User: req.LastUser,
			MaxText: set.Limits.TextBytes, MaxDepth: set.Limits.Depth,
		},
	}
	t.who = asker(r.Header, req, model.ID)
	if set.Judges() || s.decisions != nil {
		t.id = rand.Text()
		t.facts.Judge = t.decide
	}
	s.heard(req)
	t.body = openai.Apply(req.Body, upstream.Prepare(req, srv, model, s.thoughts, catalog))
	return t, nil
}

// prompted is the request with a system message in front of the others.
func prompted(req *openai.Request, text string) (*openai.Request, error) {
	if text == "" {
		return req, nil
	}
	at := req.Messages[0].From
	message := openai.AppendString([]byte(`{"role":"system","content":`), text)
	return openai.ParseRequest(openai.Apply(req.Body, []openai.Edit{
		{Span: openai.Span{From: at, To: at}, With: append(message, "},"...)},
	}))
}

// offered are the tools that may be called: none where the caller says so.
func offered(req *openai.Request) []tools.Tool {
	if req.ToolChoice == "none" {
		return nil
	}
	return req.Tools
}

// readBody reads at most limit bytes. The buffer fits the body where its length
// is known.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, openai.TooLarge(limit)
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
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

// keepalive is how long a caller is left without an event: a third of what the
// OpenAI SDKs say they wait for, if that is less than the rules say.
func keepalive(r *http.Request, most time.Duration) time.Duration {
	n, err := strconv.ParseFloat(r.Header.Get("X-Stainless-Timeout"), 64)
	if third := n / 3; err == nil && third > 0 && third < most.Seconds() {
		return max(time.Duration(third*float64(time.Second)), 100*time.Millisecond)
	}
	return most
}

func statusOf(err error) int {
	var said *openai.Error
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &said):
		return said.Status
	case errors.Is(err, io.EOF):
		return upstream.StatusClosed
	}
	return http.StatusInternalServerError
}
