package main

// section is a row of the dashboard.
type section struct {
	title  string
	closed bool // until a viewer opens it
	panels []panel
}

// panel is a picture of some queries.
type panel struct {
	title, about string
	unit         string // as Grafana names it
	kind         kind
	width        int // of 24 columns
	queries      []query
	marks        []mark // from where on a number is another colour
}

type kind string

const (
	lines  kind = "timeseries"
	stack  kind = "stack" // lines on top of each other
	number kind = "stat"
	table  kind = "table"
)

// query is PromQL, and what a line of its answer is called.
type query struct{ expr, legend string }

// mark is a colour from a value on.
type mark struct {
	from   float64
	colour string
}

// of chooses what the reader has chosen above the panels.
const of = `job="$job", instance=~"$instance"`

// ofModel is the same for metrics that know the model.
const ofModel = of + `, model=~"$model"`

// broken are the faults after which a caller has no answer of the model, as in rules.yaml.
const broken = `action="give_up", fault!~"denied|overflow|length|cut|filtered|rejected"`

// sections is the dashboard, from the top down: first whether it is well, then why not.
func sections() []section {
	return []section{well(), traffic(), repairs(), policy(), servers(), rules(), replicas(), experiments(),
		process()}
}

func well() section {
	const budget = "Of the requests of the chosen time. The objective is 99.5 %."
	return section{title: "Is it well?", panels: []panel{
		{title: "Answered", about: budget, unit: "percentunit", kind: number, width: 4,
			queries: []query{{`1 - (sum(increase(gptoss_executor_faults_total{` + ofModel + `, ` + broken +
				`}[$__range]) or increase(gptoss_executor_requests_total{` + ofModel +
				`, status="500"}[$__range]) or increase(gptoss_executor_load_refused_total{` + of +
				`}[$__range])) or vector(0)) / sum(increase(gptoss_executor_requests_total{` + ofModel +
				`, status!~"499|429"}[$__range]))`, ""}},
			marks: []mark{{0, "red"}, {.995, "green"}}},
		{title: "Begun within 10 s", about: "Replies of the model server. The objective is 95 %.", unit: "percentunit", kind: number, width: 4,
			queries: []query{{`sum(increase(gptoss_executor_upstream_first_seconds_bucket{` + of +
				`, le=~"10|10[.]0"}[$__range])) / sum(increase(gptoss_executor_upstream_first_seconds_count{` + of + `}[$__range]))`, ""}},
			marks: []mark{{0, "red"}, {.95, "green"}}},
		{title: "Instances", about: "Those that answer Prometheus.", unit: "short", kind: number, width: 4,
			queries: []query{{`sum(up{` + of + `})`, ""}}, marks: []mark{{0, "red"}, {1, "green"}}},
		{title: "Rules on disk load", about: "1: yes, everywhere. 0: somewhere the rules before the last edit are in force.", unit: "short", kind: number, width: 4,
			queries: []query{{`min(gptoss_executor_rules_last_reload_successful{` + of + `})`, ""}},
			marks:   []mark{{0, "red"}, {1, "green"}}},
		{title: "Calls that wait for a person", unit: "short", kind: number, width: 4,
			queries: []query{{`sum(gptoss_executor_approvals_pending{` + of + `})`, ""}},
			marks:   []mark{{0, "green"}, {1, "orange"}}},
		{title: "Servers left alone", about: "Model servers that fail, and get no requests.", unit: "short", kind: number, width: 4,
			queries: []query{{`sum(gptoss_executor_upstream_state{` + of + `, state!="closed"}) or vector(0)`,
				""}}, marks: []mark{{0, "green"}, {1, "red"}}},
	}}
}

