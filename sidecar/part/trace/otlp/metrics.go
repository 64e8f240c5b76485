package otlp

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// pusher sends the metrics of the program, every now and then.
type pusher struct {
	of            *resource.Resource
	from          *telemetry.Metrics
	post          *poster
	tell          *teller
	name, version string
	since, last   time.Time // they are counted; they were sent
}

// run sends until ctx ends, and then once more.
func (p *pusher) run(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.push()
		case <-ctx.Done():
			p.push()
			return
		}
	}
}

// push sends all of them. It is not ended by the end of the program: that has a time of its own.
func (p *pusher) push() {
	now := time.Now()
	families := p.from.Gather(float64(p.last.UnixNano()) / 1e9)
	p.last = now
	scope := &wire.ScopeMetrics{Scope: &common.InstrumentationScope{Name: p.name, Version: p.version},
		SchemaUrl: semconv.SchemaURL}
	for i := range families {
		scope.Metrics = append(scope.Metrics, p.metric(&families[i], now))
	}
	var answer collector.ExportMetricsServiceResponse
	err := p.post.send(context.Background(),
		&collector.ExportMetricsServiceRequest{ResourceMetrics: []*wire.ResourceMetrics{
			{Resource: resourceOf(p.of), SchemaUrl: p.of.SchemaURL(), ScopeMetrics: []*wire.ScopeMetrics{scope}},
		}}, &answer)
	lost := len(scope.Metrics)
	if s := answer.PartialSuccess; err == nil && s != nil && s.RejectedDataPoints > 0 {
		lost, err = int(s.RejectedDataPoints), errors.New("the collector refuses some: "+s.ErrorMessage)
	}
	p.tell.went("metrics", lost, err)
}

// metric is one as it is sent.
func (p *pusher) metric(f *telemetry.Family, now time.Time) *wire.Metric {
	name, unit := nameOf(f.Name)
	m := &wire.Metric{Name: name, Unit: unit, Description: f.Help}
	from, at := nanos(p.since), nanos(now)
	switch f.Kind {
	case "histogram":
		const since = wire.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
		h := &wire.Histogram{AggregationTemporality: since}
		for i := range f.Points {
			q := &f.Points[i]
			h.DataPoints = append(h.DataPoints, &wire.HistogramDataPoint{
				Attributes: labels(f, q), StartTimeUnixNano: from, TimeUnixNano: at, Count: q.Count,
				Sum:          &q.Value,
				BucketCounts: q.Buckets, ExplicitBounds: q.Bounds, Exemplars: exemplars(q.Recent),
			})
		}
		m.Data = &wire.Metric_Histogram{Histogram: h}
		return m
	case "counter":
		m.Data = &wire.Metric_Sum{Sum: &wire.Sum{
			AggregationTemporality: wire.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
			IsMonotonic:            true, DataPoints: numbers(f, from, at),
		}}
		return m
	}
	m.Data = &wire.Metric_Gauge{Gauge: &wire.Gauge{DataPoints: numbers(f, 0, at)}}
	return m
}

func numbers(f *telemetry.Family, from, at uint64) (out []*wire.NumberDataPoint) {
	for i := range f.Points {
		q := &f.Points[i]
		out = append(out, &wire.NumberDataPoint{Attributes: labels(f, q), StartTimeUnixNano: from,
			TimeUnixNano: at, Value: &wire.NumberDataPoint_AsDouble{AsDouble: q.Value}})
	}
	return out
}

const (
	ofConventions = "gen_ai_"
	ofOurs        = "gptoss_executor"
)

// nameOf is the name of a metric in OpenTelemetry, from which Prometheus makes the one that the page
// has, and its unit.
func nameOf(page string) (name, unit string) {
	name = strings.TrimSuffix(page, "_total")
	if short, ok := strings.CutSuffix(name, "_seconds"); ok {
		name, unit = short, "s"
	}
	switch {
	case name == "gen_ai_client_token_usage":
		return "gen_ai.client.token.usage", "{token}"
	case strings.HasPrefix(name, ofConventions):
		return strings.NewReplacer("gen_ai_client_operation_", "gen_ai.client.operation.").Replace(name), unit
	}
	return ofOurs + "." + strings.TrimPrefix(name, ofOurs+"_"), unit
}

// labels are the attributes of a series. An empty value is none, as on the page.
func labels(f *telemetry.Family, q *telemetry.Point) (out []*common.KeyValue) {
	ofGenAI := strings.HasPrefix(f.Name, ofConventions)
	for i, value := range q.Values {
		if value == "" {
			continue
		}
		key := f.Labels[i]
		switch {
		case !ofGenAI:
		case key == "error_type":
			key = "error.type"
		case strings.HasPrefix(key, ofConventions):
			key = "gen_ai." + strings.ReplaceAll(strings.TrimPrefix(key, ofConventions), "_", ".")
		default:
			key = ofOurs + "." + key
		}
		out = append(out, &common.KeyValue{Key: key, Value: text(value)})
	}
	return out
}

func exemplars(list []telemetry.Exemplar) (out []*wire.Exemplar) {
	for _, e := range list {
		traceID, err := hex.DecodeString(e.Trace)
		spanID, bad := hex.DecodeString(e.Span)
		if err != nil || bad != nil {
			continue // they are ours, and never are
		}
		out = append(out, &wire.Exemplar{Value: &wire.Exemplar_AsDouble{AsDouble: e.Value},
			TimeUnixNano: uint64(e.At * 1e9), TraceId: traceID, SpanId: spanID})
	}
	return out
}
