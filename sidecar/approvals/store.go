package approvals

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits bound how long answers are awaited, and how many.
type Limits struct {
	Pending time.Duration // how long a question waits for its answer
	Granted time.Duration // how long an approval may be used
	// Denied is how long a denial holds, and how long an ended entry is kept.
	Denied     time.Duration
	PerSession int // pending questions of a session; the oldest one expires
	Total      int // pending questions of all sessions
}

// maxBytes bounds a call with all that it runs: a person does not read more.
const maxBytes = 64 << 10

// Counter counts what becomes of questions: asked, allowed, denied, used, expired.
type Counter interface {
	Approval(outcome string)
	PendingApprovals(n int)
}

// Store holds the questions and answers. It is safe for concurrent use.
type Store struct {
	limits Limits
	now    func() time.Time
	count  Counter
	board  Board // nil: the questions are this server's

	mu       sync.Mutex
	entries  []*Entry // in the order they were asked
	revision uint64   // of the list
	changed  chan struct{}
	next     *time.Timer // when the next state ends
	file     string      // of grants; empty: none
	outcomes []string    // counted when the current change is final
}

// New returns a store without questions. The board holds those of several replicas; nil: there is
// none, and the file keeps grants; empty: they are not kept.
func New(limits Limits, now func() time.Time, count Counter, board Board, file string) *Store {
	s := &Store{limits: limits, now: now, count: count, board: board, changed: make(chan struct{})}
	if board == nil {
		s.file = file
	}
	s.entries = s.readGrants()
	return s
}

// Request asks a person about a call and returns at once. The same call again is the same question. An
// entry without an id is denied: the call is too long to be asked about.
func (s *Store) Request(c Call, why Reason) Entry {
	e := &Entry{State: Pending, Call: c, Reason: why, Times: 1, binding: c.Binding()}
	if c.size() > maxBytes {
		e.State, e.Note = Denied,
			fmt.Sprintf("it is longer than %d bytes with all that it runs, too long for a person to read",
				maxBytes)
		return *e
	}
	var out Entry
	err := s.update(func(now time.Time) {
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
		s.countLater("asked")
		s.change()
	})
	if err != nil {
		e.State, e.Note = Unknown, err.Error()
		return *e
	}
	return out
}

// Take uses up the approval of a call and returns its id, or "" if there is none.
func (s *Store) Take(b Binding) (id string) {
	err := s.update(func(now time.Time) {
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

// Allow lets the call pass once. The error is ErrUnknown or an *AnsweredError.
func (s *Store) Allow(id, by string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		if e.State != Pending {
			return false
		}
		e.By, e.Until = by, now.Add(s.limits.Granted)
		return s.setState(e, Allowed)
	})
}

// Use lets the call pass now, whether it was allowed before or by allows it: for a person who is asked
// where the call runs. Errors are those of Allow.
func (s *Store) Use(id, by string) (Entry, error) {
	return s.answer(id, func(e *Entry, now time.Time) bool {
		switch e.State {
		case Pending:
			e.By = by
			s.countLater(string(Allowed))
		case Allowed:
		default:
			return false
		}
		s.end(e, Used, "", now)
		return true
	})
}

// Deny denies the same call for a while. It also revokes an unused approval. Errors are those of
// Allow.
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

// Withdraw removes one caller of a question. A question without callers expires, also if it was
// allowed: the answer is for no later call. If the board is unavailable, it expires in time.
func (s *Store) Withdraw(id string) {
	_ = s.update(func(now time.Time) {
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
	away := s.update(func(now time.Time) {
		e := s.find(parseID(id))
		switch {
		case e == nil:
			out, err = Entry{}, ErrUnknown
		case !with(e, now):
			out, err = Entry{}, &AnsweredError{*e}
		default:
			if err = s.writeGrants(e); err != nil && e.State == Granted {
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

// letters are Crockford's base 32, without letters that look like digits.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

// newID returns 40 random bits in a form that is easy to type: k7pw-3mdx.
func newID() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	for i := range raw {
		raw[i] = letters[raw[i]%32]
	}
	return string(raw[:4]) + "-" + string(raw[4:])
}

// parseID returns the id that a person meant: capitals, a missing dash, and letters that look like
// digits do not matter.
func parseID(id string) string {
	id = strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1").Replace(strings.ToLower(id))
	if len(id) != 8 {
		return ""
	}
	return id[:4] + "-" + id[4:]
}

// Get returns one entry. The error is ErrUnknown.
func (s *Store) Get(id string) (Entry, error) {
	e, _, err := s.get(id)
	if err != nil && s.board != nil { // it may have been asked elsewhere just now
		if err := s.update(func(time.Time) {}); err != nil {
			return Entry{}, err
		}
		e, _, err = s.get(id)
	}
	return e, err
}

func (s *Store) get(id string) (Entry, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if e := s.find(parseID(id)); e != nil {
		return *e, s.changed, nil
	}
	return Entry{}, nil, ErrUnknown
}

// Remaining returns how long the state of an entry goes on, by the store's clock.
func (s *Store) Remaining(e *Entry) time.Duration { return max(0, e.Until.Sub(s.now())) }

// Wait waits until an entry is no longer pending. Any state but allowed is a no. The error is
// ErrUnknown, or that of ctx.
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

// List returns all entries in the order they were asked, the revision of the list, and a channel that
// is closed when it changes.
func (s *Store) List() (list []Entry, revision uint64, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	for _, e := range s.entries {
		list = append(list, *e)
	}
	return list, s.revision, s.changed
}
