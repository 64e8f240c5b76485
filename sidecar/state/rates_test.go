package state

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestRatesByWindow(t *testing.T) {
	r := NewRates(10, nil)
	for minute, n := range []int{1, 2, 0, 4} {
		r.Add("a", noon.Add(time.Duration(minute)*time.Minute), map[string]int{"deletes": n, "calls": 1})
	}
	r.Add("b", noon, map[string]int{"deletes": 100})
	at := r.Session("a", noon.Add(3*time.Minute))
	for _, c := range []struct {
		kind   string
		window time.Duration
		want   int
	}{
		{"deletes", 30 * time.Second, 4}, {"deletes", 2 * time.Minute, 6}, {"deletes", time.Hour, 7},
		{"calls", 90 * time.Second, 2}, {"calls", time.Hour, 4}, {"denied", time.Hour, 0},
	} {
		if got := at.Count(c.kind, c.window); got != c.want {
			t.Errorf("%s in %v: %d, want %d", c.kind, c.window, got, c.want)
		}
	}
	if n := r.Session("a", noon.Add(25*time.Hour)).Count("deletes", time.Hour); n != 0 {
		t.Errorf("a day later there were %d", n)
	}
	if n := r.Session("c", noon).Count("deletes", time.Hour); n != 0 {
		t.Errorf("an unknown session did %d", n)
	}
}

// A caller that makes up names of tools takes no more room than others, and gets no rate of 0.
func TestKindsAreBounded(t *testing.T) {
	r := NewRates(1, nil)
	for i := range 3 * maxKinds {
		r.Add("a", noon, map[string]int{fmt.Sprint("tool:", i): 1})
	}
	if n := len(*r.sessions.Get("a")); n > maxKinds+1 {
		t.Errorf("%d kinds", n)
	}
	for _, kind := range []string{"tool:0", fmt.Sprint("tool:", 3*maxKinds-1)} {
		if r.Session("a", noon).Count(kind, time.Hour) == 0 {
			t.Errorf("%s is not counted", kind)
		}
	}
}

// Where there is no room, too much is counted and not too little.
func TestRatesAreBounded(t *testing.T) {
	r := NewRates(2, nil)
	now := noon
	for range 3 * maxMoments {
		now = now.Add(time.Second)
		r.Add("a", now, map[string]int{"calls": 1})
	}
	if n := len((*r.sessions.Get("a"))["calls"]); n > maxMoments {
		t.Errorf("%d moments are kept", n)
	}
	if n := r.Session("a", now).Count("calls", time.Hour); n != 3*maxMoments {
		t.Errorf("%d of %d calls are counted", n, 3*maxMoments)
	}
	r.Add("b", now.Add(time.Second), map[string]int{"calls": 1})
	r.Add("c", now.Add(2*time.Second), map[string]int{"calls": 1})
	if r.sessions.Get("a") != nil || r.sessions.Len() != 2 {
		t.Errorf("%d sessions, the quietest among them", r.sessions.Len())
	}
	for range 2 * maxMoments {
		now = now.Add(10 * time.Minute)
		r.Add("c", now, map[string]int{"calls": 1})
	}
	if n := len((*r.sessions.Get("c"))["calls"]); n > 24*6+1 {
		t.Errorf("%d moments of more than a day are kept", n)
	}
}

// A session that goes on for days is counted as it was lately: never too little, and over a window that is a
// twentieth too long at most.
func TestRatesOfLongSessions(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 7 * time.Second, time.Minute, 3 * time.Minute} {
		r, now := NewRates(1, nil), noon
		for i := range int(50 * time.Hour / every) {
			now = now.Add(every)
			r.Add("a", now, map[string]int{"calls": 1})
			if i%97 > 0 || now.Sub(noon) < longest {
				continue
			}
			for _, window := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 9 * time.Hour,
				longest} {
				if got := time.Duration(r.Session("a", now).Count("calls", window)) * every; got < window ||
					got > window+window/precision+every+2*time.Second {
					t.Fatalf("a call every %v: in %v, %v are counted", every, window, got)
				}
			}
			if n := len((*r.sessions.Get("a"))["calls"]); n > maxMoments {
				t.Fatalf("a call every %v: %d moments are kept", every, n)
			}
		}
	}
}

// A clock that is set back loses nothing.
func TestRatesWithAClockSetBack(t *testing.T) {
	r := NewRates(1, nil)
	r.Add("a", noon, map[string]int{"calls": 1})
	r.Add("a", noon.Add(-time.Hour), map[string]int{"calls": 1})
	if n := r.Session("a", noon.Add(-time.Hour)).Count("calls", time.Minute); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestRatesConcurrently(t *testing.T) {
	r := NewRates(4, nil)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				id := fmt.Sprint(i % 6)
				r.Add(id, noon.Add(time.Duration(i+w)*time.Second), map[string]int{"calls": 1})
				r.Session(id, noon).Count("calls", time.Hour)
			}
		})
	}
	wg.Wait()
	if r.sessions.Len() > 4 {
		t.Errorf("%d sessions", r.sessions.Len())
	}
}
