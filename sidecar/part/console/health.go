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
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
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
