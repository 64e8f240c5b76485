package sidecar

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// chat serves a request for a chat completion.
func (s *Server) chat(w http.ResponseWriter, r *http.Request) error { return s.serve(w, r, nil) }

// responses serves a request of the Responses API. It is a chat completion but for its words.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) error {
	err := s.serve(w, r, toChat)
	var apiErr *openai.Error
	if errors.As(err, &apiErr) && apiErr.Param == "messages" {
		here := *apiErr
		here.Param, err = "input", &here
	}
	return err
}

// translate makes the request for a chat completion of what a caller of another API sends.
type translate func(body []byte) (chat []byte, asked *askedResponse, err error)

// serve serves one request, and says where in a trace its error was made.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to translate) error {
	set := s.rules.Set()
	w.Header().Set(web.RulesVersion, set.Version) // of these rules, whatever is edited meanwhile
	ctx, span := s.placed(w, r, set)
	opened, err := false, error(errPanicked)
	defer func() { span.End(turn.StatusOf(err)) }()
	opened, err = s.answer(ctx, w, r, to, set, span.Children())
	if err = s.refused(err); err != nil {
		return &placedError{err, ctx, opened}
	}
	return nil
}

// errPanicked is how a request ends whose handler panics.
var errPanicked = openai.Internal("a request panicked")

// answer answers one request, in one direction, and reports whether an answer was opened:
//
//	bytes → request → its turn among others → rule set → turn, or turns in a run → sink
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, to translate,
	set *ruleset.Set, span *telemetry.Parent) (opened bool, err error) {
	began := time.Now()
	if err := unfit(r, int64(set.Limits.RequestBytes)); err != nil {
		return false, err
	}
	leave, err := s.enter(r, set)
	if err != nil {
		return false, err
	}
	defer leave()
	body, err := s.read(w, r, set)
	if err != nil {
		return false, err
	}
	req, asked, err := s.parse(ctx, body, to)
	if err != nil {
		return false, err
	}
	caller := s.caller(w, r, set, req, span)
	line := cmp.Or(turn.Asker(req, caller, "").Session, web.Address(r))
	out, err := s.limiter.Wait(ctx, line, &set.Limits.Load)
	if err != nil {
		return false, err
	}
	defer out()
	set, caller.Watch = s.begin(ctx, w, set, req, caller, asked != nil)
	return s.respond(ctx, w, began, set, req, asked, caller)
}

// begin begins to watch the request, and gives the rule set by which it is served.
func (s *Server) begin(ctx context.Context, w http.ResponseWriter, set *ruleset.Set, req *openai.Request,
	caller turn.Caller, responses bool) (*ruleset.Set, turn.Watcher) {
	if len(s.watch) == 0 {
		return set.For(caller.Client), nil
	}
	asks := turn.Request{ID: w.Header().Get(web.RequestID), Set: set, Body: req, Responses: responses,
		Who: turn.Asker(req, caller, cmp.Or(req.Model, set.Models[0].ID.Value))}
	watcher := turn.Begin(ctx, s.watch, &asks)
	if arms := strings.Join(asks.Set.Arms, " "); arms != "" {
		w.Header().Set(experimentHeader, arms)
	}
	return asks.Set.For(caller.Client), watcher
}

// experimentHeader names the arms in which a request was served, EXPERIMENT/ARM each, with
// blanks between them.
const experimentHeader = "X-Experiment"

// runID is the header that names the run of executor mode that answers.
const runID = "X-Run-Id"

// respond plans what answers the request, gives the answer to a sink, and tells what came of it.
func (s *Server) respond(ctx context.Context, w http.ResponseWriter, began time.Time, set *ruleset.Set,
	req *openai.Request, asked *askedResponse, caller turn.Caller) (opened bool, err error) {
	err = errPanicked
	var answer turn.Answer
	var to sink // nil: no answer was opened
	defer func() {
		if to != nil {
			s.answered(ctx, w, to, turn.NewOutcome(answer.Account(), began, err), caller.Watch, asked != nil)
		} else if caller.Watch != nil {
			caller.Watch.Ended(turn.NewOutcome(turn.Account{}, began, err))
		}
	}()
	caller.Alive = keepalive(caller.Waits, set.Limits.Keepalive)
	answer, err = s.plan(ctx, set, req, caller)
	if err != nil {
		err = s.refused(err)
		return false, err
	}
	planned := answer.Account()
	if planned.Run != "" {
		w.Header().Set(runID, planned.Run)
	}
	to = s.sink(ctx, w, planned.Model, req, asked, caller.Alive, set.Limits.Idle)
	if to.Flows() {
		s.metrics.Open.Inc()
	}
	err = s.refused(answer.Run(ctx, to))
	return true, err
}

