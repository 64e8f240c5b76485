package console

import (
	"cmp"
	"context"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// health shows the state of the server.
type health struct {
	Upstreams []upstreamView
	Turns     int // that Upstreams counts
	Bars      []bar
	Hour      minute // sum of the last hour
	Rules     live.Report
	Age       time.Duration
	Refused   rulefile.Problems
	Memory    []pair
}

// upstreamView shows a model server and its last turns.
type upstreamView struct {
	upstream.FleetState
	Good              bool
	Turns, Failed     int
	Half, Most, First string // duration: median and 95th percentile; median time to the first text
}

// bar is one minute in the chart of the last hour.
type bar struct {
	X, Good, Mended, Warn, Bad   int // heights
	GoodY, MendedY, WarnY, BadY  int
	Title                        string
	From                         time.Time
	Turns, Repaired, Again, Fail int
}

const (
	barHeight = 64
	barStep   = 10
	lookTime  = 3 * time.Second // until a page stops waiting for a model server
)

func (c *Console) healthPage(r *http.Request, _ viewer) (any, error) {
	ctx, done := context.WithTimeout(r.Context(), lookTime)
	defer done()
	now := c.Now()
	h := &health{Rules: c.API.Rules.Report(false)}
	h.Age = now.Sub(h.Rules.Since)
	if h.Rules.Refused != nil {
		h.Refused = h.Rules.Refused.Problems
	}
	served, _ := c.Turns.Since(0, 1<<20, func(t *Turn) bool { return t.Done })
	h.Turns = len(served)
	for _, s := range c.Upstreams(ctx) {
		h.Upstreams = append(h.Upstreams, upstreamOf(s, served))
	}
	h.minutes(c.Turns.Minutes())
	h.Memory = c.memory(now)
	return h, nil
}

// upstreamOf combines a model server with the turns that it served.
func upstreamOf(s upstream.FleetState, served []Turn) upstreamView {
	v := upstreamView{FleetState: s, Good: s.Why == ""}
	var all, first []time.Duration
	for i := range served {
		t := &served[i]
		if t.Account.Upstream != s.Name {
			continue
		}
		if v.Turns++; t.Outcome() == Failed {
			v.Failed++
			continue
		}
		if all = append(all, t.Took); t.Account.First > 0 {
			first = append(first, t.Account.First)
		}
	}
	v.Half, v.Most, v.First = quantile(all, .5), quantile(all, .95), quantile(first, .5)
	return v
}

func quantile(list []time.Duration, q float64) string {
	if len(list) == 0 {
		return "–"
	}
	slices.Sort(list)
	return duration(list[int(q*float64(len(list)-1)+.5)])
}

// minutes draws the last hour.
func (h *health) minutes(list []minute) {
	most := 1
	for _, m := range list {
		most = max(most, m.Turns)
	}
	for i, m := range list {
		h.Hour.Turns += m.Turns
		h.Hour.Repaired += m.Repaired
		h.Hour.Again += m.Again
		h.Hour.Bad += m.Bad
		h.Hour.Calls += m.Calls
		high := func(n int) int { return (n*barHeight + most - 1) / most }
		b := bar{X: i * barStep, Bad: high(m.Bad), Warn: high(m.Again), Mended: high(m.Repaired),
			From:  m.From,
			Turns: m.Turns, Repaired: m.Repaired, Again: m.Again, Fail: m.Bad}
		b.Good = max(0, high(m.Turns)-b.Bad-b.Warn-b.Mended)
		b.BadY = barHeight - b.Bad
		b.WarnY = b.BadY - b.Warn
		b.MendedY = b.WarnY - b.Mended
		b.GoodY = b.MendedY - b.Good
		h.Bars = append(h.Bars, b)
	}
}

// memory describes the memory of the program and the console.
func (c *Console) memory(now time.Time) []pair {
	read := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(read)
	turns, bytes := c.Turns.Size()
	lost := "–"
	if n := c.API.Decisions.Stats().Lost; n > 0 {
		lost = terminal.Count(int(n), "decision")
	}
	return []pair{
		{"Decisions not logged", lost},
		{"Up for", duration(now.Sub(c.started))},
		{"Heap", size(int64(read[0].Value.Uint64()))},
		{"Memory from the system", size(int64(read[1].Value.Uint64() - read[2].Value.Uint64()))},
		{"Goroutines", tokenWords(runtime.NumGoroutine())},
		{"Turns kept", terminal.Count(turns, "turn") + ", " + size(bytes)},
		{"Open pages", tokenWords(len(c.watching))},
		{"Version", cmp.Or(c.Version, "–")},
	}
}

// Outcome is the result of a turn in one word.
type Outcome string

// Outcomes, in order: the first one that applies counts.
const (
	running  Outcome = "running"
	Failed   Outcome = "failed"   // answered with an error
	Denied   Outcome = "denied"   // the policy denied a call
	givenUp  Outcome = "given-up" // a fault remained: the user reads a sentence or part of an answer
	Again    Outcome = "again"    // the model was asked again
	Repaired Outcome = "repaired" // a call was repaired, or read from the text
	Good     Outcome = "good"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{running, Failed, Denied, givenUp, Again, Repaired, Good} }

// Outcome returns that of the turn.
func (t *Turn) Outcome() Outcome {
	if !t.Done {
		return running
	}
	denied, repaired := false, false
	for i := range t.Replies {
		r := &t.Replies[i].Reading
		denied = denied || r.Denied()
		for k := range r.Calls {
			repaired = repaired || len(guard.Repairs(&r.Calls[k])) > 0
		}
	}
	return outcomeOf(t.Status, &t.Account, denied, repaired)
}

// outcomeOf returns the outcome of a turn that has ended.
func outcomeOf(status int, a *turn.Account, denied, repaired bool) Outcome {
	switch {
	case status >= http.StatusBadRequest:
		return Failed
	case denied:
		return Denied
	case len(a.Faults) > 0 && a.Faults[len(a.Faults)-1].Action == ruleset.GiveUp:
		return givenUp
	case a.Again > 0:
		return Again
	case repaired:
		return Repaired
	}
	return Good
}

// minute counts the turns of one minute.
type minute struct {
	From                               time.Time
	Turns, Repaired, Again, Bad, Calls int
}

// minutes counts the last hour.
type minutes struct{ list [60]minute }

// at returns the counts of a minute, and clears those that are too old.
func (m *minutes) at(now time.Time) *minute {
	const last = 59
	is := now.Truncate(time.Minute)
	switch gap := int(is.Sub(m.list[last].From) / time.Minute); {
	case gap <= 0 && !m.list[last].From.IsZero():
	case gap > last || m.list[last].From.IsZero():
		for i := range m.list {
			m.list[i] = minute{From: is.Add(time.Duration(i-last) * time.Minute)}
		}
	default:
		copy(m.list[:], m.list[gap:])
		for i := range gap {
			m.list[last-i] = minute{From: is.Add(-time.Duration(i) * time.Minute)}
		}
	}
	return &m.list[last]
}

// count counts a turn that has ended.
func (m *minutes) count(now time.Time, t *Turn) {
	in := m.at(now)
	in.Turns++
	in.Calls += t.Account.Calls
	switch t.Outcome() {
	case Failed, Denied, givenUp:
		in.Bad++
	case Again:
		in.Again++
	case Repaired:
		in.Repaired++
	}
}
