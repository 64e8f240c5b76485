package telemetry

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Name of the instrumentation, and prefix of its own attributes and events.
const (
	TracerName = "github.com/jgavinray/gpt-oss-executor"
	spanKey    = "gptoss_executor."
)

// Tracer starts the spans of requests.
type Tracer struct{ with trace.Tracer }

// NewTracer returns a Tracer with an OpenTelemetry tracer.
func NewTracer(with trace.Tracer) *Tracer { return &Tracer{with} }

// Parent is a span above turns and runs.
type Parent struct {
	with  trace.Tracer
	span  trace.Span
	place Place
	words Words
}

// RequestSpan is the span of a request.
type RequestSpan struct{ Parent }

// Request starts the span of a request in the trace that its headers name, and returns its context.
func (t *Tracer) Request(ctx context.Context, r *http.Request, id string,
	words Words) (context.Context, *RequestSpan) {
	if t == nil {
		return ctx, nil
	}
	attributes := []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(r.Method), semconv.HTTPRoute(r.URL.Path),
		semconv.URLPath(r.URL.Path), semconv.URLScheme("http"),
		attribute.String(spanKey+"request.id", name(id)),
	}
	from := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	p := Parent{with: t.with, words: words, place: Place{Request: id}}
	ctx, p = p.start(from, r.Method+" "+r.URL.Path, trace.SpanKindServer, attributes...)
	return ctx, &RequestSpan{p}
}

// start starts a span and returns its context and the parent of spans below it.
func (p *Parent) start(ctx context.Context, title string, kind trace.SpanKind,
	attributes ...attribute.KeyValue) (context.Context, Parent) {
	if p.span != nil {
		ctx = trace.ContextWithSpan(ctx, p.span)
	}
	ctx, span := p.with.Start(ctx, title, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	below := Parent{p.with, span, placeOf(ctx, p.place.Request), p.words}
	return WithPlace(ctx, below.place), below
}

// placeOf returns the place of a context in its trace.
func placeOf(ctx context.Context, request string) Place {
	of, headers := trace.SpanContextFromContext(ctx), propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	return Place{
		Request: request, Trace: of.TraceID().String(), Span: of.SpanID().String(), Kept: of.IsSampled(),
		Parent: headers["traceparent"], State: headers["tracestate"],
	}
}

// Children returns the parent of the request's turns and runs.
func (r *RequestSpan) Children() *Parent {
	if r == nil {
		return nil
	}
	return &r.Parent
}

// End ends the span with the status of the answer.
func (r *RequestSpan) End(status int) {
	if r == nil {
		return
	}
	r.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		r.fail(strconv.Itoa(status))
	}
	r.span.End()
}

// Words reports whether words of people and models are written.
func (p *Parent) Words() bool { return p != nil && p.words.Bytes > 0 && p.span.IsRecording() }

// in returns a context at the place of the span.
func (p *Parent) in(ctx context.Context) context.Context { return WithPlace(ctx, p.place) }

// fail marks the span as failed, with the reason in one of few words.
func (p *Parent) fail(why string) {
	p.span.SetAttributes(semconv.ErrorTypeKey.String(why))
	p.span.SetStatus(codes.Error, "")
}

func (p *Parent) event(what string, attributes ...attribute.KeyValue) {
	p.span.AddEvent(spanKey+what, trace.WithAttributes(attributes...))
}

// subjectAttributes returns the attributes of who asks.
func subjectAttributes(s *policy.Subject) (out []attribute.KeyValue) {
	// that one is no more than the trace itself
	if s.Session != "" && !strings.HasPrefix(s.Session, TraceSession) {
		out = append(out, semconv.GenAIConversationID(name(s.Session)))
	}
	if s.Agent != "" {
		out = append(out, semconv.GenAIAgentName(name(s.Agent)))
	}
	return out
}

// modelAttributes returns the attributes of the model that a caller asks for.
func modelAttributes(model, rules string, arms []string) []attribute.KeyValue {
	out := []attribute.KeyValue{semconv.GenAIRequestModel(name(model)),
		attribute.String(spanKey+"rules.version", rules)}
	if len(arms) > 0 {
		out = append(out, attribute.String(spanKey+"arm", strings.Join(arms, " ")))
	}
	return out
}

// RunSpan is the span of a run of executor mode.
type RunSpan struct{ Parent }

// Run starts the span of a run.
func (p *Parent) Run(ctx context.Context, id, model, rules string, arms []string,
	by policy.Subject) (context.Context, *RunSpan) {
	if p == nil {
		return ctx, nil
	}
	by.Agent = model // which agent acts: the one that this program is
	attributes := append(modelAttributes(model, rules, arms), subjectAttributes(&by)...)
	attributes = append(attributes, semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIProviderNameKey.String(provider), semconv.GenAIAgentID(id))
	ctx, below := p.start(ctx, "invoke_agent "+name(model), trace.SpanKindInternal, attributes...)
	return ctx, &RunSpan{below}
}

// provider is the provider of runs, which are our own.
const provider = "gpt-oss-executor"

// Children returns the parent of the run's turns.
func (r *RunSpan) Children() *Parent {
	if r == nil {
		return nil
	}
	return &r.Parent
}

// End ends the span with the run's status.
func (r *RunSpan) End(status string, turns, calls int, failed bool) {
	if r == nil {
		return
	}
	r.span.SetAttributes(attribute.String(spanKey+"run.status", status), attribute.Int(spanKey+"run.turns",
		turns), attribute.Int(spanKey+"run.calls", calls))
	if failed {
		r.fail(status)
	}
	r.span.End()
}

// ToolSpan is the span of a call that runs here.
type ToolSpan struct{ Parent }

// Tool starts the span of a call. Arguments are words.
func (r *RunSpan) Tool(ctx context.Context, id, tool string, arguments []byte) (context.Context, *ToolSpan) {
	if r == nil {
		return ctx, nil
	}
	attributes := []attribute.KeyValue{
		semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(name(tool)),
		semconv.GenAIToolCallID(name(id)), semconv.GenAIToolType("function"),
	}
	if r.Words() {
		attributes = append(attributes,
			semconv.GenAIToolCallArgumentsKey.String(r.words.text(string(arguments))))
	}
	ctx, below := r.start(ctx, "execute_tool "+name(tool), trace.SpanKindInternal, attributes...)
	return ctx, &ToolSpan{below}
}

// Decided adds the decision of the policy.
func (t *ToolSpan) Decided(d SpanDecision) {
	if t != nil {
		t.event("decision", d.attributes()...)
	}
}

// End ends the span with an outcome (ok, failed, refused or doubt) and the text for the model.
func (t *ToolSpan) End(outcome, text string) {
	if t == nil {
		return
	}
	t.span.SetAttributes(attribute.String(spanKey+"tool.outcome", outcome))
	if t.Words() {
		t.span.SetAttributes(semconv.GenAIToolCallResultKey.String(t.words.text(text)))
	}
	if outcome != "ok" {
		t.fail(outcome)
	}
	t.span.End()
}

// SpanDecision is the policy's decision about a call.
type SpanDecision struct {
	Tool, Effect, Rule, Place string
	Outcome                   string // how the call left, or that it did not
}

func (d *SpanDecision) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.GenAIToolName(name(d.Tool)), attribute.String(spanKey+"effect", d.Effect),
		attribute.String(spanKey+"rule", d.Rule),
		attribute.String(spanKey+"rule.place", d.Place), attribute.String(spanKey+"outcome", d.Outcome),
	}
}
