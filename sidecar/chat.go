package sidecar

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/executor"
	"github.com/jgavinray/gpt-oss-executor/sidecar/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/reply"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/spans"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/tracectx"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
	"github.com/jgavinray/gpt-oss-executor/sidecar/witness"
)

// chat serves a request for a chat completion.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error { return s.serve(w, r, nil) }

// responses serves a request of the Responses API. It is a chat completion but for its words.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) error {
	err := s.serve(w, r, reply.Chat)
	var apiErr *openai.Error
	if errors.As(err, &apiErr) && apiErr.Param == "messages" {
		here := *apiErr
		here.Param, err = "input", &here
	}
	return err
}

// translate makes the request for a chat completion of what a caller of another API sends.
type translate func(body []byte) (chat []byte, asked *reply.Asked, err error)

// serve serves one request, in one direction:
//
//	bytes → request → its turn among others → rule set → turn, or turns in a run → sink
//
// Between the beginning and the end there may be minutes, so the crew does both.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to translate) (err error) {
	o := &opened{began: time.Now(), responses: to != nil}
	defer func() {
		if !o.ended { // something panicked
			s.turns.Crew.Do(func() { _ = s.left(o, w, openai.Internal("a request panicked")) })
		}
	}()
	s.turns.Crew.Do(func() { err = s.entered(o, w, r, to) })
	if err == nil {
		o.out, err = s.door.Wait(o.ctx, o.in.line, &o.in.set.Limits.Load)
	}
	if err == nil {
		s.turns.Crew.Do(func() { err = s.begin(o, w) })
	}
	if err == nil {
		err = o.answer.Run(o.ctx, o.sink)
	}
	s.turns.Crew.Do(func() { err = s.left(o, w, err) })
	return err
}

// left ends what entered has begun, and says what came of it.
func (s *Server) left(o *opened, w http.ResponseWriter, err error) error {
	o.ended = true
	err = s.refused(err)
	if o.sink != nil {
		s.answered(o, w, err)
	} else if o.leave != nil {
		o.record.Served(turn.Account{}, statusOf(err), errorText(err))
	}
	if o.out != nil {
		o.out()
	}
	if o.leave != nil {
		o.leave()
	}
	if o.span.End(statusOf(err)); err != nil {
		return &placedError{err, o.ctx, o.sink != nil}
	}
	return nil
}

// answered counts an answer that was opened.
func (s *Server) answered(o *opened, w http.ResponseWriter, err error) {
	o.sink.Stop()
	streams := o.sink.Flows()
	if streams {
		s.metrics.Open.Dec()
	}
	account := o.answer.Account()
	if statusOf(err) != upstream.StatusClosed { // a caller who left shows nothing
		o.seat.Served(account, time.Since(o.began), err != nil)
	}
	o.record.Served(account, statusOf(err), errorText(err))
	s.served(o.ctx, w, account, o.began, streams, o.responses, err)
	telemetry.Observe(s.metrics.Whole.WithLabelValues(strconv.FormatBool(streams)),
		time.Since(o.began).Seconds(), tracectx.Of(o.ctx))
	s.metrics.Requests.WithLabelValues(o.model, strconv.Itoa(statusOf(err))).Inc()
}

// placed is the context of a request, which says where in a trace it is, and its span; nil: tracing is off.
func (s *Server) placed(w http.ResponseWriter, r *http.Request,
	set *ruleset.Set) (context.Context, *spans.Request) {
	id := w.Header().Get(web.RequestID)
	if s.spans == nil {
		return tracectx.With(r.Context(), tracectx.Incoming(r.Header, id)), nil
	}
	return s.spans.Request(r.Context(), r, id, set.Limits.Trace)
}

// placedError is an error, and where in a trace it was made: who writes it to the log has left that
// context.
type placedError struct {
	error
	ctx  context.Context
	told bool // the log has the line of its request
}

func (e *placedError) Unwrap() error { return e.error }

// opened is a request on its way.
type opened struct {
	began     time.Time
	responses bool // of that API
	ctx       context.Context
	span      *spans.Request
	leave     func() // the session; nil: it was not let in
	in        *inbound
	out       func() // at the door; nil: it has not passed it
	model     string
	answer    answering
	seat      *lab.Seat       // nil: no experiment is about it
	record    *witness.Record // nil: it is not kept
	sink      sink            // nil: no answer was opened
	ended     bool
}

// errorText is what an error says to the caller; empty: there is none.
func errorText(err error) string {
	var apiErr *openai.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &apiErr):
		return apiErr.Message
	}
	return err.Error()
}

// sink is where an answer goes.
type sink interface {
	turn.Sink
	Stop() // must be called at its end
}

// answering is what answers a request.
type answering interface {
	// Run gives the answer to a sink. The error is an *openai.Error of which nothing has left.
	Run(context.Context, turn.Sink) error
	// Account is what came of it, after Run.
	Account() turn.Account
}

