// Package live holds the rule set in force: it loads one at start, watches the folders, applies edits as a
// whole or refuses them, and reports both. It compiles nothing itself and serves no requests.
package live

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Rules is the rule set in force and the only way to replace it. A request takes the set once and keeps it.
// It is safe for concurrent use.
type Rules struct {
	loader      ruleset.Loader
	src         rulefile.Source
	past        *History
	atStart     string     // version read at start, or the error
	change      sync.Mutex // held during a change
	now         atomic.Pointer[inForce]
	log         *slog.Logger
	metrics     *telemetry.Metrics
	started     time.Time
	startLimits *ruleset.Limits // some limits are read at start only
}

// inForce is the set in force and what is reported about it. It never changes.
type inForce struct {
	set      *ruleset.Set
	files    rulefile.Files
	warnings rulefile.Problems
	since    time.Time
	from     origin
	lastGood bool     // from the state, since the folder did not load at start
	refused  *Refused // the last refused edit, if it is newer
}

// Refused is an edit that did not come into force.
type Refused struct {
	// that it would have had; empty: it could not be read
	Version  string            `json:"version,omitempty"`
	At       time.Time         `json:"at"`
	By       string            `json:"by"`
	Who      string            `json:"who,omitempty"` // empty: unknown
	Problems rulefile.Problems `json:"problems"`
}

// origin is how rules were changed, and by whom, if known.
type origin struct{ by, who string }

// Ways in which rules change.
const (
	byStart    = "start"
	byWatch    = "watch" // the files on disk have changed
	byPut      = "put"
	byRollback = "rollback"
	ByPromote  = "promote" // an arm of an experiment
)

// Set returns the rule set in force.
func (l *Rules) Set() *ruleset.Set { return l.now.Load().set }

// Trouble says in a sentence what is wrong with the rules on disk; empty: nothing.
func (l *Rules) Trouble() string {
	switch now := l.now.Load(); {
	case now.lastGood:
		return "the rules did not load at start; the last good ones are in force"
	case now.refused != nil:
		return "the last edit of the rules was refused; the ones before are in force"
	}
	return ""
}

// Watch applies changes of the folders until ctx ends. Rules that do not load change nothing.
func (l *Rules) Watch(ctx context.Context) {
	if len(l.src.Folders()) == 0 {
		return // the rules of the program never change
	}
	rulefile.Watch(ctx, l.src, l.atStart, func(files rulefile.Files, err error) bool {
		l.change.Lock()
		defer l.change.Unlock()
		if err == nil {
			// While we waited, the admin API may have written other files. Then
			// these are old, and the watch looks again.
			if now, err := l.src.Read(); err != nil || now.Version() != files.Version() {
				return false
			}
		}
		if l.apply(files, err, origin{by: byWatch}, nil) != nil {
			l.tighten(byWatch)
		}
		return true
	})
}

// Open reads and compiles the rules. state is the folder of the history, "" for none: if the rules do not
// load, its last good set is in force until they do. The error holds all problems of the rules and means
// that there is nothing to run on.
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
		l.atStart = err.Error()
	} else {
		l.atStart = files.Version()
		load := loader.Load
		if src.Dir == "" && src.Policy == "" {
			load = loader.LoadShipped
		}
		set, problems := load(files)
		if set != nil {
			l.startLimits = &set.Limits
			l.enforce(&inForce{set: set, files: files, warnings: problems, from: origin{by: byStart}})
			return l, nil
		}
		err = problems.In(src)
	}
	if !l.useLastGood() {
		return nil, err
	}
	_ = l.refuse(files, err, origin{by: byStart}) // told by the log and by Trouble
	l.tighten(byStart)
	return l, nil
}

// useLastGood puts the newest remembered set in force that this program can load.
func (l *Rules) useLastGood() bool {
	for _, e := range l.past.All() {
		if e.Files.Locked() != (l.src.Policy != "") {
			continue // a locked folder must not be escaped by breaking the other one
		}
		set, problems := l.loader.Load(e.Files)
		if set == nil {
			continue
		}
		l.startLimits = &set.Limits
		l.enforce(&inForce{set: set, files: e.Files, warnings: problems, from: origin{by: byStart},
			lastGood: true})
		l.log.Error("the rules do not load; the last good rules are in force until they do",
			"event", "rules_last_good",
			"version", set.Version, "since", e.At.Format(time.RFC3339))
		return true
	}
	return false
}
