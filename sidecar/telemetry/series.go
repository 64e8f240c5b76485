package telemetry

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// What a metric is, in the words of Prometheus.
const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
	kindSummary   = "summary"
)

// bounds are those of the buckets of all histograms, in seconds.
var bounds = [...]float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300}

// Vec is a metric: a series for each combination of values that its labels had.
type Vec struct {
	name, help, kind string
	labels           []string
	read             func() float64 // where its only value comes from, if it is no series
	fill             func(*Vec)     // where its series come from, if they are those of the moment

	mu     sync.Mutex
	series map[string]*Series // by their labels, as they are written
}

// Series is one value that changes, or what a histogram has seen.
type Series struct {
	values []string // of its labels

	mu      sync.Mutex
	value   float64 // of a histogram, the sum
	count   uint64
	buckets [len(bounds)]uint64 // each counts those below it, too
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

// Observe counts a value of a histogram.
func (s *Series) Observe(n float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value += n
	s.count++
	for i, most := range bounds {
		if n <= most {
			s.buckets[i]++
		}
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

// write writes all metrics in the text format of Prometheus, sorted by name.
func (l *list) write(out *bytes.Buffer) {
	l.mu.Lock()
	all := append(ofGo(), ofProcess()...)
	all = append(all, l.all...)
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b *Vec) int { return cmp.Compare(a.name, b.name) })
	for _, v := range all {
		v.write(out)
	}
}

func (v *Vec) write(out *bytes.Buffer) {
	if v.fill != nil {
		now := &Vec{name: v.name, help: v.help, kind: v.kind, labels: v.labels}
		v.fill(now)
		v = now
	}
	v.mu.Lock()
	series := maps.Clone(v.series)
	v.mu.Unlock()
	if v.read != nil {
		series = map[string]*Series{"": {value: v.read()}}
	}
	if len(series) == 0 {
		return
	}
	out.WriteString("# HELP " + v.name + " " + escapeHelp(v.help) + "\n# TYPE " + v.name + " " + v.kind + "\n")
	for _, labels := range slices.Sorted(maps.Keys(series)) {
		series[labels].write(out, v, labels)
	}
}

func (s *Series) write(out *bytes.Buffer, v *Vec, labels string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.kind != kindHistogram && s.count == 0 {
		line(out, v.name, labels, s.value)
		return
	}
	if v.kind == kindHistogram {
		for i, most := range bounds {
			line(out, v.name+"_bucket", labels+`le="`+number(most)+`",`, float64(s.buckets[i]))
		}
		line(out, v.name+"_bucket", labels+`le="+Inf",`, float64(s.count))
	}
	line(out, v.name+"_sum", labels, s.value)
	line(out, v.name+"_count", labels, float64(s.count))
}

func line(out *bytes.Buffer, name, labels string, value float64) {
	out.WriteString(name)
	if labels != "" {
		out.WriteString("{" + strings.TrimSuffix(labels, ",") + "}")
	}
	out.WriteString(" " + number(value) + "\n")
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
