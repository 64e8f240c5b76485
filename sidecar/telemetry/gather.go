package telemetry

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Family is a metric with its current values.
type Family struct {
	Name, Help string
	Kind       string // counter, gauge or histogram
	Labels     []string
	Points     []Point
}

// Point is a series.
type Point struct {
	Values []string // of the labels
	Value  float64  // of a histogram, the sum
	Count  uint64   // what follows is for histograms
	Bounds []float64
	// Buckets counts the values of each bucket, with one more for those above all bounds.
	Buckets []uint64
	Recent  []Exemplar
}

// Exemplar is a counted value with its trace.
type Exemplar struct {
	Value, At   float64 // At is Unix time
	Trace, Span string
}

// Gather returns all metrics of the program, without those of every Go program. It includes exemplars since
// a Unix time, and leaves out metrics that cannot be read.
func (m *Metrics) Gather(since float64) (out []Family) { return gather(m.registry, since) }

// EachHit calls each for every series of Hits.
func (m *Metrics) EachHit(each func(file, rule string, n float64)) {
	alone := prometheus.NewRegistry()
	alone.MustRegister(m.Hits)
	for _, f := range gather(alone, 0) {
		for _, p := range f.Points {
			each(p.Values[1], p.Values[3], p.Value) // arm, file, model, rule
		}
	}
}

func gather(from prometheus.Gatherer, since float64) (out []Family) {
	families, _ := from.Gather()
	for _, of := range families {
		f := Family{Name: of.GetName(), Help: of.GetHelp(), Kind: strings.ToLower(of.GetType().String())}
		for i, d := range of.Metric {
			p := Point{Value: d.GetCounter().GetValue() + d.GetGauge().GetValue()} // one of them is there
			if d.Histogram != nil {
				p = histogramPoint(d.Histogram, since)
			}
			for _, l := range d.Label {
				p.Values = append(p.Values, l.GetValue())
				if i == 0 {
					f.Labels = append(f.Labels, l.GetName())
				}
			}
			f.Points = append(f.Points, p)
		}
		out = append(out, f)
	}
	return out
}

func histogramPoint(h *dto.Histogram, since float64) Point {
	p, below := Point{Value: h.GetSampleSum(), Count: h.GetSampleCount()}, uint64(0)
	for _, b := range h.Bucket {
		if !math.IsInf(b.GetUpperBound(), 1) { // that one is there for its exemplar
			p.Bounds, p.Buckets = append(p.Bounds, b.GetUpperBound()), append(p.Buckets,
				b.GetCumulativeCount()-below)
			below = b.GetCumulativeCount()
		}
		if e := exemplar(b.Exemplar); e.Trace != "" && e.At >= since {
			p.Recent = append(p.Recent, e)
		}
	}
	p.Buckets = append(p.Buckets, p.Count-below)
	return p
}

func exemplar(e *dto.Exemplar) Exemplar {
	out := Exemplar{Value: e.GetValue(), At: float64(e.GetTimestamp().AsTime().UnixNano()) / 1e9}
	for _, l := range e.GetLabel() {
		switch l.GetName() {
		case "trace_id":
			out.Trace = l.GetValue()
		case "span_id":
			out.Span = l.GetValue()
		}
	}
	return out
}
