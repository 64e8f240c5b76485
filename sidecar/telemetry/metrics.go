// Package telemetry counts what the sidecar does, for Prometheus, and carries in a context which request and
// which trace something is part of: for the lines of the log, and for the requests that go on to a model
// server. It tells a tracer of OpenTelemetry what becomes of requests, by its conventions for generative AI,
// and writes the words of people and models only masked, and only where a rule says so. It decides nothing
// and opens no connection.
package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the counters of one process.
type Metrics struct {
	registry registry

	Requests  *prometheus.CounterVec   // model, status
	Refused   *prometheus.CounterVec   // status
	Tokens    *prometheus.CounterVec   // model, kind: prompt, completion, reasoning (a part of completion)
	Runs      *prometheus.CounterVec   // model, status: answered, unfinished, failed, left
	RunCalls  *prometheus.CounterVec   // model, arm, tool, outcome: ok, failed, refused, doubt
	Calls     *prometheus.CounterVec   // model, arm, strategy
	Repairs   *prometheus.CounterVec   // model, arm, kind
	Repeated  *prometheus.CounterVec   // model, arm
	Refusals  *prometheus.CounterVec   // model, arm, code
	Hits      *prometheus.CounterVec   // model, arm, file, rule
	Decisions *prometheus.CounterVec   // model, arm, effect, file, rule
	Faults    *prometheus.CounterVec   // model, arm, fault, action; those of the gateway have no model
	Notices   *prometheus.CounterVec   // model, arm, fault
	Turns     *prometheus.CounterVec   // outcome
	Damaged   *prometheus.CounterVec   // server (its dialect), damage, outcome
	Again     prometheus.Counter       // seconds that turns took after a first reply that was not good
	Upstreams *prometheus.CounterVec   // upstream, outcome: served, answered, failed, left
	Untouch   prometheus.Counter       // replies that left byte for byte
	Open      prometheus.Gauge         // streams being served
	First     prometheus.Observer      // seconds until the upstream began to answer
	Rules     *prometheus.GaugeVec     // version
	Files     *prometheus.GaugeVec     // file, sha256
	Reloads   *prometheus.CounterVec   // result: taken, refused, reverted
	ReloadOK  prometheus.Gauge         // 0 while the files on disk do not load
	ReloadAt  prometheus.Gauge         // unix time of the last good one
	Reloaded  prometheus.Gauge         // unix time of the last one, good or not
	Whole     *prometheus.HistogramVec // seconds of a request, by stream
	Approvals *prometheus.CounterVec   // outcome: asked, allowed, denied, used, expired
	Pending   prometheus.Gauge         // approvals without an answer

	Shadows     *prometheus.CounterVec // experiment, outcome: same, differs, skipped, crashed, stuck
	Units       *prometheus.GaugeVec   // experiment, arm: that were in it
	Outcomes    *prometheus.GaugeVec   // experiment, arm, measure, of: sum, events
	Connections *prometheus.CounterVec // of confined commands, by outcome: connected, refused, failed
	Telemetry   *prometheus.CounterVec // spans of OpenTelemetry, by outcome: ended, sent, lost
	// requests that were refused because of load, by why: memory, waiting, late
	Shed *prometheus.CounterVec

	inference *inference

	Shared     *prometheus.CounterVec // asked, outcome: ok, failed, skipped
	SharedUp   *prometheus.GaugeVec   // 0 while the server that replicas share is away
	SharedLost prometheus.Counter     // what could not be written there
	Replicas   *prometheus.GaugeVec   // version: of the rules, and how many replicas have it in force
}

// New makes the counters, all of them listed.
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

// Labels are those of a request to a model, in arms of experiments, and more. Models and arms are ids
// of the rule files, whatever a caller sends, so there are few.
func Labels(model string, arms []string, more ...string) []string {
	return append([]string{model, strings.Join(arms, " ")}, more...)
}

const prefix = "gptoss_executor_"

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
	m.ReloadAt.Set(now())
	m.Reloaded.Set(now())
}

// Reload counts a change of the rule files by its result: taken, refused, or
// reverted to what is in force.
func (m *Metrics) Reload(result string) {
	m.Reloads.WithLabelValues(result).Inc()
	m.Reloaded.Set(now())
}

// now is the Unix time.
func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }

// DecisionLog counts for a decision log:
// records, decisions that were lost, errors of the disk, and seconds since its head moved on.
func (m *Metrics) DecisionLog(written, lost, failed, sinceHead func() float64) {
	m.registry.counterFunc("decisions_written_total", "Decisions in the decision log.", written)
	m.registry.counterFunc("decisions_lost_total", "Decisions that could not be written to the decision log.",
		lost)
	m.registry.counterFunc("decisions_errors_total", "Writes and syncs of the decision log that failed.",
		failed)
	m.registry.gaugeFunc("decisions_head_seconds", "Seconds since the head of the decision log moved on.",
		sinceHead)
}

// Captured counts recorded replies.
func (m *Metrics) Captured(written, dropped func() float64) {
	m.registry.counterFunc("captured_total", "Replies that were recorded.", written)
	m.registry.counterFunc("captures_dropped_total",
		"Replies that were to be recorded, and were too many at once.", dropped)
}

// Approval counts what became of a question to a person.
func (m *Metrics) Approval(outcome string) { m.Approvals.WithLabelValues(outcome).Inc() }

// PendingApprovals records how many questions wait.
func (m *Metrics) PendingApprovals(n int) { m.Pending.Set(float64(n)) }

// Observe counts a value of a histogram. If the trace of what had it is kept, it is an exemplar.
func Observe(h prometheus.Observer, n float64, at Place) {
	if e, ok := h.(prometheus.ExemplarObserver); ok && at.Kept && at.Trace != "" {
		e.ObserveWithExemplar(n, prometheus.Labels{"trace_id": at.Trace, "span_id": at.Span})
		return
	}
	h.Observe(n)
}