// plan decides what answers the request: what a part of the program makes of it, or else one turn.
func (s *Server) plan(ctx context.Context, set *ruleset.Set, req *openai.Request,
	caller turn.Caller) (turn.Answer, error) {
	if s.answerer != nil {
		if answer, err := s.answerer(ctx, set, req, caller); answer != nil || err != nil {
			return answer, err
		}
	}
	return s.turns.Plan(ctx, set, req, caller)
}

// answered tells what came of an answer that was opened.
func (s *Server) answered(ctx context.Context, w http.ResponseWriter, to sink, o *turn.Outcome,
	watcher turn.Watcher, responses bool) {
	to.Stop()
	streams := to.Flows()
	if streams {
		s.metrics.Open.Dec()
	}
	if watcher != nil {
		watcher.Ended(o)
	}
	s.served(ctx, w, o, streams, responses)
	telemetry.Observe(s.metrics.Whole.WithLabelValues(strconv.FormatBool(streams)), o.Took.Seconds(),
		telemetry.PlaceOf(ctx))
	s.metrics.Requests.WithLabelValues(o.Account.Model, strconv.Itoa(o.Status)).Inc()
}

// sink is where an answer goes.
type sink interface {
	turn.Sink
	Stop() // must be called at its end
}

// served is the one line that a request leaves in the log to which an answer was opened.
func (s *Server) served(ctx context.Context, w http.ResponseWriter, o *turn.Outcome,
	streams, responses bool) {
	a := &o.Account
	for kind, n := range map[string]int{"prompt": a.Prompt, "completion": a.Completion,
		"reasoning": a.Reasoning} {
		s.metrics.Tokens.WithLabelValues(a.Model, kind).Add(float64(max(0, n))) // a server may say anything
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "served", slog.String("event", "request_served"),
		slog.String("request", w.Header().Get(web.RequestID)),
		slog.String("run", a.Run),
		slog.String("experiment", w.Header().Get(experimentHeader)), slog.String("model", a.Model),
		slog.String("upstream", a.Upstream), slog.String("client", a.Who.Client),
		slog.String("agent", a.Who.Agent), slog.String("session", a.Who.Session),
		slog.Int("status", o.Status), slog.Bool("stream", streams), slog.Bool("responses", responses),
		slog.Int("turns", a.Turns), slog.String("style", a.Style),
		slog.String("strategies", strings.Join(a.Strategies, " ")),
		slog.String("edits", strings.Join(a.Edits, " ")), slog.Int("calls", a.Calls),
		slog.Int("refused", a.Refused), slog.Int("repeated", a.Repeated), slog.Int("prompt_tokens", a.Prompt),
		slog.Int("completion_tokens", a.Completion), slog.Int("reasoning_tokens", a.Reasoning),
		slog.Int64("elapsed_ms", o.Took.Milliseconds()),
		slog.String("rules", w.Header().Get(web.RulesVersion)))
}

// sink opens the answer.
func (s *Server) sink(ctx context.Context, w http.ResponseWriter, model string, req *openai.Request,
	asked *askedResponse, alive, idle time.Duration) sink {
	switch {
	case asked != nil:
		return newResponse(w, responseConfig{
			Asked: asked, Model: model, Stream: req.Stream, Keepalive: alive, Idle: idle,
			RoleWait: s.roleWait, Log: telemetry.BindLog(s.log, ctx),
		})
	case req.Stream:
		return newStream(w, streamConfig{
			Model: model, Usage: req.UsageWanted, Keepalive: alive, Idle: idle, RoleWait: s.roleWait,
			Metrics: s.metrics, Log: telemetry.BindLog(s.log, ctx),
		})
	}
	return NewWhole(w, model, idle, s.metrics)
}

// placed is the context of a request, which says where in a trace it is, and its span; nil: tracing is off.
func (s *Server) placed(w http.ResponseWriter, r *http.Request,
	set *ruleset.Set) (context.Context, *telemetry.RequestSpan) {
	id := w.Header().Get(web.RequestID)
	if s.spans == nil {
		return telemetry.WithPlace(r.Context(), telemetry.Incoming(r.Header, id)), nil
	}
	return s.spans.Request(r.Context(), r, id, *ruleset.Of[telemetry.Words](set))
}

// placedError is an error, and where in a trace it was made: who writes it to the log has left that
// context.
type placedError struct {
	error
	ctx    context.Context
	logged bool // the log has the line of its request
}

func (e *placedError) Unwrap() error { return e.error }
