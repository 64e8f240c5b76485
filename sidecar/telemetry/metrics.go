// Package telemetry counts what the sidecar does, for Prometheus. It decides
// nothing and never sees the text of a reply.
package telemetry

import (
	"strings"
	"time"
)

// Metrics are the counters of one process.
type Metrics struct {
	list *list

	Requests  *Vec    // model, status
	Refused   *Vec    // status
	Tokens    *Vec    // model, kind: prompt, completion, reasoning (a part of completion)
	Runs      *Vec    // model, status: answered, unfinished, failed, left
	RunCalls  *Vec    // model, arm, tool, outcome: ok, failed, refused, doubt
	Calls     *Vec    // model, arm, strategy
	Repairs   *Vec    // model, arm, kind
	Repeated  *Vec    // model, arm
	Refusals  *Vec    // model, arm, code
	Hits      *Vec    // model, arm, file, rule
	Decisions *Vec    // model, arm, effect, file, rule
	Faults    *Vec    // model, arm, fault, action; those of the gateway have no model
	Said      *Vec    // model, arm, fault
	Upstreams *Vec    // upstream, outcome: served, answered, failed, left
	Untouch   *Series // replies that left byte for byte
	Open      *Series // streams being served
	First     *Series // seconds until the upstream began to answer
	Rules     *Vec    // version
	Files     *Vec    // file, sha256
	Reloads   *Vec    // result: taken, refused, reverted
	ReloadOK  *Series // 0 while the files on disk do not load
	ReloadAt  *Series // unix time of the last good one
	Reloaded  *Series // unix time of the last one, good or not
	Whole     *Vec    // seconds of a request, by stream
	Approvals *Vec    // outcome: asked, allowed, denied, used, expired
	Pending   *Series // approvals that nobody has answered yet

	Shadows     *Vec // experiment, outcome: same, differs, skipped, crashed, stuck
	Units       *Vec // experiment, arm: that were in it
	Outcomes    *Vec // experiment, arm, measure, of: sum, events
	Connections *Vec // of confined commands, by outcome: connected, refused, failed
	Telemetry   *Vec // spans of OpenTelemetry, by outcome: ended, sent, lost
	Shed        *Vec // requests that were refused because of load, by why: memory, waiting, late

	inference inference

	Shared     *Vec    // asked, outcome: ok, failed, skipped
	SharedUp   *Vec    // 0 while the server that replicas share is away
	SharedLost *Series // what could not be written there
	Replicas   *Vec    // version: of the rules, and how many replicas have it in force
}

