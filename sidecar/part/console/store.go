package console

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

// StoreConfig is what a Store works with. Now must be set.
type StoreConfig struct {
	// the words of replies are kept, too, if the rules say so; else only what came of them
	Words bool
	// of the rules in force, for those who look; nil: those of the last request hold
	Bounds func() Bounds
	Now    func() time.Time
}

// Store holds the last turns. It is safe for concurrent use. A nil Store keeps nothing.
type Store struct {
	StoreConfig
	rev     atomic.Uint64 // every change is a new one
	offered intake

	mu      sync.Mutex
	bounds  Bounds    // of the rules that came last
	kept    []*Record // by their beginning; the first gone of them have made room
	gone    int
	bytes   int64
	sets    *recent.Map[*ruleset.Set]
	minutes minutes
}

// NewStore is an empty Store.
func NewStore(c StoreConfig) *Store {
	return &Store{StoreConfig: c, sets: recent.New[*ruleset.Set](keptSets, nil)}
}

// Watch begins to keep a request, as a turn.Watch.
func (s *Store) Watch(_ context.Context, r *turn.Request) turn.Watcher {
	a := Asking{ID: r.ID, Model: r.Who.Model, Session: r.Who.Session, Client: r.Who.Client,
		Agent: r.Who.Agent, Channel: r.Who.Channel, Run: r.Run, Arms: r.Set.Arms, Rules: r.Set.Version,
		Stream: r.Body != nil && r.Body.Stream, Responses: r.Responses}
	if record := s.Begin(a, *ruleset.Of[Bounds](r.Set)); record != nil {
		return record
	}
	return nil
}

// Begin begins to keep a request, within the bounds of its rules; nil: nothing is kept, and what was
// is forgotten. It is given to its turns as a watcher; Ended ends it.
func (s *Store) Begin(a Asking, b Bounds) *Record {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apply(b); b.Turns == 0 {
		return nil
	}
	r := &Record{store: s, turn: Turn{Asking: a.own(), Began: s.Now()}}
	if s.Words {
		r.most = int64(b.Words)
	}
	s.kept = append(s.kept, r)
	s.grow(r, fixedBytes)
	s.changed(r)
	return r
}

// apply sets the bounds, and drops what they keep no more. The lock is held.
func (s *Store) apply(b Bounds) {
	before := s.bounds
	if s.bounds = b; b.Turns == 0 {
		s.shrink(0)
	}
	if b.Words > 0 || before.Words == 0 {
		return
	}
	for _, r := range s.kept[s.gone:] {
		r.bare()
		s.changed(r)
	}
}

// look begins to look at what is kept. The lock is held.
func (s *Store) look() {
	if s.Bounds != nil {
		s.apply(s.Bounds())
	}
}

// changed says that a record is another one now. The lock is held.
func (s *Store) changed(r *Record) { r.turn.Rev = s.rev.Add(1) }

// grow counts what a record holds, and lets the oldest make room. The lock is held.
func (s *Store) grow(r *Record, by int64) {
	if r.gone {
		return
	}
	r.bytes += by
	s.bytes += by
	s.shrink(1)
}

// shrink lets the oldest make room, down to so many. The lock is held.
func (s *Store) shrink(least int) {
	for n := len(s.kept) - s.gone; n > least && (n > s.bounds.Turns ||
		s.bytes > int64(s.bounds.Memory)); n-- {
		old := s.kept[s.gone]
		s.kept[s.gone] = nil
		s.gone++
		s.bytes -= old.bytes
		old.gone = true
	}
	if s.gone > s.bounds.Turns {
		s.kept = append(s.kept[:0:0], s.kept[s.gone:]...)
		s.gone = 0
	}
}

// Rev is the number of the last change.
func (s *Store) Rev() uint64 {
	if s == nil {
		return 0
	}
	return s.rev.Load()
}

// Since is the turns that have changed after a revision and that fit, the newest first, at most
// so many of them. They are for reading only. all is how many fit.
func (s *Store) Since(rev uint64, most int, fits func(*Turn) bool) (out []Turn, all int) {
	if s == nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	for i := len(s.kept) - 1; i >= s.gone; i-- {
		t := &s.kept[i].turn
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
func (s *Store) Turn(id string) (Turn, bool) {
	if s == nil {
		return Turn{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	for i := len(s.kept) - 1; i >= s.gone; i-- {
		if t := &s.kept[i].turn; t.ID == id {
			return *t, true
		}
	}
	return Turn{}, false
}

// Set is the rule set by which a reply was read; nil: it has made room.
func (s *Store) Set(r *Reply) *ruleset.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.sets.Get(r.rules); set != nil {
		return *set
	}
	return nil
}

// keep remembers a rule set, and names it. The lock is held.
func (s *Store) keep(set *ruleset.Set) (name string) {
	name = set.Version + " " + strings.Join(set.Arms, " ")
	if kept, made := s.sets.Use(name); made {
		*kept = set
	}
	return name
}

// Size is how much is kept.
func (s *Store) Size() (turns int, bytes int64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept) - s.gone, s.bytes
}

// Minutes are the counts of the last hour, by the minute, the oldest first.
func (s *Store) Minutes() []minute {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.minutes.at(s.Now())
	return slices.Clone(s.minutes.list[:])
}
