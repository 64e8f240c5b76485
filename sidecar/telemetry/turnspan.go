package telemetry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tidwall/gjson"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// TurnSpan is the span of a turn.
type TurnSpan struct {
	Parent
	who      policy.Subject
	request  []attribute.KeyValue // attributes of the request
	messages string               // of the request, if words are written
	events   int
}

// maxEvents bounds the repairs, refusals and decisions of a turn that are recorded.
const maxEvents = 96

// Turn starts the span of a turn.
func (p *Parent) Turn(ctx context.Context, model, rules string, arms []string, by policy.Subject,
	req *openai.Request) *TurnSpan {
	if p == nil {
		return nil
	}
	attributes := append(modelAttributes(model, rules, arms), subjectAttributes(&by)...)
	attributes = append(attributes, attribute.Int(spanKey+"tools.offered", len(req.Tools)))
	_, below := p.start(ctx, "turn "+name(model), trace.SpanKindInternal, attributes...)
	t := &TurnSpan{Parent: below, who: by}
	if t.span.IsRecording() {
		t.request = samplingAttributes(req)
	}
	if t.Words() {
		t.messages = t.words.messages(req)
		t.span.SetAttributes(semconv.GenAIInputMessagesKey.String(t.messages))
	}
	return t
}

// samplingAttributes returns the attributes of a request's sampling.
func samplingAttributes(req *openai.Request) (out []attribute.KeyValue) {
	number := func(key string) (gjson.Result, bool) {
		at, ok := req.Field(key)
		if !ok {
			return gjson.Result{}, false
		}
		v := gjson.ParseBytes(at.Of(req.Body))
		return v, v.Type == gjson.Number
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		if v, ok := number(key); ok {
			out = append(out, semconv.GenAIRequestMaxTokens(int(v.Int())))
			break
		}
	}
	for key, as := range map[string]attribute.Key{
		"temperature": semconv.GenAIRequestTemperatureKey, "top_p": semconv.GenAIRequestTopPKey,
		"frequency_penalty": semconv.GenAIRequestFrequencyPenaltyKey,
		"presence_penalty":  semconv.GenAIRequestPresencePenaltyKey,
	} {
		if v, ok := number(key); ok {
			out = append(out, as.Float64(v.Num))
		}
	}
	if v, ok := number("seed"); ok {
		out = append(out, semconv.GenAIRequestSeed(int(v.Int())))
	}
	if req.N > 1 {
		out = append(out, semconv.GenAIRequestChoiceCount(req.N))
	}
	return out
}

// In returns a context at the place of the turn.
func (t *TurnSpan) In(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return t.in(ctx)
}

// Words reports whether Replied wants the words of replies.
func (t *TurnSpan) Words() bool { return t != nil && t.Parent.Words() }

// mayAddEvent reports whether one more event may be recorded.
func (t *TurnSpan) mayAddEvent() bool {
	t.events++
	return t.events <= maxEvents
}

// Decided adds a decision of the policy.
func (t *TurnSpan) Decided(d SpanDecision) {
	if t != nil && t.mayAddEvent() {
		t.event("decision", d.attributes()...)
	}
}

// Fault adds a fault of a reply and what is done about it.
func (t *TurnSpan) Fault(fault, action, tool string, again bool) {
	if t == nil {
		return
	}
	attributes := []attribute.KeyValue{attribute.String(spanKey+"fault", fault),
		attribute.String(spanKey+"action", action)}
	if tool != "" {
		attributes = append(attributes, semconv.GenAIToolName(name(tool)))
	}
	if again {
		t.event("again", attributes...)
		return
	}
	t.event("fault", attributes...)
}

// Replied adds the repairs, refusals and, where words are written, the text of a choice that has ended.
// mended returns the kinds of a call's repairs; reply is what the model server sent.
func (t *TurnSpan) Replied(r *parse.Reading, ids []string, mended func(*tools.Call) []string,
	reply *parse.Delta, thought []byte, finish string, a *AttemptSpan) {
	if t == nil || !t.span.IsRecording() {
		return
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		for _, kind := range mended(c) {
			if t.mayAddEvent() {
				t.event("repair", semconv.GenAIToolName(name(c.Name)), attribute.String(spanKey+"repair",
					kind), attribute.String(spanKey+"strategy", c.Strategy))
			}
		}
	}
	for i := range r.Refused {
		if f := &r.Refused[i]; t.mayAddEvent() {
			t.event("refusal", semconv.GenAIToolName(name(f.Name)), attribute.String(spanKey+"code",
				string(f.Code)))
		}
	}
	if a != nil {
		a.finishes = append(a.finishes, name(finish))
	}
	if !t.Words() {
		return
	}
	t.span.SetAttributes(semconv.GenAIOutputMessagesKey.String(t.words.reading(r, ids)))
	if a != nil && reply != nil {
		a.span.SetAttributes(semconv.GenAIOutputMessagesKey.String(t.words.output(reply, thought, finish)))
	}
}

