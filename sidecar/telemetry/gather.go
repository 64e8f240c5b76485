package telemetry

import "slices"

// Family is a metric, with all that was counted of it up to a moment.
type Family struct {
	Name, Help string
	Kind       string // counter, gauge or histogram
	Labels     []string
	Points     []Point
}

// Point is one series.
type Point struct {
	Values  []string // of the labels
	Value   float64  // of a histogram, the sum
	Count   uint64   // what follows is for histograms
	Bounds  []float64
	Buckets []uint64 // each counts what is below its bound and above the one before; the last, what is above all
	Recent  []Exemplar
}

// Exemplar is one of the values that were counted, and the trace of what had it.
type Exemplar struct {
	Value, At   float64 // At is Unix time
	Trace, Span string
}

// Gather is all metrics of the program, but those that every Go program has. Exemplars are those since
// a moment, as Unix time.
func (m *Metrics) Gather(since float64) (out []Family) {
	m.list.mu.Lock()
	all := slices.Clone(m.list.all)
	m.list.mu.Unlock()
	for _, v := range all {
		f := Family{Name: v.name, Help: v.help, Kind: v.kind, Labels: v.labels}
		for _, s := range v.now() {
			f.Points = append(f.Points, s.point(since))
		}
		if len(f.Points) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func (s *Series) point(since float64) Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := Point{Values: s.values, Value: s.value, Count: s.count, Bounds: s.bounds}
	below := uint64(0)
	for _, n := range s.buckets {
		p.Buckets = append(p.Buckets, n-below)
		below = n
	}
	if s.buckets != nil {
		p.Buckets = append(p.Buckets, s.count-below)
	}
	for _, e := range s.examples {
		if e.trace != "" && e.at >= since {
			p.Recent = append(p.Recent, Exemplar{e.value, e.at, e.trace, e.span})
		}
	}
	return p
}
