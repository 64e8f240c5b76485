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

// Metrics are the counters of one process. New says what each counts, by which labels.
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
