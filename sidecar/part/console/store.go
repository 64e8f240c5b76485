package console

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// keptSets is how many rule sets are kept; they may be large, and edits many.
const keptSets = 8

// StoreConfig configures a Store. Now must be set.
type StoreConfig struct {
	// keep the words of replies too, if the rules allow it; else only results
	Words bool
	// of the rules in force, for viewers; nil: those of the last request
	Bounds func() Bounds
	Now    func() time.Time
}

// Store holds the last turns. It is safe for concurrent use. A nil Store keeps nothing.
type Store struct {
	StoreConfig
	rev     atomic.Uint64 // counts changes
	offered experiment.ToolLists

	mu      sync.Mutex
	bounds  Bounds    // of the last request
	kept    []*Record // by start; the first gone of them were dropped
	gone    int
	bytes   int64
	sets    *recent.Map[*ruleset.Set]
	minutes minutes
}

// NewStore returns an empty Store.
func NewStore(c StoreConfig) *Store {
	return &Store{StoreConfig: c, sets: recent.New[*ruleset.Set](keptSets, nil)}
}

// Watch starts to record a request, as a turn.Watch.
func (s *Store) Watch(_ context.Context, r *turn.Request) turn.Watcher {
	a := Asking{ID: r.ID, Model: r.Who.Model, Session: r.Who.Session, Client: r.Who.Client,
		Agent: r.Who.Agent, Channel: r.Who.Channel, Run: r.Run, Arms: r.Set.Arms, Rules: r.Set.Version,
		Stream: r.Body != nil && r.Body.Stream, Responses: r.Responses}
	if record := s.Begin(a, *ruleset.Of[Bounds](r.Set)); record != nil {
		return record
	}
	return nil
}

// Begin starts to record a request within the bounds of its rules. It returns nil, and drops everything, if
// they keep nothing. The record watches the turns of the request until Ended.
func (s *Store) Begin(a Asking, b Bounds) *Record {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apply(b); b.Turns == 0 {
		return nil
	}
	r := &Record{store: s, turn: Turn{Asking: a.detached(), Began: s.Now()}}
	if s.Words {
		r.most = int64(b.Words)
	}
	s.kept = append(s.kept, r)
	s.grow(r, fixedBytes)
	s.changed(r)
	return r
}

// apply sets the bounds and drops what exceeds them. The lock is held.
func (s *Store) apply(b Bounds) {
	before := s.bounds
	if s.bounds = b; b.Turns == 0 {
		s.shrink(0)
	}
	if b.Words > 0 || before.Words == 0 {
		return
	}
	for _, r := range s.kept[s.gone:] {
		r.dropWords()
		s.changed(r)
	}
}

// applyCurrent applies the bounds in force before a read. The lock is held.
func (s *Store) applyCurrent() {
	if s.Bounds != nil {
		s.apply(s.Bounds())
	}
}

// changed gives a record a new revision. The lock is held.
func (s *Store) changed(r *Record) { r.turn.Rev = s.rev.Add(1) }

// grow adds to the size of a record, and drops the oldest ones to make room. The lock is held.
func (s *Store) grow(r *Record, by int64) {
	if r.gone {
		return
	}
	r.bytes += by
	s.bytes += by
	s.shrink(1)
}

// shrink drops the oldest records until the rest is within the bounds, but keeps at least least. The lock
// is held.
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

// Rev returns the revision of the last change.
func (s *Store) Rev() uint64 {
	if s == nil {
		return 0
	}
	return s.rev.Load()
}

// Since returns the turns that changed after a revision and match, newest first, at most most of them, and
// the number of all matches. They are read-only.
func (s *Store) Since(rev uint64, most int, fits func(*Turn) bool) (out []Turn, all int) {
	if s == nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyCurrent()
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

// Turn finds a turn, which is read-only.
func (s *Store) Turn(id string) (Turn, bool) {
	if s == nil {
		return Turn{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyCurrent()
	for i := len(s.kept) - 1; i >= s.gone; i-- {
		if t := &s.kept[i].turn; t.ID == id {
			return *t, true
		}
	}
	return Turn{}, false
}

// Set returns the rule set that read a reply; nil: it was dropped.
func (s *Store) Set(r *Reply) *ruleset.Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	if set := s.sets.Get(r.rules); set != nil {
		return *set
	}
	return nil
}

// keep stores a rule set under a name. The lock is held.
func (s *Store) keep(set *ruleset.Set) (name string) {
	name = set.Version + " " + strings.Join(set.Arms, " ")
	if kept, made := s.sets.Use(name); made {
		*kept = set
	}
	return name
}

// Size returns the number of turns and their bytes.
func (s *Store) Size() (turns int, bytes int64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept) - s.gone, s.bytes
}

// Minutes returns the counts of the last hour, oldest first.
func (s *Store) Minutes() []minute {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.minutes.at(s.Now())
	return slices.Clone(s.minutes.list[:])
}
