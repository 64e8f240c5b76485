package guard

import (
	"cmp"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Observer receives each decision about the calls of one request. Its zero value ignores them.
type Observer struct {
	Log     *slog.Logger       // of the request; nil: the guard's
	Decided func(CallDecision) // may be nil
}

// CallDecision is a decision about a call.
type CallDecision struct {
	Tool        string
	Effect      policy.Effect
	Rule, Place string // of the rule, and file:line
	Outcome     decisions.Outcome
}

// observe passes the decision about a call to the observer, and those that only audit.
func (j *judge) observe(call *tools.Call, v *judgement, refusal *tools.Refusal) {
	if j.observer.Decided == nil {
		return
	}
	j.observer.Decided(CallDecision{call.Name, cmp.Or(v.Effect, policy.Allow), cmp.Or(v.Rule, "default"),
		v.Place,
		j.outcome(call, refusal)})
	for _, f := range v.Audits {
		j.observer.Decided(CallDecision{call.Name, policy.Audit, f.Rule, f.Place, j.outcome(call, refusal)})
	}
}

// outcome returns how a call leaves, or that it does not.
func (j *judge) outcome(call *tools.Call, refusal *tools.Refusal) decisions.Outcome {
	switch {
	case j.hook != nil && j.hook.question != nil:
		return decisions.Asked
	case refusal != nil:
		return decisions.Refused
	}
	return OutcomeOf(call)
}

func (j *judge) log() *slog.Logger { return cmp.Or(j.observer.Log, j.Log) }

// Repairs returns the kinds of repairs in a call, for metrics. One is that the server had not parsed
// the call and another strategy found it. Marks of the policy are not included.
func Repairs(call *tools.Call) (kinds []string) {
	if call.Strategy != "" && call.Strategy != string(parse.Native) {
		kinds = append(kinds, "call.text")
	}
	for _, r := range call.Repairs {
		if !ByPolicy(r) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}

// report counts and logs what the policy said of a call.
func (j *judge) report(call *tools.Call, d policy.Decision) {
	for _, f := range d.Audits {
		j.reportRule(call, policy.Audit, f.Rule, f.Place, f.Why, f.Effect)
	}
	if d.Effect == policy.Deny || d.Effect == policy.Ask {
		j.reportRule(call, d.Effect, d.Rule, d.Place, d.Why, d.Effect)
	} else if d.Place != "" {
		j.Metrics.Hits.WithLabelValues(j.labels(fileOf(d.Place), d.Rule)...).Inc()
	}
}

// reportRule counts and logs what one rule said. A dry run logs one line a minute.
func (j *judge) reportRule(call *tools.Call, effect policy.Effect, rule, place, why string,
	would policy.Effect) {
	file := fileOf(place)
	j.Metrics.Decisions.WithLabelValues(j.labels(string(effect), file, cmp.Or(rule, "default"))...).Inc()
	if file != "" {
		j.Metrics.Hits.WithLabelValues(j.labels(file, rule)...).Inc()
	}
	if effect == policy.Audit && !j.dryRuns.allow(place+" "+rule+" "+string(would), j.Now()) {
		return
	}
	fields := []any{"event", "policy_" + string(effect)}
	if effect == policy.Audit {
		fields = append(fields, "would", would)
	}
	j.log().Warn("policy", append(fields, "tool", call.Name, "strategy", call.Strategy,
		"rule", rule, "place", place, "why", why, "workspace", j.world.Roots(j.set).Workspace(), "agent",
		j.who.Agent, "session", j.who.Session, "rules", j.set.Version)...)
}

// labels returns the labels of a metric: model and arms, and more.
func (j *judge) labels(more ...string) []string {
	return telemetry.Labels(j.who.Model, j.set.Arms, more...)
}

// fileOf returns the file of a place file:line.
func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}

// throttle limits how often lines of one kind are logged.
type throttle struct {
	every time.Duration // 0: only once
	mu    sync.Mutex
	last  *recent.Map[time.Time]
}

func newThrottle(every time.Duration) *throttle {
	return &throttle{every: every, last: recent.New[time.Time](maxKinds, nil)}
}

// maxKinds is how many kinds are remembered.
const maxKinds = 4096

func (q *throttle) allow(kind string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	last, first := q.last.Use(kind)
	if !first && (q.every == 0 || now.Sub(*last) < q.every) {
		return false
	}
	*last = now
	return true
}
