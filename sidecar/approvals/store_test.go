package approvals

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		test(t, New(DefaultLimits, time.Now, n), n)
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
		if s.Take(c.Binding()) {
			t.Error("it passes without an answer")
		}
		e := s.Request(c, Reason{Rule: "force"})
		if e.State != Pending || e.Reason.Rule != "force" || e.Until.Sub(e.Asked) != DefaultLimits.Pending || s.Take(c.Binding()) {
			t.Errorf("%+v", e)
		}
		if again := s.Request(c, Reason{}); again.ID != e.ID || again.Times != 2 || again.Reason.Rule != "force" {
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
		if s.Take(other.Binding()) {
			t.Error("another call passes")
		}
		if got := s.Request(c, Reason{}); got.State != Allowed || got.ID != e.ID {
			t.Errorf("asked again after the answer: %+v", got)
		}
		if !s.Take(c.Binding()) || s.Take(c.Binding()) {
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
		time.Sleep(DefaultLimits.Denied - time.Second)
		c := call()
		if got := s.Request(c, Reason{}); got.State != Denied || got.Note != "not today" || got.ID != e.ID || s.Take(c.Binding()) {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Second)
		if got := s.Request(c, Reason{}); got.State != Pending || got.ID == e.ID {
			t.Errorf("later: %+v", got)
		}
		n.want(t, 1, map[string]int{"asked": 2, "denied": 1})
	})
}

// Nobody answers: that is a no, and everybody can see it without asking.
func TestExpiry(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		e := s.Request(call(), Reason{})
		time.Sleep(DefaultLimits.Pending - time.Nanosecond)
		state(t, s, e.ID, Pending)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		n.want(t, 0, map[string]int{"asked": 1, "expired": 1}) // by the timer alone
		if e := state(t, s, e.ID, Expired); e.Note != "nobody answered within 10m0s" {
			t.Error(e.Note)
		}
		time.Sleep(DefaultLimits.Denied)
		if _, err := s.Get(e.ID); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is remembered for ever: %v", err)
		}
	})
}

func TestGrantExpires(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		c := call()
		e := s.Request(c, Reason{})
		time.Sleep(DefaultLimits.Pending - time.Second) // the grant has a time of its own
		if _, err := s.Allow(e.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(DefaultLimits.Granted)
		if s.Take(c.Binding()) {
			t.Error("it passes after its time")
		}
		if e := state(t, s, e.ID, Expired); !strings.Contains(e.Note, "allowed by ada") {
			t.Error(e.Note)
		}
		n.want(t, 0, map[string]int{"asked": 1, "allowed": 1, "expired": 1})
	})
}

