package approvals

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits is how long answers are waited for, and how many.
type Limits struct {
	Pending time.Duration // how long an answer is waited for
	Granted time.Duration // how long an approval may be used
	// how long a denial answers the same call; and how long what is over is remembered
	Denied     time.Duration
	PerSession int // pending ones of a session; the oldest makes room
	Total      int // pending ones of all
}

// maxBytes bounds a call with all that it runs: a person does not read a longer one.
const maxBytes = 64 << 10

// Counter hears what becomes of questions: asked, allowed, denied, used, expired.
type Counter interface {
	Approval(outcome string)
	PendingApprovals(n int)
}

// Store holds the questions and answers. It is safe for concurrent use.
type Store struct {
	limits Limits
	now    func() time.Time
	count  Counter
	board  Board // nil: the questions are of this server alone

	mu       sync.Mutex
	entries  []*Entry // in the order they were asked
	revision uint64   // of the list; every change of a state is a new one
	changed  chan struct{}
	next     *time.Timer // when a state ends by itself
	file     string      // that keeps grants; empty: none does
	outcomes []string    // of the change that is under way, to be counted when it stands
}

// New is a store without questions. A board holds those of several replicas; nil: there is none. Then the
// file keeps grants; empty: none does.
func New(limits Limits, now func() time.Time, count Counter, board Board, file string) *Store {
	s := &Store{limits: limits, now: now, count: count, board: board, changed: make(chan struct{})}
	if board == nil {
		s.file = file
	}
	s.entries = s.kept()
	return s
}

// Request asks a person about a call, and returns at once. The same call again is the
// same question: the entry says how far it is. An entry without an id is a call that is
// too long to be asked about, and denied.
func (s *Store) Request(c Call, why Reason) Entry {
	e := &Entry{State: Pending, Call: c, Reason: why, Times: 1, binding: c.Binding()}
	if c.size() > maxBytes {
		e.State, e.Note = Denied,
			fmt.Sprintf("it is longer than %d bytes with all that it runs, too long for a person to read",
				maxBytes)
		return *e
	}
	var out Entry
	err := s.with(func(now time.Time) {
		out = *e // nothing of a try that another replica was faster than
		for _, old := range s.entries {
			if old.binding == e.binding && old.open() {
				old.Times++
				out = *old
				return
			}
		}
		s.makeRoom(c.Session, now)
		out.ID = newID()
		for s.find(out.ID) != nil {
			out.ID = newID()
		}
		out.Asked, out.Until = now, now.Add(s.limits.Pending)
		asked := out
		s.entries = append(s.entries, &asked)
		s.counted("asked")
		s.change()
	})
	if err != nil {
		e.State, e.Note = Unknown, err.Error()
		return *e
	}
	return out
}

// Take uses up the approval of a call. It gives its id once, and only while there is one;
// else it is empty.
func (s *Store) Take(b Binding) (id string) {
	err := s.with(func(now time.Time) {
		id = ""
		for _, e := range s.entries {
			if e.binding == b && e.State == Allowed {
				s.end(e, Used, "", now)
				id = e.ID
				return
			}
		}
	})
	if err != nil {
		return "" // it may have been used elsewhere
	}
	return id
}

// Allow lets the call pass once. The error is ErrUnknown, or an *AnsweredError.
func (s *Store) Allow(id, by string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		if e.State != Pending {
			return false
		}
		e.By, e.Until = by, now.Add(s.limits.Granted)
		return s.become(e, Allowed)
	})
}

// Use lets the call pass now, whether it was allowed before or by says so: for a person who is asked where
// the call runs, and runs it by saying yes. Errors are those of Allow.
func (s *Store) Use(id, by string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		switch e.State {
		case Pending:
			e.By = by
			s.counted(string(Allowed))
		case Allowed:
		default:
			return false
		}
		s.end(e, Used, "", now)
		return true
	})
}

// Deny answers the same call with a no for a while. It also takes back an approval
// that has not been used. Errors are those of Allow.
func (s *Store) Deny(id, by, why string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		if e.State != Pending && e.State != Allowed {
			return false
		}
		e.By = by
		s.end(e, Denied, why, now)
		return true
	})
}

// Withdraw takes back one asking of a question: its caller is gone. A question without another caller
// expires, also if it was allowed: the answer serves no later call. If the board is away, its time ends it.
func (s *Store) Withdraw(id string) {
	_ = s.with(func(now time.Time) {
		e := s.find(id)
		if e == nil || e.State != Pending && e.State != Allowed {
			return
		}
		if e.Times--; e.Times == 0 {
			s.end(e, Expired, "the one who asked for it is gone", now)
		}
	})
}

func (s *Store) answer(id string, with func(*Entry, time.Time) bool) (out Entry, err error) {
	away := s.with(func(now time.Time) {
		e := s.find(typed(id))
		switch {
		case e == nil:
			out, err = Entry{}, ErrUnknown
		case !with(e, now):
			out, err = Entry{}, &AnsweredError{*e}
		default:
			if err = s.keep(e); err != nil && e.State == Granted {
				s.end(e, Expired, err.Error(), now)
			}
			out = *e
		}
	})
	if away != nil {
		return Entry{}, away
	}
	return out, err
}

func (s *Store) find(id string) *Entry {
	if i := slices.IndexFunc(s.entries, func(e *Entry) bool { return e.ID == id }); i >= 0 {
		return s.entries[i]
	}
	return nil
}