// New makes the counters, all of them listed.
func New() *Metrics {
	l := &list{}
	counter := func(name, help string, labels ...string) *Vec {
		return l.add(&Vec{name: prefix + name, help: help, kind: kindCounter, labels: labels})
	}
	gauge := func(name, help string, labels ...string) *Vec {
		return l.add(&Vec{name: prefix + name, help: help, kind: kindGauge, labels: labels})
	}
	seconds := func(name, help string, labels ...string) *Vec {
		return l.add(&Vec{name: prefix + name, help: help, kind: kindHistogram, labels: labels})
	}
	return &Metrics{
		list: l, inference: newInference(l),
		Requests:  counter("requests_total", "Chat completion requests by model id and HTTP status.", "model", "status"),
		Refused:   counter("requests_refused_total", "Requests to which no answer was opened, by HTTP status.", "status"),
		Tokens:    counter("tokens_total", "Tokens as the model server counts them, by model id and kind: prompt, completion, and reasoning, which is a part of completion.", "model", "kind"),
		Runs:      counter("runs_total", "Runs of executor mode by model id and how they ended: answered, unfinished, failed, left.", "model", "status"),
		RunCalls:  counter("run_calls_total", "Calls of runs by tool and outcome: ok, failed, refused, doubt.", "model", "arm", "tool", "outcome"),
		Calls:     counter("calls_total", "Tool calls that left, by the strategy that found them.", "model", "arm", "strategy"),
		Repairs:   counter("repairs_total", "Repairs made to calls that left, by kind.", "model", "arm", "kind"),
		Repeated:  counter("repeated_calls_total", "Calls that stood in a reply once more, and were made once.", "model", "arm"),
		Refusals:  counter("refusals_total", "Text that looked like a call and was none, by reason.", "model", "arm", "code"),
		Hits:      counter("rule_hits_total", "Replies in which a rule had a part, by the rule.", "model", "arm", "file", "rule"),
		Decisions: counter("policy_decisions_total", "Calls that the policy denied, asked about, or would have (audit), by the rule and its file.", "model", "arm", "effect", "file", "rule"),
		Faults:    counter("faults_total", "Faults of the model or its server, by what was done.", "model", "arm", "fault", "action"),
		Said:      counter("said_total", "Answers that are a sentence of the rules, by the fault.", "model", "arm", "fault"),
		Upstreams: counter("upstream_requests_total", "Requests to a model server by its name and outcome: served, answered (it said why there is no reply), failed, left (the caller did).", "upstream", "outcome"),
		Untouch:   counter("untouched_total", "Replies that left byte for byte as they came.").WithLabelValues(),
		Open:      gauge("open_streams", "Streams being served.").WithLabelValues(),
		First:     seconds("upstream_first_seconds", "Seconds until the upstream began to answer.").WithLabelValues(),
		Whole:     seconds("request_seconds", "Seconds of a whole request.", "stream"),
		Approvals: counter("approvals_total", "Calls that a person was asked about, by what became of them: asked, allowed, denied, used, expired.", "outcome"),
		Pending:   gauge("approvals_pending", "Calls that wait for a person's answer.").WithLabelValues(),

		Shadows:     counter("shadow_readings_total", "Replies for shadows to read, by experiment and outcome: same, differs, skipped, crashed, stuck.", "experiment", "outcome"),
		Units:       gauge("experiment_units", "Units that were in an arm of an experiment.", "experiment", "arm"),
		Outcomes:    gauge("experiment_outcomes", "What is counted of an arm of an experiment, by measure: the sum, and of how many events.", "experiment", "arm", "measure", "of"),
		Connections: counter("connections_total", "Connections that confined commands wanted, by outcome: connected, refused, failed.", "outcome"),
		Telemetry:   counter("spans_total", "Spans of OpenTelemetry: ended (they wait to be sent), sent, lost. What has ended and is neither waits, or came while the queue was full.", "outcome"),
		Shed:        counter("load_refused_total", "Requests that got 503 because of load, by why: memory (it is short), waiting (too many wait), late (it waited too long).", "why"),
		Shared:      counter("shared_asks_total", "Questions to the server that replicas share, by what was asked and outcome: ok, failed, skipped (it was known to be away).", "asked", "outcome"),
		SharedUp:    gauge("shared_up", "1 while the server that replicas share is there; nothing where there is none."),
		SharedLost:  counter("shared_lost_total", "What could not be written to the server that replicas share.").WithLabelValues(),
		Replicas:    gauge("replicas", "Replicas seen in the last seconds, this one too, by the version of the rules that they have in force.", "version"),
		Rules:       gauge("rules_info", "1 for the version of the rules in force.", "version"),
		Files:       gauge("rules_file_info", "1 for each file of the rules in force: the first 12 digits of its sha256.", "file", "sha256"),
		Reloads:     counter("rules_reloads_total", "Changes of the rule files, by result.", "result"),
		ReloadOK:    gauge("rules_last_reload_successful", "1 while the last change of the rule files was taken up.").WithLabelValues(),
		ReloadAt:    gauge("rules_last_reload_success_timestamp_seconds", "When rules were last put in force.").WithLabelValues(),
		Reloaded:    gauge("rules_last_reload_timestamp_seconds", "When rules were last tried, with success or without.").WithLabelValues(),
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

// DecisionLog counts for a decision log, by what it tells whenever somebody asks:
// records, decisions that were lost, errors of the disk, and seconds since its head moved on.
func (m *Metrics) DecisionLog(written, lost, failed, sinceHead func() float64) {
	for _, v := range []*Vec{
		{name: "decisions_written_total", help: "Decisions in the decision log.", kind: kindCounter, read: written},
		{name: "decisions_lost_total", help: "Decisions that could not be written to the decision log.", kind: kindCounter, read: lost},
		{name: "decisions_errors_total", help: "Writes and syncs of the decision log that failed.", kind: kindCounter, read: failed},
		{name: "decisions_head_seconds", help: "Seconds since the head of the decision log moved on.", kind: kindGauge, read: sinceHead},
	} {
		v.name = prefix + v.name
		m.list.add(v)
	}
}

// Captured counts recorded replies, by what it tells whenever somebody asks.
func (m *Metrics) Captured(written, dropped func() float64) {
	m.list.add(&Vec{name: prefix + "captured_total", help: "Replies that were recorded.", kind: kindCounter, read: written})
	m.list.add(&Vec{name: prefix + "captures_dropped_total", help: "Replies that were to be recorded, and were too many at once.", kind: kindCounter, read: dropped})
}

// States shows how the model servers are, by what fill says whenever somebody asks.
func (m *Metrics) States(fill func(say func(upstream, state string))) {
	m.list.add(&Vec{name: prefix + "upstream_state", help: "1 for the state of a model server: closed (it is asked), open (it failed too often), half_open (one request tries it).",
		kind: kindGauge, labels: []string{"upstream", "state"}, fill: func(v *Vec) {
			fill(func(upstream, state string) { v.WithLabelValues(upstream, state).Set(1) })
		}})
}

// Approval counts what became of a question to a person.
func (m *Metrics) Approval(outcome string) { m.Approvals.WithLabelValues(outcome).Inc() }

// PendingApprovals records how many questions wait.
func (m *Metrics) PendingApprovals(n int) { m.Pending.Set(float64(n)) }
