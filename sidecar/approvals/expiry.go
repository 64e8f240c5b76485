package approvals

import (
	"slices"
	"time"
)

// sweep ends the states whose time is over. Denials are never forgotten early: a model must not ask
// its way past one.
func (s *Store) sweep() time.Time {
	now := s.now()
	before := len(s.entries)
	s.entries = slices.DeleteFunc(s.entries, func(e *Entry) bool {
		return !now.Before(e.Until) && !e.expires()
	})
	for _, e := range s.entries {
		switch {
		case now.Before(e.Until):
		case e.State == Pending:
			s.end(e, Expired, "no person answered within "+s.limits.Pending.String(), now)
		case e.State == Allowed:
			s.end(e, Expired, "it was allowed by "+e.By+
				", and not sent again within "+s.limits.Granted.String(), now)
		case e.State == Granted:
			s.end(e, Expired, "its time is over", now)
		}
	}
	if len(s.entries) < before {
		s.change()
	}
	return now
}

// makeRoom expires the oldest questions above the limits, and forgets the oldest expired ones.
func (s *Store) makeRoom(session string, now time.Time) {
	room := func(most int, state State, in func(*Entry) bool) {
		n := 0
		for _, e := range slices.Backward(s.entries) {
			if e.State != state || !in(e) {
				continue
			}
			if n++; n >= most {
				s.end(e, Expired, "newer ones needed its place", now)
			}
		}
	}
	room(s.limits.PerSession, Pending, func(e *Entry) bool { return e.Call.Session == session })
	room(s.limits.Total, Pending, func(*Entry) bool { return true })
	room(s.limits.Total, Granted, func(*Entry) bool { return true })
	expired := 0
	for _, e := range slices.Backward(s.entries) {
		if e.State == Expired {
			if expired++; expired > s.limits.Total {
				e.Until = now // swept the next time
			}
		}
	}
}

// end sets a final state. The entry is kept for a while for late callers.
func (s *Store) end(e *Entry, state State, note string, now time.Time) {
	e.Note, e.Until = note, now.Add(s.limits.Denied)
	s.setState(e, state)
}

// setState changes a state and notifies the watchers. It returns true.
func (s *Store) setState(e *Entry, state State) bool {
	e.State = state
	s.countLater(string(state))
	s.change()
	return true
}

// change notifies the watchers that the list has changed.
func (s *Store) change() {
	s.revision++
	close(s.changed)
	s.changed = make(chan struct{})
	pending := 0
	for _, e := range s.entries {
		if e.State == Pending {
			pending++
		}
	}
	s.count.PendingApprovals(pending)
	s.schedule()
}

// schedule sweeps again when the next state ends.
func (s *Store) schedule() {
	if s.next != nil {
		s.next.Stop()
	}
	if len(s.entries) == 0 || s.board != nil { // Follow looks at a board all the time
		return
	}
	first := slices.MinFunc(s.entries, func(a, b *Entry) int { return a.Until.Compare(b.Until) })
	s.next = time.AfterFunc(max(0, first.Until.Sub(s.now())), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sweep()
		s.countNow()
		s.schedule() // the clock may have been set back
	})
}
