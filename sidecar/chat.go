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

// responses serves a request of the Responses API, translated to a chat completion.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) error {
	err := s.serve(w, r, toChat)
	var apiErr *openai.Error
	if errors.As(err, &apiErr) && apiErr.Param == "messages" {
		here := *apiErr
		here.Param, err = "input", &here
	}
	return err
}

// translator turns a request of another API into one for a chat completion.
type translator func(body []byte) (chat []byte, asked *responseParams, err error)

// serve serves one request and adds its place in the trace to the error.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to translator) error {
	set := s.rules.Set()
	w.Header().Set(web.RulesVersion, set.Version) // of these rules, whatever is edited meanwhile
	ctx, span := s.startSpan(w, r, set)
	opened, err := false, error(errPanicked)
	defer func() { span.End(turn.StatusOf(err)) }()
	opened, err = s.answer(ctx, w, r, to, set, span.Children())
	if err = s.apiError(err); err != nil {
		return &tracedError{err, ctx, opened}
	}
	return nil
}

// errPanicked is the error of a request whose handler panicked.
var errPanicked = openai.Internal("a request panicked")

// answer serves one request and reports whether an answer was opened, whose log line the request then has:
//
// \tbytes → request → a place in the queue → rule set → turn, or turns of a run → sink
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, to translator,
	set *ruleset.Set, span *telemetry.Parent) (opened bool, err error) {
	began := time.Now()
	if err := checkHeaders(r, int64(set.Limits.RequestBytes)); err != nil {
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
	line := cmp.Or(turn.SubjectOf(req, caller, "").Session, web.Address(r))
	out, err := s.limiter.Wait(ctx, line, &set.Limits.Load)
	if err != nil {
		return false, err
	}
	defer out()
	set, caller.Watch = s.watchRequest(ctx, w, set, req, caller, asked != nil)
	return s.respond(ctx, w, began, set, req, asked, caller)
}

// watchRequest begins to watch the request and returns the rule set that serves it.
func (s *Server) watchRequest(ctx context.Context, w http.ResponseWriter, set *ruleset.Set,
	req *openai.Request,
	caller turn.Caller, responses bool) (*ruleset.Set, turn.Watcher) {
	if len(s.watch) == 0 {
		return set.For(caller.Client), nil
	}
	asks := turn.Request{ID: w.Header().Get(web.RequestID), Set: set, Body: req, Responses: responses,
		Who: turn.SubjectOf(req, caller, cmp.Or(req.Model, set.Models[0].ID.Value))}
	watcher := turn.StartWatching(ctx, s.watch, &asks)
	if arms := strings.Join(asks.Set.Arms, " "); arms != "" {
		w.Header().Set(experimentHeader, arms)
	}
	return asks.Set.For(caller.Client), watcher
}

// experimentHeader lists the arms that a request belongs to, as EXPERIMENT/ARM separated by blanks.
const experimentHeader = "X-Experiment"

// runHeader names the run of executor mode that answers.
const runHeader = "X-Run-Id"

// respond plans the answer, sends it to a sink and reports the outcome.
func (s *Server) respond(ctx context.Context, w http.ResponseWriter, began time.Time, set *ruleset.Set,
	req *openai.Request, asked *responseParams, caller turn.Caller) (opened bool, err error) {
	err = errPanicked
	var answer turn.Answer
	var to sink // nil: no answer was opened
	defer func() {
		if to != nil {
			s.finishAnswer(ctx, w, to, turn.NewOutcome(answer.Account(), began, err), caller.Watch,
				asked != nil)
		} else if caller.Watch != nil {
			caller.Watch.Ended(turn.NewOutcome(turn.Account{}, began, err))
		}
	}()
	caller.Alive = keepalive(caller.Waits, set.Limits.Keepalive)
	answer, err = s.plan(ctx, set, req, caller)
	if err != nil {
		err = s.apiError(err)
		return false, err
	}
	planned := answer.Account()
	if planned.Run != "" {
		w.Header().Set(runHeader, planned.Run)
	}
	to = s.newSink(ctx, w, planned.Model, req, asked, caller.Alive, set.Limits.Idle)
	if to.Flows() {
		s.metrics.Open.Inc()
	}
	err = s.apiError(answer.Run(ctx, to))
	return true, err
}

// plan asks the answerer, if there is one, and plans one turn otherwise.
func (s *Server) plan(ctx context.Context, set *ruleset.Set, req *openai.Request,
	caller turn.Caller) (turn.Answer, error) {
	if s.answerer != nil {
		if answer, err := s.answerer(ctx, set, req, caller); answer != nil || err != nil {
			return answer, err
		}
	}
	return s.turns.Plan(ctx, set, req, caller)
}

// finishAnswer reports the outcome of an opened answer.
func (s *Server) finishAnswer(ctx context.Context, w http.ResponseWriter, to sink, o *turn.Outcome,
	watcher turn.Watcher, responses bool) {
	to.Stop()
	streams := to.Flows()
	if streams {
		s.metrics.Open.Dec()
	}
	if watcher != nil {
		watcher.Ended(o)
	}
	s.logServed(ctx, w, o, streams, responses)
	telemetry.Observe(s.metrics.Whole.WithLabelValues(strconv.FormatBool(streams)), o.Took.Seconds(),
		telemetry.PlaceOf(ctx))
	s.metrics.Requests.WithLabelValues(o.Account.Model, strconv.Itoa(o.Status)).Inc()
}

// sink writes an answer to the caller.
type sink interface {
	turn.Sink
	Stop() // must be called at the end
}

// logServed counts the tokens and writes the log line of an answered request.
func (s *Server) logServed(ctx context.Context, w http.ResponseWriter, o *turn.Outcome,
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

// newSink returns the sink for the API and the form that the caller asked for.
func (s *Server) newSink(ctx context.Context, w http.ResponseWriter, model string, req *openai.Request,
	asked *responseParams, alive, idle time.Duration) sink {
	if asked == nil && !req.Stream {
		return NewWhole(w, model, idle, s.metrics)
	}
	c := sinkConfig{Params: asked, Model: model, Stream: req.Stream, Usage: req.UsageWanted,
		Keepalive: alive, Idle: idle, RoleWait: s.roleWait, Metrics: s.metrics,
		Log: telemetry.BindLog(s.log, ctx)}
	if asked != nil {
		return newResponse(w, c)
	}
	return newStream(w, c)
}

// startSpan returns the request's context with its place in the trace, and its span; nil: tracing is off.
func (s *Server) startSpan(w http.ResponseWriter, r *http.Request,
	set *ruleset.Set) (context.Context, *telemetry.RequestSpan) {
	id := w.Header().Get(web.RequestID)
	if s.spans == nil {
		return telemetry.WithPlace(r.Context(), telemetry.Incoming(r.Header, id)), nil
	}
	return s.spans.Request(r.Context(), r, id, *ruleset.Of[telemetry.Words](set))
}

// tracedError carries the context of a request to the handler that logs the error.
type tracedError struct {
	error
	ctx    context.Context
	logged bool // the request has its log line
}

func (e *tracedError) Unwrap() error { return e.error }
