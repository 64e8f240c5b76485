package experiment

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxJobs is how many replies may wait for a shadow. Others are skipped, so that a slow shadow delays no
// request.
const (
	maxJobs  = 64
	maxWaits = 4 << 20 // bytes of all of them
)

// Shadows rest nine times as long as they read: together they use a tenth of one processor.
const (
	rests   = 9
	maxRest = time.Minute
)

// job is a reply for a shadow to read.
type job struct {
	assignment    *Assignment
	trial         *trial
	arm           string       // EXPERIMENT/ARM
	first, second *ruleset.Set // of the serving arm and of the shadow
	reply         *turn.Reply
	size          int64 // bytes that it holds
}

// shadowed is a shadow experiment of a request.
type shadowed struct {
	trial *trial
	of    *Experiment
}

// by reads the reply by a rule set, without judging the calls.
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

// shadow queues a reply for the other arms of shadow experiments.
func (s *Assignment) shadow(h *turn.Reply) {
	size := int64(len(s.messages) + len(h.Whole.Content) + len(h.Whole.Reasoning) + len(h.Reading.Content))
	for i := range h.Whole.Calls {
		size += 2 * int64(len(h.Whole.Calls[i].Arguments)) // they are in the reading as well
	}
	for i := range h.Tools {
		size += int64(len(h.Tools[i].Parameters))
	}
	cloned, tr := false, s.tracker
	for _, in := range s.shadows {
		for _, arm := range in.of.Arms[1:] {
			name := in.of.ID + "/" + arm.Name
			if tr.waits.Add(size) <= maxWaits {
				if !cloned { // they would keep the whole request in memory
					h.Tools, cloned = ownTools(h.Tools), true
				}
				select {
				case tr.shadows <- job{s, in.trial, name, s.Set, s.base.Under([]string{name}), h, size}:
					continue
				default:
				}
			}
			tr.waits.Add(-size)
			tr.Metrics.Shadows.WithLabelValues(in.of.ID, "skipped").Inc()
		}
	}
}

// A reading cannot be interrupted. One that exceeds patience is abandoned, and its experiment ends. While
// so many are abandoned no shadow reads, since each may use a processor.
const (
	patience = 10 * time.Second
	maxStuck = 2
)

// Shadows reads queued replies until ctx ends.
func (tr *Tracker) Shadows(ctx context.Context) {
	var stuck []<-chan struct{} // abandoned readings
	for rest := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case j := <-tr.shadows:
			stuck = slices.DeleteFunc(stuck, over)
			if len(stuck) >= maxStuck || tr.stopped(j.trial) {
				tr.waits.Add(-j.size)
				tr.Metrics.Shadows.WithLabelValues(j.trial.ID, "skipped").Inc()
				continue
			}
			began := time.Now()
			if reading := tr.attempt(ctx, j); !over(reading) && ctx.Err() == nil {
				stuck = append(stuck, reading)
				tr.leave(j, len(stuck))
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

// attempt waits a while for a reading. The channel is closed when it ends.
func (tr *Tracker) attempt(ctx context.Context, j job) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.read(j)
		tr.waits.Add(-j.size)
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	case <-ctx.Done():
		select { // others end within milliseconds
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

func (tr *Tracker) stopped(t *trial) bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return t.Stopped != ""
}

// leave abandons a reading that does not end.
func (tr *Tracker) leave(j job, stuck int) {
	tr.Metrics.Shadows.WithLabelValues(j.trial.ID, "stuck").Inc()
	tr.Log.Error("the reading of a shadow does not end and holds a processor; only a restart of the server ends it. Please report it with the reply, which a capture rule may have recorded",
		"event", "shadow_stuck", "experiment", j.trial.ID, "arm", j.arm, "request", j.assignment.id,
		"stuck", stuck,
		"shadows_go_on", stuck < maxStuck)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.stop(j.trial, fmt.Sprintf("the shadow of %s did not end reading a reply within %s", j.arm, patience))
}

func ownTools(list []tools.Tool) []tools.Tool {
	out := slices.Clone(list)
	for i := range out {
		out[i].Parameters = slices.Clone(out[i].Parameters)
	}
	return out
}

// read reads with one shadow, and contains its panics.
func (tr *Tracker) read(j job) {
	defer func() {
		if crash := recover(); crash != nil {
			tr.Metrics.Shadows.WithLabelValues(j.trial.ID, "crashed").Inc()
			now := tr.Now()
			if now.Sub(tr.crashed) < time.Minute {
				return // a shadow that crashes on every reply would fill the log
			}
			tr.crashed = now
			tr.Log.Error("a shadow crashed", "event", "shadow_crashed", "experiment", j.trial.ID,
				"detail", fmt.Sprint(crash), "stack", string(debug.Stack()))
		}
	}()
	outcome, other := "same", j.by(j.second)
	if !same(j.by(j.first), other) {
		outcome = "differs"
		j.assignment.differs(j.reply, j.arm, other)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if j.trial.Read++; outcome == "differs" {
		j.trial.Differs++
	}
	tr.dirty = true
	tr.Metrics.Shadows.WithLabelValues(j.trial.ID, outcome).Inc()
}
