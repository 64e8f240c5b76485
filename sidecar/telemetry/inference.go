package telemetry

import (
	"cmp"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Inference is a finished request to a model server.
type Inference struct {
	Model    string // id for callers
	Arms     []string
	Upstream string // name of the model server
	Provider string // its dialect
	Asked    string // its name for the model
	Fault    string // empty: none

	Took, First   time.Duration // First is 0 where nothing came
	Stream        bool
	Input, Output int // tokens; both 0: the server does not say
	At            Place
}

// inference holds the metrics that OpenTelemetry names for generative AI.
type inference struct {
	took, first, tokens *prometheus.HistogramVec

	mu     sync.Mutex
	models map[string]bool // names at model servers that have series
}

// maxModels bounds the models with series of their own, since a server can invent names.
const maxModels = 64

// otherModel stands for further models, as the conventions say.
const otherModel = "_OTHER"

func newInference(r registry) *inference {
	seconds := []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firsts := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	counts := []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216,
		67108864}
	add := func(name, help string, bounds []float64, more ...string) *prometheus.HistogramVec {
		labels := []string{"model", "arm", "upstream", "gen_ai_operation_name", "gen_ai_provider_name",
			"gen_ai_request_model"}
		return r.histogram(name, help, bounds, append(labels, more...)...)
	}
	return &inference{
		took: add("gen_ai_client_operation_duration_seconds",
			"Seconds of a whole request to a model server.", seconds, "error_type"),
		first: add("gen_ai_client_operation_time_to_first_chunk_seconds",
			"Seconds until the first piece of a stream of a model server.", firsts),
		tokens: add("gen_ai_client_token_usage",
			"Tokens of a request to a model server, by type: input, output.", counts, "gen_ai_token_type"),
	}
}

// CountInference counts a request to a model server in the metrics for which it has a value.
func (m *Metrics) CountInference(r *Inference) {
	i := m.inference
	labels := Labels(r.Model, r.Arms, r.Upstream, "chat", r.Provider, i.modelLabel(r.Asked))
	count := func(v *prometheus.HistogramVec, n float64, more ...string) {
		Observe(v.WithLabelValues(append(labels, more...)...), n, r.At)
	}
	count(i.took, r.Took.Seconds(), r.Fault)
	if r.Stream && r.First > 0 {
		count(i.first, r.First.Seconds())
	}
	if r.Input > 0 || r.Output > 0 {
		count(i.tokens, float64(r.Input), "input")
		count(i.tokens, float64(r.Output), "output")
	}
}

// modelLabel returns the label of a model, of which there are few.
func (i *inference) modelLabel(asked string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if asked = cmp.Or(asked, otherModel); i.models[asked] {
		return asked
	}
	if len(i.models) >= maxModels || len(asked) > 256 {
		return otherModel
	}
	if i.models == nil {
		i.models = map[string]bool{}
	}
	i.models[strings.Clone(asked)] = true
	return asked
}

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
