// Package live is the rule set in force: it starts with one, watches the folders, takes
// edits as a whole or refuses them, and tells about both. It compiles nothing itself and serves no requests.
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

// Rules is the rule set in force, and the one way into force for others. A request
// takes the set once and keeps it. Safe for concurrent use.
type Rules struct {
	loader  ruleset.Loader
	src     rulefile.Source
	past    *History
	seen    string     // what was read at start: a version, or the error
	change  sync.Mutex // one change at a time
	now     atomic.Pointer[inForce]
	log     *slog.Logger
	metrics *telemetry.Metrics
	started time.Time
	began   *ruleset.Limits // the process reads some of them at start only
}

// inForce is the set in force and what is told about it. It never changes; a
// change is another one.
type inForce struct {
	set      *ruleset.Set
	files    rulefile.Files
	warnings rulefile.Problems
	since    time.Time
	from     origin
	lastGood bool     // it comes from the state, since the folder did not load at start
	refused  *Refused // the last edit that was refused, if it is newer
}

// Refused is an edit of the rules that did not come into force.
type Refused struct {
	// that it would have had; empty: it could not be read
	Version  string            `json:"version,omitempty"`
	At       time.Time         `json:"at"`
	By       string            `json:"by"`
	Who      string            `json:"who,omitempty"` // empty: unknown
	Problems rulefile.Problems `json:"problems"`
}

// origin is what brings rules, and who, if known.
type origin struct{ by, who string }

// What brings rules.
const (
	byStart    = "start"
	byWatch    = "watch" // the files on disk have changed
	byPut      = "put"
	byRollback = "rollback"
	ByPromote  = "promote" // an arm of an experiment
)

// Set is the rule set in force.
func (l *Rules) Set() *ruleset.Set { return l.now.Load().set }

// Trouble says in one sentence what is wrong with the rules on disk; empty: nothing.
func (l *Rules) Trouble() string {
	switch now := l.now.Load(); {
	case now.lastGood:
		return "the rules did not load at start; the last good ones are in force"
	case now.refused != nil:
		return "the last edit of the rules was refused; the ones before are in force"
	}
	return ""
}

// Watch takes up every change of the folders until ctx ends. What does not load
// leaves the set in force as it is.
func (l *Rules) Watch(ctx context.Context) {
	if len(l.src.Folders()) == 0 {
		return // the rules of the program never change
	}
	rulefile.Watch(ctx, l.src, l.seen, func(files rulefile.Files, err error) bool {
		l.change.Lock()
		defer l.change.Unlock()
		if err == nil {
			// While we waited, the admin API may have written other files. Then
			// these are old, and the watch looks again.
			if now, err := l.src.Read(); err != nil || now.Version() != files.Version() {
				return false
			}
		}
		if l.take(files, err, origin{by: byWatch}, nil) != nil {
			l.tighten(byWatch)
		}
		return true
	})
}
