package trace

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// producer returns the metrics of the program when they are sent.
type producer struct {
	from        *telemetry.Metrics
	scope       instrumentation.Scope
	since, last time.Time // start of counting; time of the last delivery
}

// Produce implements sdkmetric.Producer.
func (p *producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	out := metricdata.ScopeMetrics{Scope: p.scope}
	for _, f := range p.from.Gather(float64(p.last.UnixNano()) / 1e9) {
		out.Metrics = append(out.Metrics, p.metric(&f, now))
	}
	p.last = now
	return []metricdata.ScopeMetrics{out}, nil
}

// metric is one as it is sent.
func (p *producer) metric(f *telemetry.Family, now time.Time) metricdata.Metrics {
	m := metricdata.Metrics{Description: f.Help}
	m.Name, m.Unit = nameOf(f.Name)
	switch f.Kind {
	case "histogram":
		h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
		for _, q := range f.Points {
			h.DataPoints = append(h.DataPoints, metricdata.HistogramDataPoint[float64]{
				Attributes: labels(f, &q), StartTime: p.since, Time: now, Count: q.Count, Sum: q.Value,
				BucketCounts: q.Buckets, Bounds: q.Bounds, Exemplars: exemplars(q.Recent),
			})
		}
		m.Data = h
	case "counter":
		m.Data = metricdata.Sum[float64]{
			Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: numbers(f, p.since,
				now),
		}
	default:
		m.Data = metricdata.Gauge[float64]{DataPoints: numbers(f, time.Time{}, now)}
	}
	return m
}

func numbers(f *telemetry.Family, since, now time.Time) (out []metricdata.DataPoint[float64]) {
	for _, q := range f.Points {
		point := metricdata.DataPoint[float64]{Attributes: labels(f, &q), StartTime: since, Time: now,
			Value: q.Value}
		out = append(out, point)
	}
	return out
}

const (
	ofConventions = "gen_ai_"
	ofOurs        = "gptoss_executor"
)

// nameOf returns the unit and the OpenTelemetry name of a metric, from which Prometheus makes the name on
// the page.
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

// labels returns the attributes of a series. Empty values are left out, as on the page.
func labels(f *telemetry.Family, q *telemetry.Point) attribute.Set {
	var out []attribute.KeyValue
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
		out = append(out, attribute.String(key, value))
	}
	return attribute.NewSet(out...)
}

func exemplars(list []telemetry.Exemplar) (out []metricdata.Exemplar[float64]) {
	for _, e := range list {
		traceID, err := hex.DecodeString(e.Trace)
		spanID, bad := hex.DecodeString(e.Span)
		if err == nil && bad == nil { // they are ours, and always are
			at := time.Unix(0, int64(e.At*1e9))
			out = append(out, metricdata.Exemplar[float64]{Value: e.Value, Time: at, TraceID: traceID,
				SpanID: spanID})
		}
	}
	return out
}
