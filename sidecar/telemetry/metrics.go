// Package telemetry counts what the sidecar does, for Prometheus. It decides
// nothing and never sees the text of a reply.
package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of one process.
type Metrics struct {
	registry *prometheus.Registry

	Requests  *prometheus.CounterVec   // model, status
	Calls     *prometheus.CounterVec   // strategy
	Repairs   *prometheus.CounterVec   // kind
	Refusals  *prometheus.CounterVec   // code
	Hits      *prometheus.CounterVec   // file, rule
	Decisions *prometheus.CounterVec   // effect, file, rule
	Faults    *prometheus.CounterVec   // fault, action
	Said      *prometheus.CounterVec   // fault
	Untouch   prometheus.Counter       // replies that left byte for byte
	Open      prometheus.Gauge         // streams being served
	First     prometheus.Histogram     // seconds until the upstream began to answer
	Rules     *prometheus.GaugeVec     // version
	Files     *prometheus.GaugeVec     // file, sha256
	Reloads   *prometheus.CounterVec   // result: taken, refused, reverted
	ReloadOK  prometheus.Gauge         // 0 while the files on disk do not load
	ReloadAt  prometheus.Gauge         // unix time of the last good one
	Reloaded  prometheus.Gauge         // unix time of the last one, good or not
	Whole     *prometheus.HistogramVec // seconds of a request, by stream
	Approvals *prometheus.CounterVec   // outcome: asked, allowed, denied, used, expired
	Pending   prometheus.Gauge         // approvals that nobody has answered yet

	Connections *prometheus.CounterVec // of confined commands, by outcome: connected, refused, failed
}

// New makes the counters, all of them registered.
func New() *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gptoss_executor", Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "gptoss_executor", Name: name, Help: help}
	}
	seconds := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Namespace: "gptoss_executor", Name: name, Help: help,
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300}}
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		Requests:  vec("requests_total", "Chat completion requests by model id and HTTP status.", "model", "status"),
		Calls:     vec("calls_total", "Tool calls that left, by the strategy that found them.", "strategy"),
		Repairs:   vec("repairs_total", "Repairs made to calls that left, by kind.", "kind"),
		Refusals:  vec("refusals_total", "Text that looked like a call and was none, by reason.", "code"),
		Hits:      vec("rule_hits_total", "Replies in which a rule had a part, by the rule.", "file", "rule"),
		Decisions: vec("policy_decisions_total", "Calls that the policy denied, asked about, or would have (audit), by the rule and its file.", "effect", "file", "rule"),
		Faults:    vec("faults_total", "Faults of the model or its server, by what was done.", "fault", "action"),
		Said:      vec("said_total", "Answers that are a sentence of the rules, by the fault.", "fault"),
		Untouch:   prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gptoss_executor", Name: "untouched_total", Help: "Replies that left byte for byte as they came."}),
		Open:      prometheus.NewGauge(gauge("open_streams", "Streams being served.")),
		First:     prometheus.NewHistogram(seconds("upstream_first_seconds", "Seconds until the upstream began to answer.")),
		Whole:     prometheus.NewHistogramVec(seconds("request_seconds", "Seconds of a whole request."), []string{"stream"}),
		Approvals: vec("approvals_total", "Calls that a person was asked about, by what became of them: asked, allowed, denied, used, expired.", "outcome"),
		Pending:   prometheus.NewGauge(gauge("approvals_pending", "Calls that wait for a person's answer.")),

		Connections: vec("connections_total", "Connections that confined commands wanted, by outcome: connected, refused, failed.", "outcome"),
		Rules:       prometheus.NewGaugeVec(gauge("rules_info", "1 for the version of the rules in force."), []string{"version"}),
		Files:       prometheus.NewGaugeVec(gauge("rules_file_info", "1 for each file of the rules in force: the first 12 digits of its sha256."), []string{"file", "sha256"}),
		Reloads:     vec("rules_reloads_total", "Changes of the rule files, by result.", "result"),
		ReloadOK:    prometheus.NewGauge(gauge("rules_last_reload_successful", "1 while the last change of the rule files was taken up.")),
		ReloadAt:    prometheus.NewGauge(gauge("rules_last_reload_success_timestamp_seconds", "When rules were last put in force.")),
		Reloaded:    prometheus.NewGauge(gauge("rules_last_reload_timestamp_seconds", "When rules were last tried, with success or without.")),
	}
	m.registry.MustRegister(m.Requests, m.Calls, m.Repairs, m.Refusals, m.Hits, m.Decisions, m.Faults, m.Said, m.Untouch, m.Open, m.First, m.Whole,
		m.Approvals, m.Pending, m.Connections, m.Rules, m.Files, m.Reloads, m.ReloadOK, m.ReloadAt, m.Reloaded, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// InForce records which rules are in force: their version, and the sum of each
// file. onDisk is false where the files on disk are others, which do not load.
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
	m.ReloadAt.SetToCurrentTime()
	m.Reloaded.SetToCurrentTime()
}

// Reload counts a change of the rule files by its result: taken, refused, or
// reverted to what is in force.
func (m *Metrics) Reload(result string) {
	m.Reloads.WithLabelValues(result).Inc()
	m.Reloaded.SetToCurrentTime()
}

// DecisionLog counts for a decision log, by what it tells whenever somebody asks:
// records, decisions that were lost, errors of the disk, and seconds since its head moved on.
func (m *Metrics) DecisionLog(written, lost, failed, sinceHead func() float64) {
	counter := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "gptoss_executor", Name: name, Help: help}, read)
	}
	m.registry.MustRegister(
		counter("decisions_written_total", "Decisions in the decision log.", written),
		counter("decisions_lost_total", "Decisions that could not be written to the decision log.", lost),
		counter("decisions_errors_total", "Writes and syncs of the decision log that failed.", failed),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "gptoss_executor", Name: "decisions_head_seconds", Help: "Seconds since the head of the decision log moved on."}, sinceHead),
	)
}

// Approval counts what became of a question to a person.
func (m *Metrics) Approval(outcome string) { m.Approvals.WithLabelValues(outcome).Inc() }

// PendingApprovals records how many questions wait.
func (m *Metrics) PendingApprovals(n int) { m.Pending.Set(float64(n)) }

// Handler serves the counters.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
