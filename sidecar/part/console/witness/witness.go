// Package witness keeps the last requests of a running server in memory, for people who look:
// what the model server said, what was made of it, what came of it. It is bounded in count and
// bytes, writes nothing anywhere, changes no reply, and reads none: a viewer parses it with the rules of
// then.
package witness

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// keptSets is how many rule sets are kept; older ones may be large, and edits many.
const keptSets = 8

// Config is what a witness works with. Now must be set.
type Config struct {
	// the words of replies are kept, too, if the rules say so; else only what came of them
	Words bool
	// of the rules in force, for those who look; nil: those of the last request hold
	Bounds func() Console
	Now    func() time.Time
}

// Witness is safe for concurrent use. A nil Witness keeps nothing.
type Witness struct {
	Config
	rev     atomic.Uint64 // every change is a new one
	offered intake

	mu      sync.Mutex
	bounds  Console   // of the rules that came last
	kept    []*Record // by their beginning; the first gone of them have made room
	gone    int
	bytes   int64
	sets    *recent.Map[*ruleset.Set]
	minutes minutes
}

// New is a witness that has seen nothing yet.
func New(c Config) *Witness {
	return &Witness{Config: c, sets: recent.New[*ruleset.Set](keptSets, nil)}
}

// Watch begins to keep a request, as a turn.Watch.
func (w *Witness) Watch(_ context.Context, r *turn.Request) turn.Watcher {
	a := Asking{ID: r.ID, Model: r.Who.Model, Session: r.Who.Session, Client: r.Who.Client,
		Agent: r.Who.Agent, Channel: r.Who.Channel, Run: r.Run, Arms: r.Set.Arms, Rules: r.Set.Version,
		Stream: r.Body != nil && r.Body.Stream, Responses: r.Responses}
	if record := w.Begin(a, *ruleset.Of[Console](r.Set)); record != nil {
		return record
	}
	return nil
}

// Begin begins to keep a request, within the bounds of its rules; nil: nothing is kept, and what was
// is forgotten. It is given to its turns as a watcher; Ended ends it.
func (w *Witness) Begin(a Asking, b Console) *Record {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heed(b); b.Turns == 0 {
		return nil
	}
	r := &Record{w: w, turn: Turn{Asking: a.own(), Began: w.Now()}}
	if w.Words {
		r.most = int64(b.Words)
	}
	w.kept = append(w.kept, r)
	w.grow(r, fixedBytes)
	w.changed(r)
	return r
}

// heed lets go of what rules keep no more. The lock is held.
func (w *Witness) heed(b Console) {
	before := w.bounds
	if w.bounds = b; b.Turns == 0 {
		w.shrink(0)
	}
	if b.Words > 0 || before.Words == 0 {
		return
	}
	for _, r := range w.kept[w.gone:] {
		r.bare()
		w.changed(r)
	}
}

// look begins to look at what is kept. The lock is held.
func (w *Witness) look() {
	if w.Bounds != nil {
		w.heed(w.Bounds())
	}
}

// changed says that a record is another one now. The lock is held.
func (w *Witness) changed(r *Record) { r.turn.Rev = w.rev.Add(1) }

// grow counts what a record holds, and lets the oldest make room. The lock is held.
func (w *Witness) grow(r *Record, by int64) {
	if r.gone {
		return
	}
	r.bytes += by
	w.bytes += by
	w.shrink(1)
}

// shrink lets the oldest make room, down to so many. The lock is held.
func (w *Witness) shrink(least int) {
	for n := len(w.kept) - w.gone; n > least && (n > w.bounds.Turns ||
		w.bytes > int64(w.bounds.Memory)); n-- {
		old := w.kept[w.gone]
		w.kept[w.gone] = nil
		w.gone++
		w.bytes -= old.bytes
		old.gone = true
	}
	if w.gone > w.bounds.Turns {
		w.kept = append(w.kept[:0:0], w.kept[w.gone:]...)
		w.gone = 0
	}
}

// Rev is the number of the last change.
func (w *Witness) Rev() uint64 {
	if w == nil {
		return 0
	}
	return w.rev.Load()
}

// Since is the turns that have changed after a revision and that fit, the newest first, at most
// so many of them. They are for reading only. all is how many fit.
func (w *Witness) Since(rev uint64, most int, fits func(*Turn) bool) (out []Turn, all int) {
	if w == nil {
		return nil, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	for i := len(w.kept) - 1; i >= w.gone; i-- {
		t := &w.kept[i].turn
		if t.Rev <= rev || !fits(t) {
			continue
		}
		if all++; len(out) < most {
			out = append(out, *t)
		}
	}
	return out, all
}

// Turn finds one; it is for reading only.
func (w *Witness) Turn(id string) (Turn, bool) {
	if w == nil {
		return Turn{}, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	for i := len(w.kept) - 1; i >= w.gone; i-- {
		if t := &w.kept[i].turn; t.ID == id {
			return *t, true
		}
	}
	return Turn{}, false
}

// Set is the rule set by which a reply was read; nil: it has made room.
func (w *Witness) Set(r *Reply) *ruleset.Set {
	w.mu.Lock()
	defer w.mu.Unlock()
	if set := w.sets.Get(r.rules); set != nil {
		return *set
	}
	return nil
}

// keep remembers a rule set, and names it. The lock is held.
func (w *Witness) keep(set *ruleset.Set) (name string) {
	name = set.Version + " " + strings.Join(set.Arms, " ")
	if kept, made := w.sets.Use(name); made {
		*kept = set
	}
	return name
}

// Size is how much is kept.
func (w *Witness) Size() (turns int, bytes int64) {
	if w == nil {
		return 0, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.kept) - w.gone, w.bytes
}

// Minutes are the counts of the last hour, by the minute, the oldest first.
func (w *Witness) Minutes() []Minute {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.minutes.at(w.Now())
	return slices.Clone(w.minutes.list[:])
}
