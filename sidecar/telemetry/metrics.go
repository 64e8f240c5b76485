// Package telemetry counts for Prometheus, carries the request and the place in its trace in contexts, for
// the log and for requests to model servers, and traces requests by OpenTelemetry's conventions for
// generative AI. It writes words of people and models only masked, and only if a rule says so. It decides
// nothing and opens no connection.
package telemetry

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Metrics are the metrics of one process; New describes them.
type Metrics struct {
	registry registry

	Requests, Refused, Tokens, Runs, RunCalls, Calls, Repairs, Repeated, Refusals, Hits, Decisions,
	Faults, Notices, Turns, Damaged, Upstreams, Reloads, Approvals, Shadows, Connections, Telemetry, Shed,
	Shared *prometheus.CounterVec
	Rules, Files, Units, Outcomes, SharedUp, Replicas *prometheus.GaugeVec
	Open, ReloadOK, ReloadAt, Reloaded, Pending       prometheus.Gauge
	Untouch, Again, SharedLost                        prometheus.Counter
	First                                             prometheus.Observer
	Whole                                             *prometheus.HistogramVec
	inference                                         *inference
}

// New returns all metrics, registered.
func New() *Metrics {
	r := registry{prometheus.NewRegistry()}
	seconds := []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300}
	return &Metrics{
		registry: r, inference: newInference(r),
		Requests: r.counter("requests_total", "Chat completion requests by model id and HTTP status.",
			"model", "status"),
		Refused: r.counter("requests_refused_total",
			"Requests to which no answer was opened, by HTTP status.", "status"),
		Tokens: r.counter("tokens_total",
			"Tokens as the model server counts them, by model id and kind: prompt, completion, and reasoning, which is a part of completion.", "model", "kind"),
		Runs: r.counter("runs_total",
			"Runs of executor mode by model id and how they ended: answered, unfinished, failed, left.",
			"model", "status"),
		RunCalls: r.counter("run_calls_total",
			"Calls of runs by tool and outcome: ok, failed, refused, doubt.", "model", "arm", "tool",
			"outcome"),
		Calls: r.counter("calls_total", "Tool calls that left, by the strategy that found them.", "model",
			"arm", "strategy"),
		Repairs: r.counter("repairs_total", "Repairs made to calls that left, by kind.", "model", "arm",
			"kind"),
		Repeated: r.counter("repeated_calls_total",
			"Calls that stood in a reply once more, and were made once.", "model", "arm"),
		Refusals: r.counter("refusals_total", "Text that looked like a call and was none, by reason.",
			"model", "arm", "code"),
		Hits: r.counter("rule_hits_total", "Replies in which a rule had a part, by the rule.", "model",
			"arm", "file", "rule"),
		Decisions: r.counter("policy_decisions_total",
			"Calls that the policy denied, asked about, or would have (audit), by the rule and its file.",
			"model", "arm", "effect", "file", "rule"),
		Faults: r.counter("faults_total", "Faults of the model or its server, by what was done.", "model",
			"arm", "fault", "action"),
		Notices: r.counter("said_total", "Answers that are a sentence of the rules, by the fault.", "model",
			"arm", "fault"),
		Turns: r.counter("turns_total", "Turns, by what they came to.", "outcome"),
		Damaged: r.counter("damaged_turns_total",
			"Turns with a class of damage, by the dialect of the model server, and what they came to.",
			"server", "damage", "outcome"),
		Again: r.counter("again_seconds_total",
			"Seconds of turns after a first reply that was not good.").WithLabelValues(),
		Upstreams: r.counter("upstream_requests_total",
			"Requests to a model server by its name and outcome: served, answered (it said why there is no reply), failed, left (the caller did).", "upstream", "outcome"),
		Untouch: r.counter("untouched_total",
			"Replies that left byte for byte as they came.").WithLabelValues(),
		Open: r.gauge("open_streams", "Streams being served.").WithLabelValues(),
		First: r.histogram(prefix+"upstream_first_seconds", "Seconds until the upstream began to answer.",
			seconds).WithLabelValues(),
		Whole: r.histogram(prefix+"request_seconds", "Seconds of a whole request.", seconds, "stream"),
		Approvals: r.counter("approvals_total",
			"Calls that a person was asked about, by what became of them: asked, allowed, denied, used, expired.", "outcome"),
		Pending: r.gauge("approvals_pending", "Calls that wait for a person's answer.").WithLabelValues(),

		Shadows: r.counter("shadow_readings_total",
			"Replies for shadows to read, by experiment and outcome: same, differs, skipped, crashed, stuck.",
			"experiment", "outcome"),
		Units: r.gauge("experiment_units", "Units that were in an arm of an experiment.", "experiment",
			"arm"),
		Outcomes: r.gauge("experiment_outcomes",
			"What is counted of an arm of an experiment, by measure: the sum, and of how many events.",
			"experiment", "arm", "measure", "of"),
		Connections: r.counter("connections_total",
			"Connections that confined commands wanted, by outcome: connected, refused, failed.", "outcome"),
		Telemetry: r.counter("spans_total",
			"Spans of OpenTelemetry: ended (they wait to be sent), sent, lost. What has ended and is neither waits, or came while the queue was full.", "outcome"),
		Shed: r.counter("load_refused_total",
			"Requests that got 503 because of load, by why: memory (it is short), waiting (too many wait), late (it waited too long).", "why"),
		Shared: r.counter("shared_asks_total",
			"Questions to the server that replicas share, by what was asked and outcome: ok, failed, skipped (it was known to be away).", "asked", "outcome"),
		SharedUp: r.gauge("shared_up",
			"1 while the server that replicas share is there; nothing where there is none."),
		SharedLost: r.counter("shared_lost_total",
			"What could not be written to the server that replicas share.").WithLabelValues(),
		Replicas: r.gauge("replicas",
			"Replicas seen in the last seconds, this one too, by the version of the rules that they have in force.", "version"),
		Rules: r.gauge("rules_info", "1 for the version of the rules in force.", "version"),
		Files: r.gauge("rules_file_info",
			"1 for each file of the rules in force: the first 12 digits of its sha256.", "file", "sha256"),
		Reloads: r.counter("rules_reloads_total", "Changes of the rule files, by result.", "result"),
		ReloadOK: r.gauge("rules_last_reload_successful",
			"1 while the last change of the rule files was taken up.").WithLabelValues(),
		ReloadAt: r.gauge("rules_last_reload_success_timestamp_seconds",
			"When rules were last put in force.").WithLabelValues(),
		Reloaded: r.gauge("rules_last_reload_timestamp_seconds",
			"When rules were last tried, with success or without.").WithLabelValues(),
	}
}

