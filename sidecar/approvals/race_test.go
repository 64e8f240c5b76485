package approvals

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of two that want to use one approval, one does.
func TestTakesRace(t *testing.T) {
	s := New(limits, time.Now, &counts{}, nil, "")
	for i := range 1000 {
		c := does(fmt.Sprint(i))
		if _, err := s.Allow(s.Request(c, Reason{}).ID, "ada"); err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if s.Take(c.Binding()) != "" {
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
	s := New(limits, time.Now, &counts{}, nil, "")
	for i := range 1000 {
		c := does(fmt.Sprint(i))
		id := s.Request(c, Reason{}).ID
		var all sync.WaitGroup
		var passed atomic.Bool
		var denied error
		all.Go(func() { _, _ = s.Allow(id, "ada") })
		all.Go(func() { _, denied = s.Deny(id, "bob", "") })
		all.Go(func() { s.Request(c, Reason{}); passed.Store(s.Take(c.Binding()) != "") })
		all.Go(func() { s.List() })
		all.Wait()
		if passed.Load() == (denied == nil) && passed.Load() {
			t.Fatalf("round %d: it passed, and was denied", i)
		}
		if s.Take(c.Binding()) != "" && denied == nil {
			t.Fatalf("round %d: it passes after a denial", i)
		}
	}
}