func traffic() section {
	return section{title: "Traffic", panels: []panel{
		{title: "Requests by status", about: "499: the caller left.", unit: "reqps", kind: stack, width: 12,
			queries: []query{{`sum by (status) (rate(gptoss_executor_requests_total{` + ofModel +
				`}[$__rate_interval]))`, "{{status}}"}}},
		{title: "Open streams", unit: "short", kind: lines, width: 12,
			queries: []query{{`sum by (instance) (gptoss_executor_open_streams{` + of + `})`,
				"{{instance}}"}}},
		{title: "Served and waiting", about: "At load.at_once of limits.yaml requests begin to wait, one line for each session.", unit: "short", kind: lines, width: 8,
			queries: []query{{`sum by (instance) (gptoss_executor_load_inside{` + of + `})`,
				"{{instance}} served"}, {`sum by (instance) (gptoss_executor_load_waiting{` + of + `})`,
				"{{instance}} waiting"}}},
		{title: "Refused because of load", about: "They got 503. memory: it is short. waiting: too many wait. late: it waited too long.", unit: "reqps", kind: stack, width: 8,
			queries: []query{{`sum by (why) (rate(gptoss_executor_load_refused_total{` + of +
				`}[$__rate_interval]))`, "{{why}}"}}},
		{title: "Turned away", about: "Requests to which no answer was begun, by status. Many 401: somebody tries tokens.", unit: "reqps", kind: stack, width: 8,
			queries: []query{{`sum by (status) (rate(gptoss_executor_requests_refused_total{` + of +
				`}[$__rate_interval]))`, "{{status}}"}}},
		{title: "Seconds until the model server begins", unit: "s", kind: lines, width: 12, queries: quantiles("gptoss_executor_upstream_first_seconds_bucket", of)},
		{title: "Seconds of a whole request", unit: "s", kind: lines, width: 12, queries: quantiles("gptoss_executor_request_seconds_bucket", of)},
		{title: "Tokens by kind", about: "Reasoning is a part of completion. What they cost: docs/cost.md.", unit: "short", kind: lines, width: 12,
			queries: []query{{`sum by (kind) (rate(gptoss_executor_tokens_total{` + ofModel +
				`}[$__rate_interval]))`, "{{kind}} a second"}}},
		{title: "Runs of executor mode by how they ended", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (status) (increase(gptoss_executor_runs_total{` + ofModel +
				`}[$__rate_interval]))`, "{{status}}"}}},
	}}
}

// quantiles are half, nine of ten and 99 of a hundred of a histogram.
func quantiles(bucket, labels string) (out []query) {
	for _, q := range [][2]string{{"0.5", "p50"}, {"0.9", "p90"}, {"0.99", "p99"}} {
		out = append(out, query{`histogram_quantile(` + q[0] + `, sum by (le) (rate(` + bucket +
			`{` + labels + `}[$__rate_interval])))`, q[1]})
	}
	return out
}

func repairs() section {
	return section{title: "What was repaired", panels: []panel{
		{title: "Faults by kind", about: "What is wrong with replies or their server.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (fault) (increase(gptoss_executor_faults_total{` + ofModel +
				`}[$__rate_interval]))`, "{{fault}}"}}},
		{title: "Faults by what was done", about: "give_up: the caller got an error or a sentence.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (action) (increase(gptoss_executor_faults_total{` + ofModel +
				`}[$__rate_interval]))`, "{{action}}"}}},
		{title: "Calls by strategy", about: "native: the model server found the call itself.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (strategy) (increase(gptoss_executor_calls_total{` + ofModel +
				`}[$__rate_interval]))`, "{{strategy}}"}}},
		{title: "Repairs of calls by kind", unit: "short", kind: stack, width: 12,
			queries: []query{
				{`sum by (kind) (increase(gptoss_executor_repairs_total{` + ofModel + `}[$__rate_interval]))`, "{{kind}}"},
				{`sum(increase(gptoss_executor_repeated_calls_total{` + ofModel + `}[$__rate_interval]))`, "made once"},
			}},
		{title: "Texts that looked like a call and were none", about: "not_offered shows missing aliases.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (code) (increase(gptoss_executor_refusals_total{` + ofModel +
				`}[$__rate_interval]))`, "{{code}}"}}},
		{title: "Sentences in place of an answer", about: "What the user reads: say in recovery.yaml.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (fault) (increase(gptoss_executor_said_total{` + ofModel +
				`}[$__rate_interval]))`, "{{fault}}"}}},
		{title: "Replies that left byte for byte", unit: "percentunit", kind: lines, width: 12,
			queries: []query{{`sum(rate(gptoss_executor_untouched_total{` + of +
				`}[$__rate_interval])) / sum(rate(gptoss_executor_requests_total{` + of +
				`, status="200"}[$__rate_interval]))`, "untouched"}}},
		{title: "Rules with a part in replies", about: "The twenty busiest of the chosen time.", unit: "short", kind: table, width: 12,
			queries: []query{{`topk(20, sum by (file, rule) (increase(gptoss_executor_rule_hits_total{` +
				ofModel + `}[$__range])))`, ""}}},
	}}
}

