package approvals

import (
	"context"
	"fmt"
	"time"
)

// Get is one entry. The error is ErrUnknown.
func (s *Store) Get(id string) (Entry, error) {
	e, _, err := s.get(id)
	if err != nil && s.board != nil { // it may have been asked elsewhere just now
		if err := s.with(func(time.Time) {}); err != nil {
			return Entry{}, err
		}
		e, _, err = s.get(id)
	}
	return e, err
}

func (s *Store) get(id string) (Entry, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view()
	if e := s.find(typed(id)); e != nil {
		return *e, s.changed, nil
	}
	return Entry{}, nil, ErrUnknown
}

// Remaining is how long the state of an entry goes on, by the clock by which it ends.
func (s *Store) Remaining(e *Entry) time.Duration { return max(0, e.Until.Sub(s.now())) }

// Wait waits until an entry is pending no more: for executor mode, whose run can wait.
// Whatever it is then, if not allowed, is a no. The error is ErrUnknown, or that of ctx.
func (s *Store) Wait(ctx context.Context, id string) (Entry, error) {
	for {
		e, changed, err := s.get(id)
		if err != nil || e.State != Pending {
			return e, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return e, fmt.Errorf("wait for an approval: %w", ctx.Err())
		}
	}
}

// List is all entries that are remembered, in the order they were asked, with the
// revision of the list, and a channel that is closed when there is a newer one.
func (s *Store) List() (list []Entry, revision uint64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view()
	for _, e := range s.entries {
		list = append(list, *e)
	}
	return list, s.revision, s.changed
}
