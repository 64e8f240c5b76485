package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Place is a place in a trace. Zero: none.
type Place struct {
	Request     string // id
	Trace, Span string // ids in hex digits; Span is ours or empty
	Parent      string // header traceparent of outgoing requests; empty: none
	State       string // header tracestate with it
	Kept        bool   // the trace is recorded, so that others may refer to it
}

// TraceSession begins the name of a session that is known by its trace only, and so differs in each turn.
const TraceSession = "trace:"

const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
	maxParent    = 128     // bytes, which a later version of the standard may need
	maxState     = 1 << 10 // bytes; a longer one is left out, as the standard allows
)

// Incoming returns the place of a request from its headers. A damaged traceparent is ignored.
// https://www.w3.org/TR/trace-context/#traceparent-header
func Incoming(h http.Header, request string) Place {
	p := Place{Request: request}
	if parents := h[headerParent]; len(parents) == 1 && len(parents[0]) <= maxParent {
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(h))
		if of := trace.SpanContextFromContext(ctx); of.IsValid() {
			p.Trace, p.Parent = of.TraceID().String(), parents[0]
		}
	}
	if state := strings.Join(h[headerState], ","); p.Parent != "" && len(state) <= maxState {
		p.State = state
	}
	return p
}

type key struct{}

// WithPlace returns a context at a place.
func WithPlace(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, key{}, &p)
}

// PlaceOf returns the place of a context.
func PlaceOf(ctx context.Context) Place {
	if p, ok := ctx.Value(key{}).(*Place); ok {
		return *p
	}
	return Place{}
}

// Set sets the headers of an outgoing request.
func (p *Place) Set(h http.Header) {
	if p.Parent == "" {
		return
	}
	h[headerParent] = []string{p.Parent}
	if p.State != "" {
		h[headerState] = []string{p.State}
	}
}

// LogHandler adds the place in its context to each line of a log.
type LogHandler struct {
	next slog.Handler
	at   *Place // for contexts without a place; nil: none
}

// NewLogHandler returns a handler in front of next.
func NewLogHandler(next slog.Handler) *LogHandler { return &LogHandler{next: next} }

// BindLog returns a log whose lines have the place of a context, even if logged without one. It returns the
// same log if places are not logged.
func BindLog(log *slog.Logger, ctx context.Context) *slog.Logger {
	h, ok := log.Handler().(*LogHandler)
	p, placed := ctx.Value(key{}).(*Place)
	if !ok || !placed {
		return log
	}
	return slog.New(&LogHandler{h.next, p})
}

// Enabled implements slog.Handler.
func (h *LogHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle adds trace_id, span_id and request, unless the line has its own.
func (h *LogHandler) Handle(ctx context.Context, r slog.Record) error {
	p, ok := ctx.Value(key{}).(*Place)
	if !ok {
		p = h.at
	}
	if p == nil {
		return h.next.Handle(ctx, r)
	}
	has := false
	r.Attrs(func(a slog.Attr) bool {
		has = a.Key == "request"
		return !has
	})
	r = r.Clone()
	if p.Request != "" && !has {
		r.AddAttrs(slog.String("request", p.Request))
	}
	if p.Trace != "" {
		r.AddAttrs(slog.String("trace_id", p.Trace))
	}
	if p.Span != "" {
		r.AddAttrs(slog.String("span_id", p.Span))
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *LogHandler) WithAttrs(list []slog.Attr) slog.Handler {
	return &LogHandler{h.next.WithAttrs(list), h.at}
}

// WithGroup implements slog.Handler.
func (h *LogHandler) WithGroup(name string) slog.Handler {
	return &LogHandler{h.next.WithGroup(name), h.at}
}
