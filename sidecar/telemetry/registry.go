package telemetry

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Description says what a metric is, also before anything was counted of it.
type Description struct {
	Name, Kind string // Kind is counter, gauge or histogram
	Labels     []string
}

// registry has all metrics of the program, but those that every Go program has.
type registry struct {
	*prometheus.Registry
	described []Description
}

// Described is all metrics of the program, but those that every Go program has.
func (m *Metrics) Described() []Description { return m.registry.described }

func (r *registry) add(c prometheus.Collector, name, kind string, labels ...string) {
	r.MustRegister(c)
	r.described = append(r.described, Description{name, kind, labels})
}

func (r *registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	o := prometheus.CounterOpts{Name: prefix + name, Help: help}
	v := prometheus.V2.NewCounterVec(prometheus.CounterVecOpts{CounterOpts: o, VariableLabels: anyText(labels)})
	r.add(v, o.Name, "counter", labels...)
	return v
}

func (r *registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := newGauge(name, help, labels)
	r.add(v, prefix+name, "gauge", labels...)
	return v
}

func newGauge(name, help string, labels []string) *prometheus.GaugeVec {
	o := prometheus.GaugeOpts{Name: prefix + name, Help: help}
	return prometheus.V2.NewGaugeVec(prometheus.GaugeVecOpts{GaugeOpts: o, VariableLabels: anyText(labels)})
}

func (r *registry) histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}
	v := prometheus.V2.NewHistogramVec(prometheus.HistogramVecOpts{HistogramOpts: o, VariableLabels: anyText(labels)})
	r.add(v, name, "histogram", labels...)
	return v
}

func (r *registry) counterFunc(name, help string, read func() float64) {
	o := prometheus.CounterOpts{Name: prefix + name, Help: help}
	r.add(prometheus.NewCounterFunc(o, read), o.Name, "counter")
}

func (r *registry) gaugeFunc(name, help string, read func() float64) {
	o := prometheus.GaugeOpts{Name: prefix + name, Help: help}
	r.add(prometheus.NewGaugeFunc(o, read), o.Name, "gauge")
}

// anyText are labels of which the values may be any text: the id of a model is a caller's, and
// WithLabelValues panics at what is not UTF-8.
func anyText(names []string) (out prometheus.ConstrainedLabels) {
	for _, name := range names {
		out = append(out, prometheus.ConstrainedLabel{
			Name: name, Constraint: func(s string) string { return strings.ToValidUTF8(s, "\ufffd") },
		})
	}
	return out
}
