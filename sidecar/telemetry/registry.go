package telemetry

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// registry has all metrics of the program, but those that every Go program has.
type registry struct{ *prometheus.Registry }

func (r registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	o := prometheus.CounterOpts{Name: prefix + name, Help: help}
	v := prometheus.V2.NewCounterVec(prometheus.CounterVecOpts{CounterOpts: o,
		VariableLabels: anyText(labels)})
	r.MustRegister(v)
	return v
}

func (r registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := newGauge(name, help, labels...)
	r.MustRegister(v)
	return v
}

func newGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	o := prometheus.GaugeOpts{Name: prefix + name, Help: help}
	return prometheus.V2.NewGaugeVec(prometheus.GaugeVecOpts{GaugeOpts: o, VariableLabels: anyText(labels)})
}

func (r registry) histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}
	v := prometheus.V2.NewHistogramVec(prometheus.HistogramVecOpts{HistogramOpts: o,
		VariableLabels: anyText(labels)})
	r.MustRegister(v)
	return v
}

func (r registry) counterFunc(name, help string, read func() float64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help}, read))
}

func (r registry) gaugeFunc(name, help string, read func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, read))
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
