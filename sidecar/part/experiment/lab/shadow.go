package lab

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxJobs is how many replies wait for a shadow. Further replies are not read: a slow shadow holds up no
// request.
const (
	maxJobs  = 64
	maxWaits = 4 << 20 // bytes of all of them
)

// Shadows rest nine times as long as they read: together they get a tenth of one processor.
const (
	rests   = 9
	maxRest = time.Minute
)

// job is a reply that a shadow shall read.
type job struct {
	assignment    *Assignment
	trial         *trial
	arm           string       // EXPERIMENT/ARM
	first, second *ruleset.Set // that served, and the shadow's
	reply         *turn.Reply
	size          int64 // bytes that it holds
}

// shade is a shadow experiment that a request is in.
type shade struct {
	trial *trial
	of    *experiment.Experiment
}

// by reads the reply by a rule set, and does not judge the calls.
func (j *job) by(set *ruleset.Set) *parse.Reading {
	r := set.Strategies(j.reply.Profile).Reader(tools.NewCatalog(set.Tools, tools.NewSchemas(16),
		j.reply.Tools), j.reply.Facts)
	r.Feed(j.reply.Whole)
	reading, _ := r.Close(j.reply.Finish)
	return &reading
}

func same(a, b *parse.Reading) bool {
	return a.Content == b.Content && slices.EqualFunc(a.Calls, b.Calls, func(a, b tools.Call) bool {
		return a.Name == b.Name && tools.SameJSON(a.Arguments, b.Arguments)
	})
}

// shadow has the other arms of shadow experiments read a reply, later.
func (s *Assignment) shadow(h *turn.Reply) {
	size := int64(len(s.messages) + len(h.Whole.Content) + len(h.Whole.Reasoning) + len(h.Reading.Content))
	for i := range h.Whole.Calls {
		size += 2 * int64(len(h.Whole.Calls[i].Arguments)) // they stand in the reading, too
	}
	for i := range h.Tools {
		size += int64(len(h.Tools[i].Parameters))
	}
	cloned := false
	for _, in := range s.shaded {
		for _, arm := range in.of.Arms[1:] {
			name := in.of.ID + "/" + arm.Name
			if s.lab.waits.Add(size) <= maxWaits {
				if !cloned { // they stand in the request, which would stay as a whole
					h.Tools, cloned = ownTools(h.Tools), true
				}
				select {
				case s.lab.shadows <- job{s, in.trial, name, s.Set, s.base.Under([]string{name}), h, size}:
					continue
				default:
				}
			}
			s.lab.waits.Add(-size)
			s.lab.Metrics.Shadows.WithLabelValues(in.of.ID, "skipped").Inc()
		}
	}
}

// A reading cannot be interrupted. One that takes longer than patience is left behind, and its
// experiment ends. While so many are left behind no shadow reads: each may hold a processor.
const (
	patience = 10 * time.Second
	maxStuck = 2
)

// Shadows reads what waits for shadows until ctx ends.
func (l *Lab) Shadows(ctx context.Context) {
	var stuck []<-chan struct{} // readings that were left behind
	for rest := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case j := <-l.shadows:
			stuck = slices.DeleteFunc(stuck, over)
			if len(stuck) >= maxStuck || l.stopped(j.trial) {
				l.waits.Add(-j.size)
				l.Metrics.Shadows.WithLabelValues(j.trial.ID, "skipped").Inc()
				continue
			}
			began := time.Now()
			if reading := l.attempt(ctx, j); !over(reading) && ctx.Err() == nil {
				stuck = append(stuck, reading)
				l.leave(j, len(stuck))
			}
			rest += rests * time.Since(began)
		}
		if rest > 5*time.Millisecond { // timers are no finer
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(rest, maxRest)):
				rest = 0
			}
		}
	}
}

// attempt waits for a reading for a while. The channel says when it is over.
func (l *Lab) attempt(ctx context.Context, j job) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.read(j)
		l.waits.Add(-j.size)
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	case <-ctx.Done():
		select { // those that end take milliseconds
		case <-done:
		case <-time.After(time.Second):
		}
	}
	return done
}

func over(reading <-chan struct{}) bool {
	select {
	case <-reading:
		return true
	default:
		return false
	}
}

func (l *Lab) stopped(t *trial) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.Stopped != ""
}

// leave gives up a reading that does not end.
func (l *Lab) leave(j job, stuck int) {
	l.Metrics.Shadows.WithLabelValues(j.trial.ID, "stuck").Inc()
	l.Log.Error("the reading of a shadow does not end and holds a processor; only a restart of the server ends it. Please report it with the reply, which a capture rule may have recorded",
		"event", "shadow_stuck", "experiment", j.trial.ID, "arm", j.arm, "request", j.assignment.id,
		"stuck", stuck,
		"shadows_go_on", stuck < maxStuck)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop(j.trial, fmt.Sprintf("the shadow of %s did not end reading a reply within %s", j.arm, patience))
}

func ownTools(list []tools.Tool) []tools.Tool {
	out := slices.Clone(list)
	for i := range out {
		out[i].Parameters = slices.Clone(out[i].Parameters)
	}
	return out
}

// read lets one shadow read. Whatever it does stays here.
func (l *Lab) read(j job) {
	defer func() {
		if crash := recover(); crash != nil {
			l.Metrics.Shadows.WithLabelValues(j.trial.ID, "crashed").Inc()
			now := l.Now()
			if now.Sub(l.crashed) < time.Minute {
				return // one that crashes on every reply would fill the log
			}
			l.crashed = now
			l.Log.Error("a shadow crashed", "event", "shadow_crashed", "experiment", j.trial.ID,
				"detail", fmt.Sprint(crash), "stack", string(debug.Stack()))
		}
	}()
	outcome, other := "same", j.by(j.second)
	if !same(j.by(j.first), other) {
		outcome = "differs"
		j.assignment.differs(j.reply, j.arm, other)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.trial.Read++; outcome == "differs" {
		j.trial.Differs++
	}
	l.dirty = true
	l.Metrics.Shadows.WithLabelValues(j.trial.ID, outcome).Inc()
}
