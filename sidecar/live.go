package sidecar

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Live is the rule set in force. A request takes it once and keeps it.
type Live struct {
	src     ruleset.Source
	seen    string // version that was read at start
	set     atomic.Pointer[ruleset.Set]
	log     *slog.Logger
	metrics *telemetry.Metrics
}

// OpenRules reads and compiles the rules. The error holds every problem.
func OpenRules(src ruleset.Source, log *slog.Logger, m *telemetry.Metrics) (*Live, error) {
	files, err := src.Read()
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if set == nil {
		return nil, problems.In(src)
	}
	l := &Live{src: src, seen: set.Version, log: log, metrics: m}
	l.set.Store(set)
	m.InForce(set.Version, float64(time.Now().Unix()))
	return l, nil
}

// Set is the rule set in force.
func (l *Live) Set() *ruleset.Set { return l.set.Load() }

// Watch takes up every change of the folders until ctx ends. What does not load
// leaves the set in force as it is.
func (l *Live) Watch(ctx context.Context) {
	if len(l.src.Folders()) == 0 {
		return // the rules of the program never change
	}
	ruleset.Watch(ctx, l.src, l.seen, func(files ruleset.Files, err error) {
		if err != nil {
			l.refuse(err)
			return
		}
		set, problems := ruleset.Load(files)
		if set == nil {
			l.refuse(problems.In(l.src))
			return
		}
		l.set.Store(set)
		l.metrics.InForce(set.Version, float64(time.Now().Unix()))
		l.metrics.Reloads.WithLabelValues("taken").Inc()
		l.log.Info("rules are in force", "event", "rules_taken", "version", set.Version)
	})
}

func (l *Live) refuse(err error) {
	l.metrics.ReloadOK.Set(0)
	l.metrics.Reloads.WithLabelValues("refused").Inc()
	l.log.Error("the edited rules were refused; the old ones stay in force", "event", "rules_refused",
		"version", l.Set().Version, "problems", err.Error())
}