// Labels returns the labels of a request to a model in arms of experiments, and more. Models and arms are
// ids of the rule files, so there are few.
func Labels(model string, arms []string, more ...string) []string {
	return append([]string{model, strings.Join(arms, " ")}, more...)
}

const prefix = "gptoss_executor_"

// InForce records the version of the rules in force and the sum of each file. onDisk is false if the files
// on disk differ and do not load.
func (m *Metrics) InForce(version string, sums map[string]string, onDisk bool) {
	m.Rules.Reset()
	m.Rules.WithLabelValues(version).Set(1)
	m.Files.Reset()
	for file, sum := range sums {
		m.Files.WithLabelValues(file, sum).Set(1)
	}
	ok := 0.0
	if onDisk {
		ok = 1
	}
	m.ReloadOK.Set(ok)
	m.ReloadAt.Set(now())
	m.Reloaded.Set(now())
}

// Reload counts a change of the rule files by its result: taken, refused or reverted.
func (m *Metrics) Reload(result string) {
	m.Reloads.WithLabelValues(result).Inc()
	m.Reloaded.Set(now())
}

// now returns the Unix time.
func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }

// DecisionLog adds metrics of a decision log: records, lost decisions, errors of the disk, and seconds
// since its head moved.
func (m *Metrics) DecisionLog(written, lost, failed, sinceHead func() float64) {
	m.registry.counterFunc("decisions_written_total", "Decisions in the decision log.", written)
	m.registry.counterFunc("decisions_lost_total", "Decisions that could not be written to the decision log.",
		lost)
	m.registry.counterFunc("decisions_errors_total", "Writes and syncs of the decision log that failed.",
		failed)
	m.registry.gaugeFunc("decisions_head_seconds", "Seconds since the head of the decision log moved on.",
		sinceHead)
}