// A clock that is set forward cannot be outrun: no timer has to fire.
func TestNoTimerNeeded(t *testing.T) {
	at := time.Unix(0, 0)
	s := New(DefaultLimits, func() time.Time { return at }, &counts{})
	c := call()
	e := s.Request(c, Reason{})
	if _, err := s.Allow(e.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	at = at.Add(DefaultLimits.Granted)
	if s.Take(c.Binding()) {
		t.Error("it passes after its time")
	}
	at = at.Add(time.Hour)
	if list, _, _ := s.List(); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// Answers that come too late say what has become of the question.
func TestAnswers(t *testing.T) {
	type act func(*Store, string) error
	allow := func(s *Store, id string) error { _, err := s.Allow(id, "ada"); return err }
	deny := func(s *Store, id string) error { _, err := s.Deny(id, "bob", "no"); return err }
	use := func(s *Store, _ string) error { c := call(); s.Take(c.Binding()); return nil }
	wait := func(s *Store, _ string) error { time.Sleep(DefaultLimits.Pending); return nil }
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
		{"allow too late", []act{wait}, allow, "has expired: nobody answered within 10m0s"},
		{"deny too late", []act{wait}, deny, "has expired: nobody answered within 10m0s"},
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
				if row.want == "" && err != nil || row.want != "" && (err == nil || err.Error() != id+" "+row.want) {
					t.Errorf("%v, want %s", err, row.want)
				}
				var late *AnsweredError
				if row.want != "" && !errors.As(err, &late) {
					t.Errorf("%T", err)
				}
			})
		})
	}
	s := New(DefaultLimits, time.Now, &counts{})
	for _, id := range []string{"", "0000-0000", "a", "--------", strings.Repeat("0", 99)} {
		if err := allow(s, id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A model that floods pushes out its own questions, oldest first, and no answers.
func TestFlood(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		granted, denied := does("granted"), does("denied")
		if _, err := s.Allow(s.Request(granted, Reason{}).ID, "ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Deny(s.Request(denied, Reason{}).ID, "ada", "no"); err != nil {
			t.Fatal(err)
		}
		other := does("of another session")
		other.Session = "s2"
		s.Request(other, Reason{})
		var ids []string
		for i := range 1000 {
			ids = append(ids, s.Request(does(fmt.Sprint(i)), Reason{}).ID)
		}
		list, _, _ := s.List()
		pending := 0
		for _, e := range list {
			if e.State == Pending {
				pending++
			}
		}
		if pending != DefaultLimits.PerSession+1 || len(list) > pending+DefaultLimits.Total+2 {
			t.Errorf("%d pending of %d", pending, len(list))
		}
		state(t, s, ids[len(ids)-DefaultLimits.PerSession], Pending)
		if e := state(t, s, ids[len(ids)-DefaultLimits.PerSession-1], Expired); e.Note != "newer ones needed its place" {
			t.Error(e.Note)
		}
		if got := s.Request(other, Reason{}); got.Times != 2 {
			t.Errorf("another session has lost its place: %+v", got)
		}
		if got := s.Request(denied, Reason{}); got.State != Denied {
			t.Errorf("the denial is forgotten: %+v", got)
		}
		if !s.Take(granted.Binding()) {
			t.Error("the approval is lost")
		}
		for i := range 1000 { // as many sessions
			c := does("x")
			c.Session = fmt.Sprint("s", i)
			s.Request(c, Reason{})
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.pending != DefaultLimits.Total {
			t.Errorf("%d pending", n.pending)
		}
	})
}

// What nobody can read is not asked.
func TestTooLong(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		e := s.Request(does(strings.Repeat("x", DefaultLimits.Bytes)), Reason{})
		if e.State != Denied || e.ID != "" || e.Note == "" {
			t.Errorf("%+v", e)
		}
		n.want(t, 0, nil)
	})
}

func TestWait(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, _ *counts) {
		wait := func(ctx context.Context, id string) chan string {
			out := make(chan string, 1)
			go func() {
				e, err := s.Wait(ctx, id)
				out <- fmt.Sprint(e.State, " ", err)
			}()
			return out
		}
		a, b, c := s.Request(does("a"), Reason{}).ID, s.Request(does("b"), Reason{}).ID, s.Request(does("c"), Reason{}).ID
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		left, allowed, denied, expired := wait(short, c), wait(t.Context(), a), wait(t.Context(), b), wait(t.Context(), c)
		synctest.Wait()
		if _, err := s.Allow(a, "ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Deny(b, "ada", ""); err != nil {
			t.Fatal(err)
		}
		for name, row := range map[string]struct {
			got  chan string
			want string
		}{
			"allowed": {allowed, "allowed <nil>"}, "denied": {denied, "denied <nil>"}, "expired": {expired, "expired <nil>"},
			"left": {left, "pending wait for an approval: context deadline exceeded"}, "unknown": {wait(t.Context(), "0000-0000"), " there is no such approval"},
		} {
			if got := <-row.got; got != row.want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// Of two that want to use one approval, one does.
func TestTakesRace(t *testing.T) {
	s := New(DefaultLimits, time.Now, &counts{})
	for i := range 1000 {
		c := does(fmt.Sprint(i))
		if _, err := s.Allow(s.Request(c, Reason{}).ID, "ada"); err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if s.Take(c.Binding()) {
					won.Add(1)
				}
			})
		}
		both.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d have used it", i, won.Load())
		}
	}
}

// Of allow and deny at once, one is told that it came too late, or the denial takes the
// approval back; what was denied never passes.
func TestAnswersRace(t *testing.T) {
	s := New(DefaultLimits, time.Now, &counts{})
	for i := range 1000 {
		c := does(fmt.Sprint(i))
		id := s.Request(c, Reason{}).ID
		var all sync.WaitGroup
		var passed atomic.Bool
		var denied error
		all.Go(func() { _, _ = s.Allow(id, "ada") })
		all.Go(func() { _, denied = s.Deny(id, "bob", "") })
		all.Go(func() { s.Request(c, Reason{}); passed.Store(s.Take(c.Binding())) })
		all.Go(func() { s.List() })
		all.Wait()
		if passed.Load() == (denied == nil) && passed.Load() {
			t.Fatalf("round %d: it passed, and was denied", i)
		}
		if s.Take(c.Binding()) && denied == nil {
			t.Fatalf("round %d: it passes after a denial", i)
		}
	}
}
