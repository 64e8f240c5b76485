package live

import (
	"log/slog"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Open reads and compiles the rules. state is the folder in which the sets
// that came into force are remembered, "" for none: where the rules do not load,
// the last good set of that folder is in force until they do. The error holds
// every problem of the rules; it means that there is nothing to run on.
func Open(loader ruleset.Loader, src rulefile.Source, state string, log *slog.Logger,
	m *telemetry.Metrics) (*Rules, error) {
	past, err := OpenHistory(state)
	if err != nil {
		log.Warn("the state folder cannot be read completely", "event", "rules_state", "folder", state,
			"detail", err.Error())
	}
	if loader.Compiled == nil {
		loader.Compiled = ruleset.NewCompiled(2) // the rules in force, and those that were tried last
	}
	l := &Rules{loader: loader, src: src, past: past, log: log, metrics: m, started: time.Now()}
	files, err := src.Read()
	if err != nil {
		l.seen = err.Error()
	} else {
		l.seen = files.Version()
		load := loader.Load
		if src.Dir == "" && src.Policy == "" {
			load = loader.LoadShipped
		}
		set, problems := load(files)
		if set != nil {
			l.began = &set.Limits
			l.enforce(&inForce{set: set, files: files, warnings: problems, from: origin{by: byStart}})
			return l, nil
		}
		err = problems.In(src)
	}
	if !l.lastGood() {
		return nil, err
	}
	_ = l.refuse(files, err, origin{by: byStart}) // told by the log and by Trouble
	l.tighten(byStart)
	return l, nil
}

// lastGood puts the newest remembered set in force that this program can load.
func (l *Rules) lastGood() bool {
	for _, e := range l.past.All() {
		if e.Files.Locked() != (l.src.Policy != "") {
			continue // a locked folder must not be escaped by breaking the other one
		}
		set, problems := l.loader.Load(e.Files)
		if set == nil {
			continue
		}
		l.began = &set.Limits
		l.enforce(&inForce{set: set, files: e.Files, warnings: problems, from: origin{by: byStart},
			lastGood: true})
		l.log.Error("the rules do not load; the last good rules are in force until they do",
			"event", "rules_last_good",
			"version", set.Version, "since", e.At.Format(time.RFC3339))
		return true
	}
	return false
}
