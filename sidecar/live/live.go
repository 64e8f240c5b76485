// Package live holds the rule set in force: it loads one at start, watches the folders, applies edits as a
// whole or refuses them, and reports both. It compiles nothing itself and serves no requests.
package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
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

// apply puts files in force, whatever their origin: it compiles all of them, lets write store them (nil:
// they are stored), and replaces the set. Files in force change nothing. Files that do not load are refused
// and reported; err is why they could not be read. l.change is held.
func (l *Rules) apply(files rulefile.Files, err error, from origin, write func() error) error {
	if err != nil {
		return l.refuse(files, err, from)
	}
	now := l.now.Load()
	next := &inForce{set: now.set, files: now.files, warnings: now.warnings, since: now.since, from: now.from}
	known := files.Version() == now.set.Version
	if !known {
		set, problems := l.loader.Load(files)
		if set == nil {
			return l.refuse(files, problems, from)
		}
		if own := files.Own(); from.by == byWatch && len(own.Differ(now.files.Own())) > 0 {
			from.by = cmp.Or(publisher(l.src.Dir, own), byWatch)
		}
		next = &inForce{set: set, files: files, warnings: problems, from: from}
	}
	if write != nil {
		if err := write(); err != nil {
			return err
		}
	}
	if known {
		l.revert(next)
		return nil
	}
	l.enforce(next)
	l.metrics.Reload("taken")
	l.log.Info("rules are in force", from.attrs("event", "rules_taken", "version", next.set.Version, "before",
		now.set.Version)...)
	return nil
}

// attrs adds the origin to attributes of a log line.
func (o origin) attrs(fields ...any) []any {
	if fields = append(fields, "by", o.by); o.who != "" {
		fields = append(fields, "who", o.who)
	}
	return fields
}

// enforce puts a set in force and remembers it.
func (l *Rules) enforce(next *inForce) {
	next.since = time.Now()
	next.warnings = slices.Concat(next.warnings, l.src.Ignored(),
		restartWarnings(&next.set.Limits, l.startLimits))
	l.now.Store(next)
	l.metrics.InForce(next.set.Version, next.files.Sums(), next.refused == nil && !next.lastGood)
	if len(next.warnings) > 0 {
		l.log.Warn("the rules load, but parts of them have no effect", "event", "rules_warnings",
			"version", next.set.Version, "warnings", next.warnings.In(l.src))
	}
	for _, t := range next.set.Taken {
		l.log.Warn("a rule file takes away what another one says", "event", "rules_taken_away",
			"version", next.set.Version, "what", t.What, "from", t.From, "by", t.By)
	}
	err := l.past.Add(Entry{
		Version: next.set.Version, At: next.since, By: next.from.by, Who: next.from.who,
		Counts: next.set.Counts, Taken: next.set.Taken, Files: next.files,
	})
	if err != nil {
		l.log.Error("the rules are in force, but the state folder could not be written",
			"event", "rules_state", "detail", err.Error())
	}
}

// revert ends a refused edit: the files on disk are those in force.
func (l *Rules) revert(same *inForce) {
	if now := l.now.Load(); now.refused == nil && !now.lastGood {
		return
	}
	l.now.Store(same)
	l.metrics.ReloadOK.Set(1)
	l.metrics.Reload("reverted")
	l.log.Info("the refused edit is gone; the rules on disk are in force", "event", "rules_reverted",
		"version", same.set.Version)
}

// refuse records the problems of an edit and returns them. The set in force stays.
func (l *Rules) refuse(files rulefile.Files, err error, from origin) rulefile.Problems {
	by := from.by
	r := &Refused{At: time.Now(), By: by, Who: from.who}
	onDisk := isOnDisk(by)
	if !errors.As(err, &r.Problems) {
		r.Problems = rulefile.Unreadable(l.src.Dir, err)
	} else if by == byWatch {
		r.Problems = r.Problems.In(l.src)
	}
	if files != nil {
		r.Version = files.Version()
	}
	now := *l.now.Load()
	// What was only offered does not hide that the files on disk do not load.
	if onDisk || now.refused == nil || !isOnDisk(now.refused.By) {
		now.refused = r
		l.now.Store(&now)
	}
	level := slog.LevelWarn
	if onDisk {
		level = slog.LevelError
		l.metrics.ReloadOK.Set(0)
	}
	l.metrics.Reload("refused")
	l.log.Log(context.Background(), level, "the edited rules were refused; the old rules stay in force",
		from.attrs("event", "rules_refused", "version", now.set.Version, "refused", r.Version, "problems",
			r.Problems)...)
	return r.Problems
}

// isOnDisk reports whether rules were found in the folder rather than offered.
func isOnDisk(by string) bool { return by == byWatch || by == byStart }

// tighten puts the current locked folder in force under the operator's rules in force, when the operator's
// new files were refused: locked rules do not wait for them.
func (l *Rules) tighten(by string) {
	if l.src.Policy == "" {
		return
	}
	now := l.now.Load()
	files, err := l.src.Whole(now.files.Own())
	if err != nil || files.Version() == now.set.Version {
		return
	}
	set, problems := l.loader.Tighten(files)
	if set == nil {
		l.log.Error("the locked folder does not load; its last good version stays in force",
			"event", "rules_not_tightened",
			"version", now.set.Version, "problems", problems.In(l.src))
		return
	}
	l.enforce(&inForce{set: set, files: files, warnings: problems, from: origin{by: by},
		lastGood: now.lastGood, refused: now.refused})
	l.log.Info("the changed locked folder is in force, over the operator's rules that were in force",
		"event", "rules_tightened", "version", set.Version)
}
