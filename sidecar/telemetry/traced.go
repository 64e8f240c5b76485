package telemetry

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Place is where in a trace something happens. Its zero value is nowhere.
type Place struct {
	Request     string // id of the request
	Trace, Span string // ids, in hex digits; Span is one of ours, or empty
	Parent      string // the header traceparent of requests that go on; empty: they have none
	State       string // the header tracestate beside it
	Kept        bool   // the trace is recorded here, so that others may point to it
}

// TraceSession begins the name of a session that is known by its trace alone, and so is another one in each
// turn.
const TraceSession = "trace:"

const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
	maxParent    = 128     // bytes, which a later version of the standard may need
	maxState     = 1 << 10 // bytes; a longer one is left out, as the standard allows
)

// Incoming is the place of a request as its headers say it. A traceparent that is damaged is none.
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

// WithPlace is a context at a place.
func WithPlace(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, key{}, &p)
}

// PlaceOf is the place of a context.
func PlaceOf(ctx context.Context) Place {
	if p, ok := ctx.Value(key{}).(*Place); ok {
		return *p
	}
	return Place{}
}

// Set writes the headers of a request that goes on.
func (p *Place) Set(h http.Header) {
	if p.Parent == "" {
		return
	}
	h[headerParent] = []string{p.Parent}
	if p.State != "" {
		h[headerState] = []string{p.State}
	}
}
