package telemetry

import "slices"

// Description says what a metric is, also before anything was counted of it.
type Description struct {
	Name, Kind string
	Labels     []string
}

// Described is all metrics of the program, but those that every Go program has.
func (m *Metrics) Described() (out []Description) {
	m.list.mu.Lock()
	defer m.list.mu.Unlock()
	for _, v := range m.list.all {
		out = append(out, Description{v.name, v.kind, slices.Clone(v.labels)})
	}
	return out
}