// TurnOutcome is the outcome of a turn.
type TurnOutcome struct {
	Upstream, Style               string
	Strategies                    []string
	Turns, Again, Calls, Refused  int
	Prompt, Completion, Reasoning int
	Fault                         string // that remained; empty: none
	Failed                        bool   // the answer is an error
}

// End ends the span.
func (t *TurnSpan) End(c TurnOutcome) {
	if t == nil {
		return
	}
	t.span.SetAttributes(
		attribute.String(spanKey+"upstream", name(c.Upstream)), attribute.String(spanKey+"style", c.Style),
		attribute.StringSlice(spanKey+"strategies", c.Strategies),
		attribute.Int(spanKey+"asked", c.Turns), attribute.Int(spanKey+"again", c.Again),
		attribute.Int(spanKey+"calls", c.Calls), attribute.Int(spanKey+"refused", c.Refused),
		attribute.Int(spanKey+"tokens.prompt", c.Prompt), attribute.Int(spanKey+"tokens.completion",
			c.Completion), attribute.Int(spanKey+"tokens.reasoning", c.Reasoning),
	)
	if c.Failed || c.Fault != "" {
		t.span.SetAttributes(attribute.Bool(spanKey+"given_up", !c.Failed))
		t.fail(cmp.Or(c.Fault, "failed"))
	}
	t.span.End()
}

// AttemptSpan is the span of a request to a model server, with its retries by the network client.
type AttemptSpan struct {
	Parent
	began    time.Time
	first    time.Duration
	stream   bool
	finishes []string
}

// Destination is where a request goes.
type Destination struct {
	Provider, Upstream, Model string // dialect, name and model name of the server
	Host                      string
	Port                      int  // 0: that of the scheme
	Number                    int  // of the turn's requests, from 1
	Corrects                  bool // the model is told what was wrong with its reply
}

// Attempt starts the span of a request to a model server and returns its context.
func (t *TurnSpan) Attempt(ctx context.Context, to Destination) (context.Context, *AttemptSpan) {
	if t == nil {
		return ctx, nil
	}
	attributes := append(slices.Clip(t.request), subjectAttributes(&t.who)...)
	attributes = append(attributes, semconv.GenAIOperationNameChat,
		semconv.GenAIProviderNameKey.String(to.Provider), semconv.GenAIRequestModel(name(to.Model)),
		attribute.String(spanKey+"upstream", name(to.Upstream)), attribute.Int(spanKey+"attempt", to.Number),
		attribute.Bool(spanKey+"corrects", to.Corrects))
	if to.Host != "" {
		attributes = append(attributes, semconv.ServerAddress(to.Host), semconv.ServerPort(to.Port))
	}
	if t.messages != "" {
		attributes = append(attributes, semconv.GenAIInputMessagesKey.String(t.messages))
	}
	ctx, below := t.start(ctx, "chat "+name(to.Model), trace.SpanKindClient, attributes...)
	return ctx, &AttemptSpan{Parent: below, began: time.Now()}
}

// Began notes that the answer has begun.
func (a *AttemptSpan) Began(stream bool) {
	if a != nil {
		a.stream = stream
		a.span.SetAttributes(semconv.GenAIRequestStream(stream))
	}
}

// First notes the first piece of the reply.
func (a *AttemptSpan) First(doc *openai.Completion) {
	if a == nil || a.first > 0 {
		return
	}
	a.first = max(time.Since(a.began), 1)
	if !a.span.IsRecording() || doc == nil {
		return
	}
	if model, ok := openai.Text(doc.Doc, doc.Model); ok && model != "" {
		a.span.SetAttributes(semconv.GenAIResponseModel(name(model)))
	}
	if id, ok := openai.Text(doc.Doc, doc.ID); ok && id != "" {
		a.span.SetAttributes(semconv.GenAIResponseID(name(id)))
	}
	if a.stream {
		a.span.SetAttributes(semconv.GenAIResponseTimeToFirstChunk(a.first.Seconds()))
	}
}

// End ends the span with its tokens and its fault; empty: none.
func (a *AttemptSpan) End(input, output, thinking int, fault string) {
	if a == nil {
		return
	}
	if input > 0 || output > 0 {
		a.span.SetAttributes(semconv.GenAIUsageInputTokens(input), semconv.GenAIUsageOutputTokens(output))
	}
	if thinking > 0 {
		a.span.SetAttributes(semconv.GenAIUsageReasoningOutputTokens(thinking))
	}
	if len(a.finishes) > 0 {
		a.span.SetAttributes(semconv.GenAIResponseFinishReasons(a.finishes...))
	}
	if fault != "" {
		a.fail(fault)
	}
	a.span.End()
}