func policy() section {
	return section{title: "What may run", panels: []panel{
		{title: "Decisions that held a call back", about: "deny, ask, and audit: what a dry run would have done.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (effect) (increase(gptoss_executor_policy_decisions_total{` + ofModel +
				`}[$__rate_interval]))`, "{{effect}}"}}},
		{title: "By rule", about: "The twenty busiest of the chosen time. No file: the profile decided, or the arguments could not be judged.", unit: "short", kind: table, width: 12,
			queries: []query{{`topk(20, sum by (effect, file, rule) (increase(gptoss_executor_policy_decisions_total{` + ofModel + `}[$__range])))`, ""}}},
		{title: "Questions to a person", unit: "short", kind: stack, width: 8,
			queries: []query{{`sum by (outcome) (increase(gptoss_executor_approvals_total{` + of +
				`}[$__rate_interval]))`, "{{outcome}}"}}},
		{title: "Connections of confined commands", unit: "short", kind: stack, width: 8,
			queries: []query{{`sum by (outcome) (increase(gptoss_executor_connections_total{` + of +
				`}[$__rate_interval]))`, "{{outcome}}"}}},
		{title: "Decision log", about: "Lost and errors must be 0.", unit: "short", kind: lines, width: 8, queries: []query{
			{`sum(increase(gptoss_executor_decisions_written_total{` + of + `}[$__rate_interval]))`, "written"},
			{`sum(increase(gptoss_executor_decisions_lost_total{` + of + `}[$__rate_interval]))`, "lost"},
			{`sum(increase(gptoss_executor_decisions_errors_total{` + of + `}[$__rate_interval]))`, "errors"}}},
		{title: "Calls of runs by tool and outcome", unit: "short", kind: table, width: 12,
			queries: []query{{`sum by (tool, outcome) (increase(gptoss_executor_run_calls_total{` + ofModel +
				`}[$__range]))`, ""}}},
		{title: "Seconds since the head of the decision log moved on", about: "It moves on every five minutes.", unit: "s", kind: lines, width: 12,
			queries: []query{{`max by (instance) (gptoss_executor_decisions_head_seconds{` + of + `})`,
				"{{instance}}"}}},
	}}
}

func servers() section {
	return section{title: "Model servers", panels: []panel{
		{title: "Requests by server and outcome", unit: "reqps", kind: stack, width: 12,
			queries: []query{{`sum by (upstream, outcome) (rate(gptoss_executor_upstream_requests_total{` +
				of + `}[$__rate_interval]))`, "{{upstream}} {{outcome}}"}}},
		{title: "Instances for which a server is in a state", about: "closed: it is asked. open: it failed too often. half_open: one request tries it.", unit: "short", kind: lines, width: 12,
			queries: []query{{`sum by (upstream, state) (gptoss_executor_upstream_state{` + of + `})`,
				"{{upstream}} {{state}}"}}},
		{title: "Seconds of a request to a server, nine of ten", about: "By what the server calls its model.", unit: "s", kind: lines, width: 12,
			queries: []query{{`histogram_quantile(0.9, sum by (le, upstream, gen_ai_request_model) (rate(gen_ai_client_operation_duration_seconds_bucket{` + ofModel + `}[$__rate_interval])))`, "{{upstream}} {{gen_ai_request_model}}"}}},
		{title: "Seconds until the first piece of a stream, nine of ten", unit: "s", kind: lines, width: 12,
			queries: []query{{`histogram_quantile(0.9, sum by (le, upstream, gen_ai_request_model) (rate(gen_ai_client_operation_time_to_first_chunk_seconds_bucket{` + ofModel + `}[$__rate_interval])))`, "{{upstream}} {{gen_ai_request_model}}"}}},
		{title: "Requests to a server by fault", about: "Without a fault: error_type is empty.", unit: "short", kind: stack, width: 12,
			queries: []query{{`sum by (upstream, error_type) (increase(gen_ai_client_operation_duration_seconds_count{` + ofModel + `}[$__rate_interval]))`, "{{upstream}} {{error_type}}"}}},
		{title: "Tokens of a request, the mean", about: "How long prompts and replies are.", unit: "short", kind: lines, width: 12,
			queries: []query{{`sum by (gen_ai_token_type) (rate(gen_ai_client_token_usage_sum{` + ofModel +
				`}[$__rate_interval])) / sum by (gen_ai_token_type) (rate(gen_ai_client_token_usage_count{` + ofModel + `}[$__rate_interval]))`, "{{gen_ai_token_type}}"}}},
	}}
}

func rules() section {
	return section{title: "Rules", panels: []panel{
		{title: "Instances by version in force", about: "More than one for long: the instances do not agree.", unit: "short", kind: stack, width: 8,
			queries: []query{{`count by (version) (gptoss_executor_rules_info{` + of + `})`, "{{version}}"}}},
		{title: "Edits by result", unit: "short", kind: stack, width: 8,
			queries: []query{{`sum by (result) (increase(gptoss_executor_rules_reloads_total{` + of +
				`}[$__rate_interval]))`, "{{result}}"}}},
		{title: "Age of the rules in force", unit: "s", kind: lines, width: 8, queries: []query{
			{`time() - max by (instance) (gptoss_executor_rules_last_reload_success_timestamp_seconds{` + of + `})`, "{{instance}} in force since"},
			{`time() - max by (instance) (gptoss_executor_rules_last_reload_timestamp_seconds{` + of + `})`, "{{instance}} last tried"}}},
		{title: "Files in force", unit: "short", kind: table, width: 24,
			queries: []query{{`count by (file, sha256) (gptoss_executor_rules_file_info{` + of + `})`, ""}}},
	}}
}

