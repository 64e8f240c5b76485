package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Load is how much is served, and how much of the memory limit is in use.
type Load struct {
	Short           bool
	Inside, Waiting int
	Used, Limit     uint64
}

// Loads shows the load.
func (m *Metrics) Loads(at func() Load) {
	m.registry.gaugeFunc("load_shedding", "1 while memory is short and new requests get 503.",
		func() float64 {
			if at().Short {
				return 1
			}
			return 0
		})
	m.registry.gaugeFunc("load_inside", "Requests that are being served.",
		func() float64 { return float64(at().Inside) })
	m.registry.gaugeFunc("load_waiting", "Requests that wait for their turn.",
		func() float64 { return float64(at().Waiting) })
	m.registry.gaugeFunc("memory_in_use_bytes",
		"Memory that cannot be collected; 0 where there is no limit of memory.",
		func() float64 { return float64(at().Used) })
	m.registry.gaugeFunc("memory_limit_bytes",
		"The limit of memory: GOMEMLIMIT, or that of the cgroup. 0: there is none.",
		func() float64 { return float64(at().Limit) })
}

// States shows how the model servers are.
func (m *Metrics) States(fill func(say func(upstream, state string))) {
	m.registry.MustRegister(&states{fill: fill, GaugeVec: newGauge("upstream_state",
		"1 for the state of a model server: "+
			"closed (it is asked), open (it failed too often), half_open (one request tries it).", "upstream",
		"state")})
}

// states is a gauge of which the series are those of the moment.
type states struct {
	*prometheus.GaugeVec
	mu   sync.Mutex
	fill func(say func(upstream, state string))
}

// Collect gives the series of the moment.
func (s *states) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reset()
	s.fill(func(upstream, state string) { s.WithLabelValues(upstream, state).Set(1) })
	s.GaugeVec.Collect(to)
}
