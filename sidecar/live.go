package sidecar

import (
	"context"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Live is the rule set in force. A request takes it once and keeps it.
type Live struct {
	dir     string        // empty: the embedded rules, which never change
	read    ruleset.Files // the folder as it was read at start
	set     atomic.Pointer[ruleset.Set]
	log     *slog.Logger
	metrics *telemetry.Metrics
}

// BuiltinRules reads the defaults: the folders rules and prompts of a file system.
func BuiltinRules(defaults fs.FS) (ruleset.Files, error) {
	rules, err := fs.Sub(defaults, "rules")
	if err != nil {
		return nil, err
	}
	files, err := ruleset.ReadFS(rules)
	if err != nil {
		return nil, err
	}
	prompts, err := fs.Glob(defaults, "prompts/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range prompts {
		text, err := fs.ReadFile(defaults, name)
		if err != nil {
			return nil, err
		}
		files[name] = string(text)
	}
	return files, nil
}

// ReadRules reads the folder dir, or the defaults where dir is empty. A folder
// replaces the defaults as a whole; only prompts it lacks are added.
func ReadRules(dir string, defaults fs.FS) (ruleset.Files, error) {
	builtin, err := BuiltinRules(defaults)
	if err != nil || dir == "" {
		return builtin, err
	}
	files, err := ruleset.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	return files.WithPrompts(builtin), nil
}

// OpenRules reads and compiles the rules. The error holds every problem.
func OpenRules(dir string, defaults fs.FS, log *slog.Logger, m *telemetry.Metrics) (*Live, error) {
	files, err := ReadRules(dir, defaults)
	if err != nil {
		return nil, err
	}
	set, problems := ruleset.Load(files)
	if set == nil {
		return nil, problems.In(dir)
	}
	l := &Live{dir: dir, log: log, metrics: m}
	if dir != "" {
		if l.read, err = ruleset.ReadDir(dir); err != nil {
			return nil, err
		}
	}
	l.set.Store(set)
	m.InForce(set.Version, float64(time.Now().Unix()))
	return l, nil
}

// Set is the rule set in force.
func (l *Live) Set() *ruleset.Set { return l.set.Load() }

// Watch takes up every change of the folder until ctx ends. What does not load
// leaves the set in force as it is.
func (l *Live) Watch(ctx context.Context, defaults fs.FS) {
	if l.dir == "" {
		return
	}
	builtin, err := BuiltinRules(defaults)
	if err != nil {
		l.refuse(err)
		return
	}
	ruleset.Watch(ctx, l.dir, l.read, func(files ruleset.Files, err error) {
		if err != nil {
			l.refuse(err)
			return
		}
		set, problems := ruleset.Load(files.WithPrompts(builtin))
		if set == nil {
			l.refuse(problems.In(l.dir))
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