// served is the one line that a request leaves in the log to which an answer was opened.
func (s *Server) served(ctx context.Context, w http.ResponseWriter, a turn.Account, began time.Time,
	streams, responses bool, err error) {
	status := statusOf(err)
	if s.account != nil {
		s.account(ctx, a)
	}
	for kind, n := range map[string]int{"prompt": a.Prompt, "completion": a.Completion,
		"reasoning": a.Reasoning} {
		s.metrics.Tokens.WithLabelValues(a.Model, kind).Add(float64(max(0, n))) // a server may say anything
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "served", slog.String("event", "request_served"),
		slog.String("request", w.Header().Get(web.RequestID)),
		slog.String("run", w.Header().Get(runID)),
		slog.String("experiment", w.Header().Get(experimentHeader)), slog.String("model", a.Model),
		slog.String("upstream", a.Upstream), slog.String("client", a.Who.Client),
		slog.String("agent", a.Who.Agent), slog.String("session", a.Who.Session),
		slog.Int("status", status), slog.Bool("stream", streams), slog.Bool("responses", responses),
		slog.Int("turns", a.Turns), slog.String("style", a.Style),
		slog.String("strategies", strings.Join(a.Strategies, " ")),
		slog.String("edits", strings.Join(a.Edits, " ")), slog.Int("calls", a.Calls),
		slog.Int("refused", a.Refused), slog.Int("repeated", a.Repeated), slog.Int("prompt_tokens", a.Prompt),
		slog.Int("completion_tokens", a.Completion), slog.Int("reasoning_tokens", a.Reasoning),
		slog.Int64("elapsed_ms", time.Since(began).Milliseconds()),
		slog.String("rules", w.Header().Get(web.RulesVersion)))
}

// runID is the header that names the run of executor mode that answers.
const runID = "X-Run-Id"

// begin plans what answers the request, and opens the answer. The request itself is not kept: a turn may last
// for minutes.
func (s *Server) begin(o *opened, w http.ResponseWriter) error {
	set, req, asked, caller := o.in.set, o.in.req, o.in.asked, o.in.caller
	o.in = nil
	var watch []turn.Watcher
	if o.seat = s.seat(w, set, req, caller); o.seat != nil {
		set, watch = o.seat.Set, append(watch, o.seat)
	}
	if o.record = s.witnessed(w, set, req, caller, asked != nil); o.record != nil {
		watch = append(watch, o.record)
	}
	caller.Alive = keepalive(caller.Waits, set.Limits.Keepalive)
	caller.Watch, set = turn.Watchers(watch...), set.For(caller.Client)
	if s.runs != nil && executor.Wants(set, req) {
		run, err := s.runs.Begin(o.ctx, set, req, caller)
		if err != nil {
			return err
		}
		w.Header().Set(runID, run.ID)
		o.record.OfRun(run.ID)
		o.model, o.answer = run.Model.ID.Value, run
	} else {
		one, err := s.turns.Plan(o.ctx, set, req, caller)
		if err != nil {
			return err
		}
		o.model, o.answer = one.Model.ID.Value, one
	}
	o.sink = s.sink(o.ctx, w, o.model, req, asked, caller.Alive, set.Limits.Idle)
	if o.sink.Flows() {
		s.metrics.Open.Inc()
	}
	return nil
}

// witnessed begins to keep the request for the console; nil: it is not kept.
func (s *Server) witnessed(w http.ResponseWriter, set *ruleset.Set, req *openai.Request, from turn.Caller,
	responses bool) *witness.Record {
	if s.witness == nil {
		return nil
	}
	who := turn.Asker(req, from, cmp.Or(req.Model, set.Models[0].ID.Value))
	return s.witness.Begin(witness.Asking{
		ID: w.Header().Get(web.RequestID), Model: who.Model, Session: who.Session, Client: who.Client,
		Agent: who.Agent, Channel: who.Channel,
		Arms: set.Arms, Rules: set.Version, Stream: req.Stream, Responses: responses,
	}, set.Limits.Console)
}

// sink opens the answer.
func (s *Server) sink(ctx context.Context, w http.ResponseWriter, model string, req *openai.Request,
	asked *reply.Asked, alive, idle time.Duration) sink {
	switch {
	case asked != nil:
		return reply.NewResponse(w, reply.ResponseConfig{
			Asked: asked, Model: model, Stream: req.Stream, Keepalive: alive, Idle: idle,
			RoleWait: s.roleWait, Log: tracectx.Bind(s.log, ctx),
		})
	case req.Stream:
		return reply.NewStream(w, reply.StreamConfig{
			Model: model, Usage: req.UsageWanted, Keepalive: alive, Idle: idle, RoleWait: s.roleWait,
			Metrics: s.metrics, Log: tracectx.Bind(s.log, ctx),
		})
	}
	return reply.NewWhole(w, model, idle, s.metrics)
}

func statusOf(err error) int {
	var apiErr *openai.Error
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &apiErr):
		return apiErr.Status
	case errors.Is(err, io.EOF):
		return upstream.StatusClosed
	}
	return http.StatusInternalServerError
}
