package turn

import (
	"context"
	"errors"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// attempt is a request to a model server while it goes on.
type attempt struct {
	span   *telemetry.AttemptSpan // nil: tracing is off
	began  time.Time
	first  time.Duration
	stream bool
	size   int // of the request, in bytes
}

// startAttempt starts to measure and trace a request to the current server.
func (t *Turn) startAttempt(ctx context.Context) context.Context {
	t.attempt = attempt{began: time.Now()}
	if t.span == nil {
		return ctx
	}
	host, port := t.up.HostPort()
	ctx, t.attempt.span = t.span.Attempt(ctx, telemetry.Destination{
		Provider: t.srv.ID.Value, Upstream: t.route.Name(), Model: t.Model.Name, Host: host, Port: port,
		Number: t.account.Turns, Corrects: t.correction != nil,
	})
	return ctx
}

// answered notes that the answer has begun.
func (a *attempt) answered(stream bool) {
	a.stream = stream
	a.span.Began(stream)
}

// spoke notes the first words of the model.
func (a *attempt) spoke(doc *openai.Completion) {
	a.first = max(time.Since(a.began), 1)
	a.span.First(doc)
}

// endAttempt counts and traces the end of a request.
func (t *Turn) endAttempt(within context.Context, err error) {
	a, fault := &t.attempt, faultWord(within, err)
	tokens := t.account.last
	t.planner.Metrics.CountInference(&telemetry.Inference{
		Model: t.Model.ID.Value, Arms: t.set.Arms, Upstream: t.route.Name(), Provider: t.srv.ID.Value,
		Asked: t.Model.Name, Fault: fault,
		Took: time.Since(a.began), First: a.first, Stream: a.stream, Input: tokens[0], Output: tokens[1],
		At: telemetry.PlaceOf(within),
	})
	a.span.End(tokens[0], tokens[1], tokens[2], fault)
}

// faultWord names an error in one of few words; empty: there is none.
func faultWord(ctx context.Context, err error) string {
	var f *upstream.Failure
	switch {
	case err == nil:
		return ""
	case errors.Is(context.Cause(ctx), ErrStopping):
		return "stopping"
	case ctx.Err() != nil:
		return "caller_left"
	case errors.As(err, &f):
		return string(f.Fault)
	}
	return string(ruleset.StreamError)
}

func (t *Turn) traceDecision(d guard.CallDecision) {
	t.span.Decided(telemetry.SpanDecision{Tool: d.Tool, Effect: string(d.Effect), Rule: d.Rule,
		Place:   d.Place,
		Outcome: string(d.Outcome)})
}

func (t *Turn) traceReply(r *parse.Reading, ids []string, words *transcript) {
	if t.span == nil {
		return
	}
	var delta *parse.Delta
	var thought []byte
	if words != nil && words.bytes <= maxTranscript {
		delta, thought = &parse.Delta{Content: words.content.String(), Reasoning: words.reasoning.String(),
			Calls: words.calls}, words.thought
	}
	finish := r.Finish
	if words != nil {
		finish = words.finish
	}
	t.span.Replied(r, ids, guard.Repairs, delta, thought, finish, t.attempt.span)
}

func (t *Turn) endSpan(err error) {
	if t.span == nil {
		return
	}
	a := t.Account()
	fault := ""
	if n := len(a.Faults); n > 0 && a.Faults[n-1].Action == ruleset.GiveUp {
		fault = string(a.Faults[n-1].Fault)
	}
	t.span.End(telemetry.TurnOutcome{
		Upstream: a.Upstream, Style: a.Style, Strategies: a.Strategies, Turns: a.Turns, Again: a.Again,
		Calls: a.Calls, Refused: a.Refused,
		Prompt: a.Prompt, Completion: a.Completion, Reasoning: a.Reasoning, Fault: fault, Failed: err != nil,
	})
}