// Captured adds metrics of recorded replies.
func (m *Metrics) Captured(written, dropped func() float64) {
	m.registry.counterFunc("captured_total", "Replies that were recorded.", written)
	m.registry.counterFunc("captures_dropped_total",
		"Replies that were to be recorded, and were too many at once.", dropped)
}

// Approval counts an event of a question to a person.
func (m *Metrics) Approval(outcome string) { m.Approvals.WithLabelValues(outcome).Inc() }

// PendingApprovals records how many questions wait.
func (m *Metrics) PendingApprovals(n int) { m.Pending.Set(float64(n)) }

// Observe counts a value of a histogram, with an exemplar if its trace is kept.
func Observe(h prometheus.Observer, n float64, at Place) {
	if e, ok := h.(prometheus.ExemplarObserver); ok && at.Kept && at.Trace != "" {
		e.ObserveWithExemplar(n, prometheus.Labels{"trace_id": at.Trace, "span_id": at.Span})
		return
	}
	h.Observe(n)
}

// registry holds all metrics of the program, without those of every Go program.
type registry struct{ *prometheus.Registry }

func (r registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	o := prometheus.CounterOpts{Name: prefix + name, Help: help}
	v := prometheus.V2.NewCounterVec(prometheus.CounterVecOpts{CounterOpts: o,
		VariableLabels: anyText(labels)})
	r.MustRegister(v)
	return v
}

func (r registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := newGauge(name, help, labels...)
	r.MustRegister(v)
	return v
}

func newGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	o := prometheus.GaugeOpts{Name: prefix + name, Help: help}
	return prometheus.V2.NewGaugeVec(prometheus.GaugeVecOpts{GaugeOpts: o, VariableLabels: anyText(labels)})
}

func (r registry) histogram(name, help string, bounds []float64, labels ...string) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds}
	v := prometheus.V2.NewHistogramVec(prometheus.HistogramVecOpts{HistogramOpts: o,
		VariableLabels: anyText(labels)})
	r.MustRegister(v)
	return v
}

func (r registry) counterFunc(name, help string, read func() float64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help}, read))
}

func (r registry) gaugeFunc(name, help string, read func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, read))
}

// anyText returns labels whose values may be any text: model ids come from callers, and WithLabelValues
// panics at invalid UTF-8.
func anyText(names []string) (out prometheus.ConstrainedLabels) {
	for _, name := range names {
		out = append(out, prometheus.ConstrainedLabel{
			Name: name, Constraint: func(s string) string { return strings.ToValidUTF8(s, "\ufffd") },
		})
	}
	return out
}

// Handler serves these metrics and those of Go and the process, with exemplars in OpenMetrics only.
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

// untype gives a counter an unknown type: in OpenMetrics the counter NAME_total is called NAME, which may
// also be a gauge.
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

// Load is the current load and memory use.
type Load struct {
	Short           bool
	Inside, Waiting int
	Used, Limit     uint64
}

// Loads adds metrics of the load.
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

// States adds a metric of the states of model servers.
func (m *Metrics) States(fill func(say func(upstream, state string))) {
	m.registry.MustRegister(&stateGauge{fill: fill, GaugeVec: newGauge("upstream_state",
		"1 for the state of a model server: "+
			"closed (it is asked), open (it failed too often), half_open (one request tries it).", "upstream",
		"state")})
}

// stateGauge is a gauge whose series are filled at each collection.
type stateGauge struct {
	*prometheus.GaugeVec
	mu   sync.Mutex
	fill func(say func(upstream, state string))
}

// Collect implements prometheus.Collector.
func (s *stateGauge) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Reset()
	s.fill(func(upstream, state string) { s.WithLabelValues(upstream, state).Set(1) })
	s.GaugeVec.Collect(to)
}
