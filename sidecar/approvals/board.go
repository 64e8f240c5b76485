package approvals

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// Board is where the questions of several replicas stand. Each call takes a bounded time. After an error,
// what stands there is unknown. It is safe for concurrent use.
type Board interface {
	// Read gives all entries, with a mark of each that changes whenever the entry does, and the id of
	// the one that was added last.
	Read() (list []Posted, added string, err error)
	// Swap makes all changes or none: false means that something is not as it was read. It adds only
	// while the one that was added last is still that, so that two replicas do not ask the same.
	Swap(list []Swap, added string) (bool, error)
}

// Posted is an entry as it stands on a board.
type Posted struct {
	Entry
	Binding Binding // of its call, as it was asked
	Mark    string
}

// Swap is one change. Without an entry it removes one.
type Swap struct {
	ID      string
	Was     string // the mark; empty: there is none
	Entry   *Entry
	Binding Binding
}

// tries is how often a change is made anew that another replica was faster than.
const tries = 16

// with makes a change, so that it stands or nothing has happened. s.mu must not be held. The
// function may run several times.
func (s *Store) with(f func(now time.Time)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		f(s.sweep())
		s.tally()
		return nil
	}
	for range tries {
		done, err := s.try(f)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrAway, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("%w: too many change them at once", ErrAway)
}

// try makes a change of what stands on the board now. What it has made of the list stays only if
// it stands there, too.
func (s *Store) try(f func(now time.Time)) (done bool, err error) {
	list, added, err := s.board.Read()
	if err != nil {
		return false, err
	}
	before := make(map[string]Posted, len(list))
	known, revision := s.entries, s.revision
	defer func() {
		if !done {
			s.entries, s.revision, s.outcomes = known, revision, nil
		}
	}()
	s.entries = nil
	for _, p := range list {
		e := p.Entry
		e.binding = p.Binding
		before[e.ID] = p
		s.entries = append(s.entries, &e)
	}
	f(s.sweep())
	// what was asked at the same moment, too, stands in one order at all replicas
	slices.SortFunc(s.entries, func(a, b *Entry) int {
		return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID))
	})
	changes := s.changes(before)
	if len(changes) > 0 {
		if done, err = s.board.Swap(changes, added); err != nil || !done {
			return false, err
		}
	}
	s.tally()
	if now := mark(s.entries); now != revision {
		s.change()
		revision = now
	}
	s.revision = revision
	return true, nil
}

// changes are those against what stood on the board.
func (s *Store) changes(before map[string]Posted) (out []Swap) {
	for _, e := range s.entries {
		was, known := before[e.ID]
		delete(before, e.ID)
		if !known || was.State != e.State || !was.Until.Equal(e.Until) || was.Times != e.Times ||
			was.Task != e.Task {
			out = append(out, Swap{e.ID, was.Mark, e, e.binding})
		}
	}
	for id, was := range before {
		out = append(out, Swap{ID: id, Was: was.Mark})
	}
	return out
}

// mark is the revision of a list that is the same at each replica: below 2^53, so that every reader
// of JSON keeps it.
func mark(list []*Entry) uint64 {
	sum := fnv.New64a()
	for _, e := range list {
		_, _ = fmt.Fprintf(sum, "%s %s ", e.ID, e.State)
		_ = binary.Write(sum, binary.BigEndian, e.Until.UnixNano())
	}
	return sum.Sum64() >> 11
}

// view brings the list up to date, as far as that can be done without waiting. s.mu is held.
func (s *Store) view() {
	if s.board == nil {
		s.sweep()
		s.tally()
	}
}

// counted has something counted when the change stands.
func (s *Store) counted(outcome string) { s.outcomes = append(s.outcomes, outcome) }

// tally counts it.
func (s *Store) tally() {
	for _, outcome := range s.outcomes {
		s.count.Approval(outcome)
	}
	s.outcomes = nil
}

// follow is how often a board is looked at, for those who wait and watch.
const follow = 500 * time.Millisecond

// Follow keeps the list as it is on the board, until ctx ends. While the board is away, the list
// stays as it was. Without a board there is nothing to do.
func (s *Store) Follow(ctx context.Context) {
	if s.board == nil {
		return
	}
	tick := time.NewTicker(follow)
	defer tick.Stop()
	for {
		_ = s.with(func(time.Time) {}) // the board says itself that it is away
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
