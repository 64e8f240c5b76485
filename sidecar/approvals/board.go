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

// Board holds the questions of several replicas. Each call takes a bounded time. After an error the
// state of the board is unknown. It is safe for concurrent use.
type Board interface {
	// Read returns all entries, each with a mark that changes whenever the entry does, and the id of
	// the last one added.
	Read() (list []Posted, added string, err error)
	// Swap makes all changes or none; false means that an entry has changed since it was read. It adds
	// entries only if the last one added is the same, so that two replicas do not ask the same
	// question.
	Swap(list []Swap, added string) (bool, error)
}

// Posted is an entry on a board.
type Posted struct {
	Entry
	Binding Binding // of the call, as it was asked
	Mark    string
}

// Swap is one change. Without an entry it removes one.
type Swap struct {
	ID      string
	Was     string // previous mark; empty: a new entry
	Entry   *Entry
	Binding Binding
}

// maxTries is how often a change is tried again because another replica was faster.
const maxTries = 16

// update makes a change completely or not at all. s.mu must not be held. It may call f several times.
func (s *Store) update(f func(now time.Time)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		f(s.sweep())
		s.countNow()
		return nil
	}
	for range maxTries {
		done, err := s.tryUpdate(f)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrAway, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("%w: too many change them at once", ErrAway)
}

// tryUpdate changes what is on the board now. The changed list is kept only if the board accepts it.
func (s *Store) tryUpdate(f func(now time.Time)) (done bool, err error) {
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
	s.countNow()
	if now := listRevision(s.entries); now != revision {
		s.change()
		revision = now
	}
	s.revision = revision
	return true, nil
}

// changes returns the difference to what was on the board.
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

// listRevision returns a revision that is the same at each replica: below 2^53, so that every JSON
// parser keeps it.
func listRevision(list []*Entry) uint64 {
	sum := fnv.New64a()
	for _, e := range list {
		_, _ = fmt.Fprintf(sum, "%s %s ", e.ID, e.State)
		_ = binary.Write(sum, binary.BigEndian, e.Until.UnixNano())
	}
	return sum.Sum64() >> 11
}

// refresh updates the list as far as possible without waiting. s.mu must be held.
func (s *Store) refresh() {
	if s.board == nil {
		s.sweep()
		s.countNow()
	}
}

// countLater counts an outcome when the change is final.
func (s *Store) countLater(outcome string) { s.outcomes = append(s.outcomes, outcome) }

// countNow counts the pending outcomes.
func (s *Store) countNow() {
	for _, outcome := range s.outcomes {
		s.count.Approval(outcome)
	}
	s.outcomes = nil
}

// followInterval is how often a board is read for those who wait and watch.
const followInterval = 500 * time.Millisecond

// Follow keeps the list as on the board until ctx ends. If the board is unavailable, the list stays as
// it was. Without a board it returns at once.
func (s *Store) Follow(ctx context.Context) {
	if s.board == nil {
		return
	}
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for {
		_ = s.update(func(time.Time) {}) // the board says itself that it is away
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
