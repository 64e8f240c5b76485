package lab

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxJobs is how many replies wait for a shadow. What comes while they do is not read: a slow
// shadow costs nobody anything.
const maxJobs = 64

// job is a reply that a shadow shall read.
type job struct {
	seat          *Seat
	trial         *trial
	arm           string
	first, second *ruleset.Set // that served, and the shadow's
	heard         turn.Heard
}

// made is what a reading came to.
type made struct{ reading *parse.Reading }

// by reads the reply by a rule set. Nobody judges the calls.
func (j *job) by(set *ruleset.Set) made {
	r := set.Strategies(j.heard.Profile).Reader(tools.NewCatalog(set.Tools, tools.NewSchemas(16), j.heard.Tools), j.heard.Facts)
	r.Feed(j.heard.Said)
	reading, _ := r.Close(j.heard.Finish)
	return made{&reading}
}

func (m made) same(o made) bool {
	return m.reading.Content == o.reading.Content && slices.EqualFunc(m.reading.Calls, o.reading.Calls, func(a, b tools.Call) bool {
		return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments)
	})
}

// shadow has the other arms of shadow experiments read a reply, later.
func (s *Seat) shadow(h *turn.Heard) {
	x := s.base.Experiments.List
	for _, p := range s.places {
		for i := range x {
			e := &x[i]
			if e.ID != p.of.ID || !e.Shadow {
				continue
			}
			for _, arm := range e.Arms[1:] {
				select {
				case s.lab.shadows <- job{s, p.of, arm.Name, s.Set, s.base.Under([]string{e.ID + "/" + arm.Name}), *h}:
				default:
					s.lab.Metrics.Shadows.WithLabelValues(e.ID, "skipped").Inc()
				}
			}
		}
	}
}

// Shadows reads what waits for shadows until ctx ends.
func (l *Lab) Shadows(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-l.shadows:
			l.read(j)
		}
	}
}

// read lets one shadow read. Whatever it does stays here.
func (l *Lab) read(j job) {
	defer func() {
		if crash := recover(); crash != nil {
			l.Metrics.Shadows.WithLabelValues(j.trial.ID, "crashed").Inc()
			l.Log.Error("a shadow crashed", "event", "shadow_crashed", "experiment", j.trial.ID, "detail", fmt.Sprint(crash), "stack", string(debug.Stack()))
		}
	}()
	outcome, other := "same", j.by(j.second)
	same := j.by(j.first).same(other)
	if !same {
		j.seat.differs(&j.heard, j.trial.ID+"/"+j.arm, other)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	j.trial.Read++
	if !same {
		j.trial.Differs++
		outcome = "differs"
	}
	l.dirty = true
	l.Metrics.Shadows.WithLabelValues(j.trial.ID, outcome).Inc()
}
