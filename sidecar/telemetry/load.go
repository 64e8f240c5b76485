package telemetry

// Load is how much is served, and how much of the memory limit is in use.
type Load struct {
	Short           bool
	Inside, Waiting int
	Used, Limit     uint64
}

// Loads shows the load, by what it tells whenever somebody asks.
func (m *Metrics) Loads(at func() Load) {
	short := func(l Load) float64 {
		if l.Short {
			return 1
		}
		return 0
	}
	for _, g := range []struct {
		name, help string
		of         func(Load) float64
	}{
		{"load_shedding", "1 while memory is short and new requests get 503.", short},
		{"load_inside", "Requests that are being served.", func(l Load) float64 { return float64(l.Inside) }},
		{"load_waiting", "Requests that wait for their turn.", func(l Load) float64 { return float64(l.Waiting) }},
		{"memory_in_use_bytes", "Memory that cannot be collected; 0 where there is no limit of memory.", func(l Load) float64 { return float64(l.Used) }},
		{"memory_limit_bytes", "The limit of memory: GOMEMLIMIT, or that of the cgroup. 0: there is none.", func(l Load) float64 { return float64(l.Limit) }},
	} {
		m.list.add(&Vec{name: prefix + g.name, help: g.help, kind: kindGauge, read: func() float64 { return g.of(at()) }})
	}
}
