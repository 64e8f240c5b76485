package approvals

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var limits = Limits{Pending: 10 * time.Minute, Granted: 5 * time.Minute, Denied: 10 * time.Minute,
	PerSession: 16, Total: 128}

// counts is what has been counted.
type counts struct {
	mu      sync.Mutex
	of      map[string]int
	pending int
}

func (c *counts) Approval(outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[outcome]++
}

func (c *counts) PendingApprovals(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = n
}

func (c *counts) want(t *testing.T, pending int, of map[string]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending != pending || !maps.Equal(c.of, of) {
		t.Errorf("%d pending, %v; want %d, %v", c.pending, c.of, pending, of)
	}
}

// timed runs a test in a bubble, in which time passes only where everybody waits.
func timed(t *testing.T, test func(t *testing.T, s *Store, n *counts)) {
	synctest.Test(t, func(t *testing.T) {
		n := &counts{}
		test(t, New(limits, time.Now, n, nil, ""), n)
	})
}

// does is call() with another command.
func does(command string) Call {
	c := call()
	c.Arguments, c.Command = fmt.Sprintf(`{"command":%q}`, command), command
	return c
}

func state(t *testing.T, s *Store, id string, want State) Entry {
	t.Helper()
	e, err := s.Get(id)
	if err != nil || e.State != want {
		t.Errorf("%s: %q %v, want %q", id, e.State, err, want)
	}
	return e
}

// A person's round: the model asks, somebody allows, the call passes once.
func TestOnce(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		c := call()
		if s.Take(c.Binding()) != "" {
			t.Error("it passes without an answer")
		}
		e := s.Request(c, Reason{Rule: "force"})
		if e.State != Pending || e.Reason.Rule != "force" || e.Until.Sub(e.Asked) != limits.Pending ||
			s.Take(c.Binding()) != "" {
			t.Errorf("%+v", e)
		}
		if again := s.Request(c, Reason{}); again.ID != e.ID || again.Times != 2 ||
			again.Reason.Rule != "force" {
			t.Errorf("asked again: %+v", again)
		}
		if other := s.Request(does("ls"), Reason{}); other.ID == e.ID {
			t.Error("another call has the same id")
		}
		allowed, err := s.Allow(strings.ToUpper(strings.ReplaceAll(e.ID, "-", "")), "ada")
		if err != nil || allowed.State != Allowed || allowed.By != "ada" || allowed.ID != e.ID {
			t.Errorf("%+v %v", allowed, err)
		}
		other := does("git push")
		if s.Take(other.Binding()) != "" {
			t.Error("another call passes")
		}
		if got := s.Request(c, Reason{}); got.State != Allowed || got.ID != e.ID {
			t.Errorf("asked again after the answer: %+v", got)
		}
		if s.Take(c.Binding()) == "" || s.Take(c.Binding()) != "" {
			t.Error("it does not pass exactly once")
		}
		state(t, s, e.ID, Used)
		if anew := s.Request(c, Reason{}); anew.State != Pending || anew.ID == e.ID {
			t.Errorf("after its use: %+v", anew)
		}
		n.want(t, 2, map[string]int{"asked": 3, "allowed": 1, "used": 1})
	})
}

// A denied call stays denied for a while, with its reason.
func TestDenied(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		e := s.Request(call(), Reason{})
		if _, err := s.Deny(e.ID, "ada", "not today"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(limits.Denied - time.Second)
		c := call()
		if got := s.Request(c, Reason{}); got.State != Denied || got.Note != "not today" || got.ID != e.ID ||
			s.Take(c.Binding()) != "" {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Second)
		if got := s.Request(c, Reason{}); got.State != Pending || got.ID == e.ID {
			t.Errorf("later: %+v", got)
		}
		n.want(t, 1, map[string]int{"asked": 2, "denied": 1})
	})
}

// Answers that come too late say what has become of the question.
func TestAnswers(t *testing.T) {
	type act func(*Store, string) error
	allow := func(s *Store, id string) error { _, err := s.Allow(id, "ada"); return err }
	deny := func(s *Store, id string) error { _, err := s.Deny(id, "bob", "no"); return err }
	use := func(s *Store, _ string) error { c := call(); s.Take(c.Binding()); return nil }
	wait := func(s *Store, _ string) error { time.Sleep(limits.Pending); return nil }
	for _, row := range []struct {
		name   string
		before []act
		last   act
		want   string // of the error, without the id
	}{
		{"allow", nil, allow, ""},
		{"deny", nil, deny, ""},
		{"allow twice", []act{allow}, allow, "has been allowed already, by ada"},
		{"take it back", []act{allow}, deny, ""},
		{"allow what is denied", []act{deny}, allow, "has been denied already, by bob: no"},
		{"deny twice", []act{deny}, deny, "has been denied already, by bob: no"},
		{"allow what is used", []act{allow, use}, allow, "has been used already; ada had allowed it"},
		{"deny what is used", []act{allow, use}, deny, "has been used already; ada had allowed it"},
		{"allow too late", []act{wait}, allow, "has expired: no person answered within 10m0s"},
		{"deny too late", []act{wait}, deny, "has expired: no person answered within 10m0s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			timed(t, func(t *testing.T, s *Store, _ *counts) {
				id := s.Request(call(), Reason{}).ID
				for _, act := range row.before {
					if err := act(s, id); err != nil {
						t.Fatal(err)
					}
				}
				err := row.last(s, id)
				if row.want == "" && err != nil || row.want != "" &&
					(err == nil || err.Error() != id+" "+row.want) {
					t.Errorf("%v, want %s", err, row.want)
				}
				var late *AnsweredError
				if row.want != "" && !errors.As(err, &late) {
					t.Errorf("%T", err)
				}
			})
		})
	}
	s := New(limits, time.Now, &counts{}, nil, "")
	for _, id := range []string{"", "0000-0000", "a", "--------", strings.Repeat("0", 99)} {
		if err := allow(s, id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// What nobody can read is not asked.
func TestTooLong(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		e := s.Request(does(strings.Repeat("x", maxBytes)), Reason{})
		if e.State != Denied || e.ID != "" || e.Note == "" {
			t.Errorf("%+v", e)
		}
		n.want(t, 0, nil)
	})
}
