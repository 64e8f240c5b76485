package approvals

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Nobody answers: that is a no, and everybody can see it without asking.
func TestExpiry(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		e := s.Request(call(), Reason{})
		time.Sleep(limits.Pending - time.Nanosecond)
		state(t, s, e.ID, Pending)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		n.want(t, 0, map[string]int{"asked": 1, "expired": 1}) // by the timer alone
		if e := state(t, s, e.ID, Expired); e.Note != "no person answered within 10m0s" {
			t.Error(e.Note)
		}
		time.Sleep(limits.Denied)
		if _, err := s.Get(e.ID); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is remembered for ever: %v", err)
		}
	})
}

func TestGrantExpires(t *testing.T) {
	timed(t, func(t *testing.T, s *Store, n *counts) {
		c := call()
		e := s.Request(c, Reason{})
		time.Sleep(limits.Pending - time.Second) // the grant has a time of its own
		if _, err := s.Allow(e.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(limits.Granted)
		if s.Take(c.Binding()) != "" {
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
	s := New(limits, func() time.Time { return at }, &counts{}, nil, "")
	c := call()
	e := s.Request(c, Reason{})
	if _, err := s.Allow(e.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	at = at.Add(limits.Granted)
	if s.Take(c.Binding()) != "" {
		t.Error("it passes after its time")
	}
	at = at.Add(time.Hour)
	if list, _, _ := s.List(); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// A clock that is set back makes the timer too early, and nothing stays for ever.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Int64
		n := &counts{}
		s := New(limits, func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }, n, nil, "")
		s.Request(call(), Reason{})
		back.Store(int64(time.Minute))
		time.Sleep(limits.Pending + time.Second)
		synctest.Wait()
		n.want(t, 1, map[string]int{"asked": 1})
		time.Sleep(time.Minute)
		synctest.Wait()
		n.want(t, 0, map[string]int{"asked": 1, "expired": 1})
	})
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
		if pending != limits.PerSession+1 || len(list) > pending+limits.Total+2 {
			t.Errorf("%d pending of %d", pending, len(list))
		}
		state(t, s, ids[len(ids)-limits.PerSession], Pending)
		if e := state(t, s, ids[len(ids)-limits.PerSession-1],
			Expired); e.Note != "newer ones needed its place" {
			t.Error(e.Note)
		}
		if got := s.Request(other, Reason{}); got.Times != 2 {
			t.Errorf("another session has lost its place: %+v", got)
		}
		if got := s.Request(denied, Reason{}); got.State != Denied {
			t.Errorf("the denial is forgotten: %+v", got)
		}
		if s.Take(granted.Binding()) == "" {
			t.Error("the approval is lost")
		}
		for i := range 1000 { // as many sessions
			c := does("x")
			c.Session = fmt.Sprint("s", i)
			s.Request(c, Reason{})
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.pending != limits.Total {
			t.Errorf("%d pending", n.pending)
		}
	})
}
