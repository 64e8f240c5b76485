package telemetry

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Handler serves the metrics, and those of Go and of the process, which DefaultGatherer has. Exemplars
// are in OpenMetrics alone.
func (m *Metrics) Handler() http.Handler {
	all := prometheus.Gatherers{prometheus.DefaultGatherer, m.registry}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		families, err := all.Gather()
		if err != nil {
			http.Error(w, "gather the metrics: "+err.Error(), http.StatusInternalServerError)
			return
		}
		format := expfmt.FmtText
		if strings.Contains(r.Header.Get("Accept"), expfmt.OpenMetricsType) {
			format = expfmt.FmtOpenMetrics_1_0_0
			untype(families, "go_memstats_alloc_bytes_total")
		}
		w.Header().Set("Content-Type", string(format))
		out := expfmt.NewEncoder(w, format)
		for _, f := range families {
			if out.Encode(f) != nil {
				return // the caller left
			}
		}
		_ = out.(expfmt.Closer).Close() // OpenMetrics has a mark at the end
	})
}

// untype makes a counter one of an unknown type: OpenMetrics calls a counter NAME_total by NAME, and a
// gauge may have that name, too.
func untype(families []*dto.MetricFamily, name string) {
	for _, f := range families {
		if f.GetName() == name {
			f.Type = dto.MetricType_UNTYPED.Enum()
			for _, p := range f.Metric {
				p.Untyped = &dto.Untyped{Value: p.Counter.Value}
			}
		}
	}
}
