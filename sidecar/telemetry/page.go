package telemetry

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// exemplar is a value of a bucket, and the trace of what had it.
type exemplar struct {
	value, at   float64 // at is Unix time
	trace, span string
}

// page is metrics as text, in the format of Prometheus or, with exemplars, in that of OpenMetrics.
type page struct {
	bytes.Buffer
	open bool
}

// openMetrics is the media type of the format that has exemplars.
const openMetrics = "application/openmetrics-text"

// Handler serves the counters, and those of Go and of the process.
func (m *Metrics) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := page{open: strings.Contains(r.Header.Get("Accept"), openMetrics)}
		for _, v := range m.list.sorted() {
			out.vec(v)
		}
		kind := "text/plain; version=0.0.4; charset=utf-8"
		if out.open {
			out.WriteString("# EOF\n")
			kind = openMetrics + "; version=1.0.0; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(out.Bytes())
	})
}

// sorted is all metrics of the moment, by their names.
func (l *list) sorted() []*Vec {
	l.mu.Lock()
	all := append(ofGo(), ofProcess()...)
	all = append(all, l.all...)
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b *Vec) int { return cmp.Compare(a.name, b.name) })
	return all
}

// now gives the series of the moment.
func (v *Vec) now() map[string]*Series {
	if v.fill != nil {
		now := &Vec{name: v.name, help: v.help, kind: v.kind, labels: v.labels}
		v.fill(now)
		v = now
	}
	if v.read != nil {
		return map[string]*Series{"": {value: v.read()}}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.series)
}

func (p *page) vec(v *Vec) {
	series := v.now()
	if len(series) == 0 {
		return
	}
	family, kind := v.name, v.kind
	if p.open && kind == kindCounter { // its family has no _total
		if family = strings.TrimSuffix(v.name, "_total"); family == v.name || family == "go_memstats_alloc_bytes" { // that is a gauge
			family, kind = v.name, "unknown"
		}
	}
	p.WriteString("# HELP " + family + " " + escapeHelp(v.help) + "\n# TYPE " + family + " " + kind + "\n")
	for _, labels := range slices.Sorted(maps.Keys(series)) {
		p.series(series[labels], v, labels)
	}
}

func (p *page) series(s *Series, v *Vec, labels string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.kind != kindHistogram && s.count == 0 {
		p.line(v.name, labels, s.value, nil)
		return
	}
	if v.kind == kindHistogram {
		example := func(i int) *exemplar {
			if !p.open || s.examples == nil || s.examples[i].trace == "" {
				return nil
			}
			return &s.examples[i]
		}
		for i, most := range s.bounds {
			p.line(v.name+"_bucket", labels+`le="`+p.bound(most)+`",`, float64(s.buckets[i]), example(i))
		}
		p.line(v.name+"_bucket", labels+`le="+Inf",`, float64(s.count), example(len(s.bounds)))
	}
	p.line(v.name+"_sum", labels, s.value, nil)
	p.line(v.name+"_count", labels, float64(s.count), nil)
}

// bound is a bound of buckets: OpenMetrics wants a point in it.
func (p *page) bound(n float64) string {
	text := number(n)
	if p.open && !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func (p *page) line(name, labels string, value float64, of *exemplar) {
	p.WriteString(name)
	if labels != "" {
		p.WriteString("{" + strings.TrimSuffix(labels, ",") + "}")
	}
	p.WriteString(" " + number(value))
	if of != nil {
		p.WriteString(` # {trace_id="` + of.trace + `",span_id="` + of.span + `"} ` + number(of.value) + " " + strconv.FormatFloat(of.at, 'f', 3, 64))
	}
	p.WriteByte('\n')
}