func replicas() section {
	return section{title: "Replicas", closed: true, panels: []panel{
		{title: "The server that they share is there", about: "0: approvals pass nowhere, the rest is local. docs/replicas.md", unit: "short", kind: lines, width: 8,
			queries: []query{{`min by (instance) (gptoss_executor_shared_up{` + of + `})`, "{{instance}}"}}},
		{title: "Questions to it", unit: "short", kind: stack, width: 8, queries: []query{
			{`sum by (asked, outcome) (increase(gptoss_executor_shared_asks_total{` + of + `}[$__rate_interval]))`, "{{asked}} {{outcome}}"},
			{`sum(increase(gptoss_executor_shared_lost_total{` + of + `}[$__rate_interval]))`, "could not be written"}}},
		{title: "Replicas by version of the rules, as each sees it", unit: "short", kind: lines, width: 8,
			queries: []query{{`gptoss_executor_replicas{` + of + `}`, "{{instance}} sees {{version}}"}}},
	}}
}

func experiments() section {
	return section{title: "Experiments, recording, traces", closed: true, panels: []panel{
		{title: "Units in each arm", unit: "short", kind: lines, width: 8,
			queries: []query{{`sum by (experiment, arm) (gptoss_executor_experiment_units{` + of + `})`,
				"{{experiment}} {{arm}}"}}},
		{title: "Mean of each measure by arm", unit: "short", kind: lines, width: 8,
			queries: []query{{`sum by (experiment, arm, measure) (gptoss_executor_experiment_outcomes{` + of +
				`, of="sum"}) / sum by (experiment, arm, measure) (gptoss_executor_experiment_outcomes{` + of + `, of="events"})`, "{{experiment}} {{arm}} {{measure}}"}}},
		{title: "Shadow readings", unit: "short", kind: stack, width: 8,
			queries: []query{{`sum by (experiment, outcome) (increase(gptoss_executor_shadow_readings_total{` + of + `}[$__rate_interval]))`, "{{experiment}} {{outcome}}"}}},
		{title: "Recorded replies", unit: "short", kind: lines, width: 24, queries: []query{
			{`sum(increase(gptoss_executor_captured_total{` + of + `}[$__rate_interval]))`, "recorded"},
			{`sum(increase(gptoss_executor_captures_dropped_total{` + of + `}[$__rate_interval]))`, "too many at once"}}},
		{title: "Spans for a collector", about: "sent must follow ended; lost must be 0.", unit: "short", kind: lines, width: 24,
			queries: []query{{`sum by (outcome) (increase(gptoss_executor_spans_total{` + of +
				`}[$__rate_interval]))`, "{{outcome}}"}}},
	}}
}

func process() section {
	each := func(metric string) []query {
		return []query{{`sum by (instance) (` + metric + `{` + of + `})`, "{{instance}}"}}
	}
	return section{title: "Process", closed: true, panels: []panel{
		{title: "Processor", about: "1 is one core.", unit: "short", kind: lines, width: 8,
			queries: []query{{`sum by (instance) (rate(process_cpu_seconds_total{` + of +
				`}[$__rate_interval]))`, "{{instance}}"}}},
		{title: "Resident memory", unit: "bytes", kind: lines, width: 8, queries: each("process_resident_memory_bytes")},
		{title: "Goroutines", unit: "short", kind: lines, width: 8, queries: each("go_goroutines")},
		{title: "Open files", unit: "short", kind: lines, width: 8, queries: each("process_open_fds")},
		{title: "Heap in use", unit: "bytes", kind: lines, width: 8, queries: each("go_memstats_heap_inuse_bytes")},
		{title: "Memory that lives, of its limit", about: "From load.shed of limits.yaml on new requests get 503. Empty where there is no limit.", unit: "percentunit", kind: lines, width: 8,
			queries: []query{{`max by (instance) (gptoss_executor_memory_in_use_bytes{` + of +
				`} / (gptoss_executor_memory_limit_bytes{` + of + `} > 0))`, "{{instance}}"}}},
		{title: "Memory is short", about: "1: new requests get 503.", unit: "short", kind: lines, width: 8, queries: each("gptoss_executor_load_shedding")},
		{title: "Up since", unit: "s", kind: lines, width: 8,
			queries: []query{{`time() - max by (instance) (process_start_time_seconds{` + of + `})`,
				"{{instance}}"}}},
	}}
}
