package otlp

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resources "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// counted counts the spans that ended and are to be sent.
type counted struct {
	sdktrace.SpanProcessor
	metrics *telemetry.Metrics
}

// OnEnd is told of each span.
func (c counted) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.metrics.Telemetry.WithLabelValues("ended").Inc()
	}
	c.SpanProcessor.OnEnd(s)
}

// exporter is what the queue of spans is emptied into. It gives no error: it tells the operator itself,
// and its caller could do nothing about it.
type exporter struct {
	post    *poster
	tell    *teller
	metrics *telemetry.Metrics
}

// ExportSpans delivers spans. All of them are of one resource.
func (e *exporter) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	if len(list) == 0 {
		return nil
	}
	var answer collector.ExportTraceServiceResponse
	ask := &collector.ExportTraceServiceRequest{ResourceSpans: []*wire.ResourceSpans{spansOf(list)}}
	err := e.post.send(ctx, ask, &answer)
	lost := 0
	if err != nil {
		lost = len(list)
	} else if p := answer.PartialSuccess; p != nil && p.RejectedSpans > 0 {
		lost, err = min(int(p.RejectedSpans), len(list)), errors.New("the collector refuses some: "+
			p.ErrorMessage)
	}
	e.metrics.Telemetry.WithLabelValues("sent").Add(float64(len(list) - lost))
	e.metrics.Telemetry.WithLabelValues("lost").Add(float64(lost))
	e.tell.went("spans", lost, err)
	return nil
}

// Shutdown has nothing to do.
func (e *exporter) Shutdown(context.Context) error { return nil }

// spansOf are spans of one resource as they are sent.
func spansOf(list []sdktrace.ReadOnlySpan) *wire.ResourceSpans {
	out := &wire.ResourceSpans{Resource: resourceOf(list[0].Resource()),
		SchemaUrl: list[0].Resource().SchemaURL()}
	scopes := map[instrumentation.Scope]*wire.ScopeSpans{}
	for _, s := range list {
		of := s.InstrumentationScope()
		in := scopes[of]
		if in == nil {
			in = &wire.ScopeSpans{Scope: &common.InstrumentationScope{Name: of.Name, Version: of.Version},
				SchemaUrl: of.SchemaURL}
			scopes[of] = in
			out.ScopeSpans = append(out.ScopeSpans, in)
		}
		in.Spans = append(in.Spans, spanOf(s))
	}
	return out
}

func resourceOf(r *resource.Resource) *resources.Resource {
	return &resources.Resource{Attributes: attributesOf(r.Attributes())}
}

func spanOf(s sdktrace.ReadOnlySpan) *wire.Span {
	of, parent := s.SpanContext(), s.Parent()
	traceID, spanID := of.TraceID(), of.SpanID()
	out := &wire.Span{
		TraceId: traceID[:], SpanId: spanID[:], TraceState: of.TraceState().String(),
		Flags: flags(of, parent),
		Name:  s.Name(), Kind: kinds[s.SpanKind()], StartTimeUnixNano: nanos(s.StartTime()),
		EndTimeUnixNano: nanos(s.EndTime()),
		Attributes:      attributesOf(s.Attributes()), DroppedAttributesCount: uint32(s.DroppedAttributes()),
		DroppedEventsCount: uint32(s.DroppedEvents()),
		Status:             &wire.Status{Message: s.Status().Description},
	}
	if parent.SpanID().IsValid() {
		id := parent.SpanID()
		out.ParentSpanId = id[:]
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = wire.Status_STATUS_CODE_OK
	case codes.Error:
		out.Status.Code = wire.Status_STATUS_CODE_ERROR
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, &wire.Span_Event{
			Name: e.Name, TimeUnixNano: nanos(e.Time), Attributes: attributesOf(e.Attributes),
			DroppedAttributesCount: uint32(e.DroppedAttributeCount),
		})
	}
	return out
}

var kinds = map[trace.SpanKind]wire.Span_SpanKind{
	trace.SpanKindInternal: wire.Span_SPAN_KIND_INTERNAL, trace.SpanKindServer: wire.Span_SPAN_KIND_SERVER,
	trace.SpanKindClient: wire.Span_SPAN_KIND_CLIENT,
}

// flags are those of the trace, and whether the parent is elsewhere.
func flags(of, parent trace.SpanContext) uint32 {
	out := uint32(of.TraceFlags()) | uint32(wire.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	if parent.IsRemote() {
		out |= uint32(wire.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	return out
}

func nanos(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

func attributesOf(list []attribute.KeyValue) (out []*common.KeyValue) {
	for _, kv := range list {
		out = append(out, &common.KeyValue{Key: string(kv.Key), Value: valueOf(kv.Value)})
	}
	return out
}

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

func valueOf(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &common.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, text(s))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	}
	return text(v.String())
}
