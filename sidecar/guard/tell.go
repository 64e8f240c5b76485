package guard

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// tell counts and logs what the policy said of a call.
func (j *judge) tell(call *tools.Call, d policy.Decision) {
	for _, f := range d.Audits {
		j.tellRule(call, policy.Audit, f.Rule, f.Place, f.Why, f.Effect)
	}
	if d.Effect == policy.Deny || d.Effect == policy.Ask {
		j.tellRule(call, d.Effect, d.Rule, d.Place, d.Why, d.Effect)
	} else if d.Place != "" {
		j.Metrics.Hits.WithLabelValues(j.labels(fileOf(d.Place), d.Rule)...).Inc()
	}
}

// tellRule counts what one rule said, and logs it. Of a dry run that holds often, one line
// a minute is enough.
func (j *judge) tellRule(call *tools.Call, effect policy.Effect, rule, place, why string,
	would policy.Effect) {
	file := fileOf(place)
	j.Metrics.Decisions.WithLabelValues(j.labels(string(effect), file, cmp.Or(rule, "default"))...).Inc()
	if file != "" {
		j.Metrics.Hits.WithLabelValues(j.labels(file, rule)...).Inc()
	}
	if effect == policy.Audit && !j.dryRuns.allow(place+" "+rule+" "+string(would), j.Now()) {
		return
	}
	said := []any{"event", "policy_" + string(effect)}
	if effect == policy.Audit {
		said = append(said, "would", would)
	}
	j.log().Warn("policy", append(said, "tool", call.Name, "strategy", call.Strategy,
		"rule", rule, "place", place, "why", why, "workspace", j.world.Roots(j.set).Workspace(), "agent",
		j.who.Agent, "session", j.who.Session, "rules", j.set.Version)...)
}

// labels are those of a metric: whose call it is, and more.
func (j *judge) labels(more ...string) []string {
	return telemetry.Labels(j.who.Model, j.set.Arms, more...)
}

// fileOf is the file of a place: file:line.
func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}

// quiet lets one line of a kind into the log in a while.
type quiet struct {
	every time.Duration // 0: only once
	mu    sync.Mutex
	last  *recent.Map[time.Time]
}

func newQuiet(every time.Duration) *quiet {
	return &quiet{every: every, last: recent.New[time.Time](maxQuiet, nil)}
}

// maxQuiet is how many kinds are remembered.
const maxQuiet = 4096

func (q *quiet) allow(kind string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	last, first := q.last.Use(kind)
	if !first && (q.every == 0 || now.Sub(*last) < q.every) {
		return false
	}
	*last = now
	return true
}
