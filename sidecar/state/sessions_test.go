package state

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestSessionsAtOnce(t *testing.T) {
	s, p := NewSessions(10), Pace{AtOnce: 2, PerMinute: 100}
	for i, want := range []time.Duration{0, 0, time.Second} {
		if wait := s.Enter("a", noon, p); wait != want {
			t.Errorf("request %d waits %s", i, wait)
		}
	}
	if wait := s.Enter("b", noon, p); wait != 0 {
		t.Errorf("another session waits %s", wait)
	}
	s.Leave("a")
	if wait := s.Enter("a", noon, p); wait != 0 {
		t.Errorf("after one has left: %s", wait)
	}
}

func TestSessionsPerMinute(t *testing.T) {
	s, p := NewSessions(10), Pace{AtOnce: 9, PerMinute: 6} // one every ten seconds
	ask := func(after time.Duration) time.Duration {
		wait := s.Enter("a", noon.Add(after), p)
		if wait == 0 {
			s.Leave("a")
		}
		return wait
	}
	for range 6 {
		if wait := ask(0); wait != 0 {
			t.Errorf("a burst waits %s", wait)
		}
	}
	for _, row := range []struct{ after, want time.Duration }{
		{0, 10 * time.Second}, {4 * time.Second, 6 * time.Second}, {10 * time.Second, 0}, {10 * time.Second, 10 * time.Second},
		{5 * time.Second, 10 * time.Second}, {2 * time.Hour, 0}, // a clock that goes back gives nothing
	} {
		if wait := ask(row.after).Round(time.Millisecond); wait != row.want {
			t.Errorf("after %s: %s, want %s", row.after, wait, row.want)
		}
	}
	p.PerMinute = 1
	if first, second := ask(2*time.Hour), ask(2*time.Hour); first != 0 || second != time.Minute {
		t.Errorf("a lower limit: %s, then %s", first, second)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	s, p := NewSessions(3), Pace{AtOnce: 1, PerMinute: 1}
	s.Enter("served", noon, p)
	for i := range 100 {
		id := fmt.Sprint(i)
		if wait := s.Enter(id, noon.Add(time.Duration(i)*time.Second), p); wait != 0 {
			t.Fatalf("%d waits %s", i, wait)
		}
		s.Leave(id)
	}
	if s.list.Len() != 3 || s.list.Get("served") == nil || s.list.Get("99") == nil {
		t.Errorf("remembered: %d", s.list.Len())
	}
	s.Leave("served")
}

func TestSessionsTogether(t *testing.T) {
	s, p := NewSessions(2), Pace{AtOnce: 1000, PerMinute: 1000}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			id := fmt.Sprint(i % 5)
			if s.Enter(id, noon, p) == 0 {
				s.Leave(id)
			}
		})
	}
	all.Wait()
	for id := range s.list.All() {
		if open := s.list.Get(id).open; open != 0 {
			t.Errorf("%s: %d open", id, open)
		}
	}
}
