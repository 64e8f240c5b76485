package telemetry

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/tracectx"
)

// What a metric is, in the words of Prometheus.
const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
	kindSummary   = "summary"
)

// usualBounds are those of the buckets of most histograms, in seconds.
func usualBounds() []float64 { return []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300} }

// Vec is a metric: a series for each combination of values that its labels had.
type Vec struct {
	name, help, kind string
	labels           []string
	bounds           []float64      // of the buckets of a histogram; nil: those of all others
	read             func() float64 // where its only value comes from, if it is no series
	fill             func(*Vec)     // where its series come from, if they are those of the moment

	mu     sync.Mutex
	series map[string]*Series // by their labels, as they are written
}

// Series is one value that changes, or what a histogram has seen.
type Series struct {
	values []string // of its labels

	mu       sync.Mutex
	value    float64 // of a histogram, the sum
	count    uint64
	bounds   []float64
	buckets  []uint64   // each counts those below it, too
	examples []exemplar // one for each bucket, and one for what is above all of them; nil: none was ever there
}

// WithLabelValues is the series for values, in the order of the labels.
func (v *Vec) WithLabelValues(values ...string) *Series {
	var key strings.Builder
	key.Grow(64) // most are no longer
	for i, label := range v.labels {
		key.WriteString(label + `="` + escapeValue(values[i]) + `",`)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.series == nil {
		v.series = map[string]*Series{}
	}
	s := v.series[key.String()]
	if s == nil {
		s = &Series{values: slices.Clone(values)}
		if v.kind == kindHistogram {
			if s.bounds = v.bounds; s.bounds == nil {
				s.bounds = usualBounds()
			}
			s.buckets = make([]uint64, len(s.bounds))
		}
		v.series[key.String()] = s
	}
	return s
}

// Each calls each for every series: the values of its labels, in their order, and its own.
func (v *Vec) Each(each func(labels []string, value float64)) {
	v.mu.Lock()
	all := slices.Collect(maps.Values(v.series))
	v.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		value := s.value
		s.mu.Unlock()
		each(s.values, value)
	}
}

// Reset forgets all series.
func (v *Vec) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.series = nil
}

// Inc adds one.
func (s *Series) Inc() { s.Add(1) }

// Dec takes one away.
func (s *Series) Dec() { s.Add(-1) }

// Set replaces the value.
func (s *Series) Set(n float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = n
}

// Add changes a counter or a gauge by n.
func (s *Series) Add(n float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value += n
}

// Observe counts a value of a histogram. Where the trace of what had it is kept, its ids can be
// looked up by the value.
func (s *Series) Observe(n float64, at tracectx.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value += n
	s.count++
	first := len(s.bounds)
	for i := len(s.bounds) - 1; i >= 0 && n <= s.bounds[i]; i-- {
		s.buckets[i]++
		first = i
	}
	if at.Kept {
		if s.examples == nil {
			s.examples = make([]exemplar, len(s.bounds)+1)
		}
		s.examples[first] = exemplar{n, now(), at.Trace, at.Span}
	}
}

// list is all metrics that are served.
type list struct {
	mu  sync.Mutex
	all []*Vec
}

func (l *list) add(v *Vec) *Vec {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, v)
	return v
}

func number(n float64) string {
	if math.IsInf(n, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func escapeHelp(s string) string { return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s) }

// escapeValue writes the value of a label. It may be anything: the id of a model is a caller's.
func escapeValue(s string) string {
	if !strings.ContainsAny(s, "\\\"\n") {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\ufffd"))
}
