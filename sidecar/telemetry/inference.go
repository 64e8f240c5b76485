package telemetry

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Inference is a finished request to a model server.
type Inference struct {
	Model    string // id for callers
	Arms     []string
	Upstream string // name of the model server
	Provider string // its dialect
	Asked    string // its name for the model
	Fault    string // empty: none

	Took, First   time.Duration // First is 0 where nothing came
	Stream        bool
	Input, Output int // tokens; both 0: the server does not say
	At            Place
}

// inference holds the metrics that OpenTelemetry names for generative AI.
type inference struct {
	took, first, tokens *prometheus.HistogramVec

	mu     sync.Mutex
	models map[string]bool // names at model servers that have series
}

// maxModels bounds the models with series of their own, since a server can invent names.
const maxModels = 64

// otherModel stands for further models, as the conventions say.
const otherModel = "_OTHER"

func newInference(r registry) *inference {
	seconds := []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firsts := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	counts := []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216,
		67108864}
	add := func(name, help string, bounds []float64, more ...string) *prometheus.HistogramVec {
		labels := []string{"model", "arm", "upstream", "gen_ai_operation_name", "gen_ai_provider_name",
			"gen_ai_request_model"}
		return r.histogram(name, help, bounds, append(labels, more...)...)
	}
	return &inference{
		took: add("gen_ai_client_operation_duration_seconds",
			"Seconds of a whole request to a model server.", seconds, "error_type"),
		first: add("gen_ai_client_operation_time_to_first_chunk_seconds",
			"Seconds until the first piece of a stream of a model server.", firsts),
		tokens: add("gen_ai_client_token_usage",
			"Tokens of a request to a model server, by type: input, output.", counts, "gen_ai_token_type"),
	}
}

// CountInference counts a request to a model server in the metrics for which it has a value.
func (m *Metrics) CountInference(r *Inference) {
	i := m.inference
	labels := Labels(r.Model, r.Arms, r.Upstream, "chat", r.Provider, i.modelLabel(r.Asked))
	count := func(v *prometheus.HistogramVec, n float64, more ...string) {
		Observe(v.WithLabelValues(append(labels, more...)...), n, r.At)
	}
	count(i.took, r.Took.Seconds(), r.Fault)
	if r.Stream && r.First > 0 {
		count(i.first, r.First.Seconds())
	}
	if r.Input > 0 || r.Output > 0 {
		count(i.tokens, float64(r.Input), "input")
		count(i.tokens, float64(r.Output), "output")
	}
}

// modelLabel returns the label of a model, of which there are few.
func (i *inference) modelLabel(asked string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if asked = cmp.Or(asked, otherModel); i.models[asked] {
		return asked
	}
	if len(i.models) >= maxModels || len(asked) > 256 {
		return otherModel
	}
	if i.models == nil {
		i.models = map[string]bool{}
	}
	i.models[strings.Clone(asked)] = true
	return asked
}
