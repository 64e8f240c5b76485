package telemetry

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/tracectx"
)

// Inference is a request to a model server that has ended.
type Inference struct {
	Model    string // id that the caller sees
	Arms     []string
	Upstream string // name of the model server
	Provider string // its kind
	Asked    string // what it calls the model
	Fault    string // empty: none

	Took, First   time.Duration // First is 0 where nothing came
	Stream        bool
	Input, Output int // tokens; both 0: the server does not say
	At            tracectx.Place
}

// inference are the metrics that the conventions of OpenTelemetry for generative AI name.
type inference struct {
	took, first, tokens *Vec

	mu     sync.Mutex
	series map[inferenceKey]*inferenceSeries
	models map[string]bool // what model servers call their models
}

// inferenceKey is what a request has in common with others.
type inferenceKey struct{ model, arm, upstream, provider, asked, fault string }

type inferenceSeries struct{ took, first, input, output *Series }

// maxModels is how many models have series of their own: what a server calls them, it can make up.
const maxModels = 64

// otherModel stands for all more of them, as the conventions have it for what has no name.
const otherModel = "_OTHER"

// Names of labels in the form of Prometheus, and what they are in OpenTelemetry.
const (
	labelOperation = "gen_ai_operation_name"
	labelProvider  = "gen_ai_provider_name"
	labelAsked     = "gen_ai_request_model"
	labelToken     = "gen_ai_token_type"
	labelFault     = "error_type"
)

func newInference(l *list) inference {
	seconds := []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	firsts := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	counts := []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	add := func(name, help string, bounds []float64, more ...string) *Vec {
		labels := append([]string{"model", "arm", "upstream", labelOperation, labelProvider, labelAsked}, more...)
		return l.add(&Vec{name: name, help: help, kind: kindHistogram, bounds: bounds, labels: labels})
	}
	return inference{
		took:   add("gen_ai_client_operation_duration_seconds", "Seconds of a whole request to a model server.", seconds, labelFault),
		first:  add("gen_ai_client_operation_time_to_first_chunk_seconds", "Seconds until the first piece of a stream of a model server.", firsts),
		tokens: add("gen_ai_client_token_usage", "Tokens of a request to a model server, by type: input, output.", counts, labelToken),
	}
}

// Inferred counts a request to a model server.
func (m *Metrics) Inferred(r *Inference) {
	s := m.inference.of(r)
	s.took.Observe(r.Took.Seconds(), r.At)
	if r.chunks() {
		s.first.Observe(r.First.Seconds(), r.At)
	}
	if r.tokens() {
		s.input.Observe(float64(r.Input), r.At)
		s.output.Observe(float64(r.Output), r.At)
	}
}

func (r *Inference) chunks() bool { return r.Stream && r.First > 0 }
func (r *Inference) tokens() bool { return r.Input > 0 || r.Output > 0 }

// of are the series of a request: those that it has values for.
func (i *inference) of(r *Inference) inferenceSeries {
	arm := ""
	if len(r.Arms) > 0 {
		arm = strings.Join(r.Arms, " ")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	k := inferenceKey{r.Model, arm, r.Upstream, r.Provider, i.bounded(r.Asked), r.Fault}
	s := i.series[k]
	if s == nil {
		if i.series == nil {
			i.series = map[inferenceKey]*inferenceSeries{}
		}
		s = &inferenceSeries{}
		i.series[k] = s
	}
	if s.took == nil {
		s.took = k.of(i.took, k.fault)
	}
	if r.chunks() && s.first == nil {
		s.first = k.of(i.first)
	}
	if r.tokens() && s.input == nil {
		s.input, s.output = k.of(i.tokens, "input"), k.of(i.tokens, "output")
	}
	return *s
}

// of is a series of a metric.
func (k *inferenceKey) of(v *Vec, more ...string) *Series {
	return v.WithLabelValues(append([]string{k.model, k.arm, k.upstream, "chat", k.provider, k.asked}, more...)...)
}

// bounded is the name of a model, if there are few. The lock is held.
func (i *inference) bounded(asked string) string {
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
