package approvals

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// table is a board in memory.
type table struct {
	mu    sync.Mutex
	all   map[string]Posted
	marks int
	added string
	away  bool
	lost  int    // so many changes come too late
	first func() // what another replica does before the next change; nil: nothing
}

var errAway = errors.New("it is away")

func (b *table) Read() ([]Posted, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, "", errAway
	}
	return slices.Collect(maps.Values(b.all)), b.added, nil
}

func (b *table) Swap(list []Swap, added string) (bool, error) {
	if first := b.first; first != nil {
		b.first = nil
		first()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return false, errAway
	}
	if b.lost > 0 {
		b.lost--
		return false, nil
	}
	for _, c := range list {
		if b.all[c.ID].Mark != c.Was || c.Was == "" && b.added != added {
			return false, nil
		}
	}
	for _, c := range list {
		if c.Entry == nil {
			delete(b.all, c.ID)
			continue
		}
		if c.Was == "" {
			b.added = c.ID
		}
		b.marks++
		b.all[c.ID] = Posted{*c.Entry, c.Binding, fmt.Sprint(b.marks)}
	}
	return true, nil
}

// at is a clock that stands.
type at struct{ now time.Time }

func replicas(n int) (b *table, clock *at, stores []*Store, counted []*counts) {
	b, clock = &table{all: map[string]Posted{}}, &at{time.Unix(1e9, 0)}
	for range n {
		c := &counts{}
		stores, counted = append(stores, New(limits, func() time.Time { return clock.now }, c,
			b, "")), append(counted, c)
	}
	return b, clock, stores, counted
}

// What is asked, answered and used at different replicas is one question, and each change of it is
// counted by one of them.
func TestBoard(t *testing.T) {
	_, clock, s, n := replicas(3)
	c := does("deploy")
	e := s[0].Request(c, Reason{})
	if again := s[1].Request(c, Reason{}); again.ID != e.ID || again.Times != 2 {
		t.Errorf("%+v", again)
	}
	if got, err := s[2].Allow(e.ID, "Sam"); err != nil || got.State != Allowed {
		t.Fatal(got, err)
	}
	if _, err := s[0].Allow(e.ID, "Kim"); err == nil {
		t.Error("it was allowed twice")
	}
	if id := s[1].Take(c.Binding()); id != e.ID {
		t.Errorf("taken %q", id)
	}
	if id := s[0].Take(c.Binding()); id != "" {
		t.Errorf("taken again: %q", id)
	}
	n[0].want(t, 0, map[string]int{"asked": 1})
	n[1].want(t, 0, map[string]int{"used": 1})
	if n[2].of["allowed"] != 1 {
		t.Errorf("%v", n[2].of)
	}
	// The time of a question ends at one of them, and what is over is forgotten by all.
	late := s[0].Request(does("rm"), Reason{})
	clock.now = clock.now.Add(limits.Pending)
	if got, err := s[1].Get(late.ID); err != nil || got.State != Expired {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := s[2].Get(late.ID); err != nil || got.State != Expired ||
		n[0].of["expired"]+n[1].of["expired"]+n[2].of["expired"] != 1 {
		t.Errorf("%+v %v", got, err)
	}
	clock.now = clock.now.Add(2 * limits.Denied)
	if got, err := s[2].Allow(late.ID, "Sam"); !errors.Is(err, ErrUnknown) {
		t.Errorf("%+v %v", got, err)
	}
}

// Revisions are the same at each replica, and stay while nothing changes.
func TestBoardRevision(t *testing.T) {
	_, _, s, _ := replicas(2)
	s[0].Request(does("a"), Reason{})
	s[0].Request(does("b"), Reason{})
	if err := s[1].update(func(time.Time) {}); err != nil {
		t.Fatal(err)
	}
	_, one, _ := s[0].List()
	list, other, changed := s[1].List()
	if one != other || one == 0 || len(list) != 2 {
		t.Errorf("%d and %d of %d", one, other, len(list))
	}
	if err := s[1].update(func(time.Time) {}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
		t.Error("nothing has changed, and it is told")
	default:
	}
}

// Whoever is slower tries again; where the board is away, nothing passes and nothing has happened.
func TestBoardAway(t *testing.T) {
	b, _, s, n := replicas(1)
	c := does("deploy")
	b.lost = maxTries - 1
	e := s[0].Request(c, Reason{})
	if e.State != Pending || len(b.all) != 1 {
		t.Fatalf("%+v", e)
	}
	n[0].want(t, 1, map[string]int{"asked": 1})
	if _, err := s[0].Allow(e.ID, "Sam"); err != nil {
		t.Fatal(err)
	}
	for _, away := range []func(){func() { b.lost = maxTries }, func() { b.away = true }} {
		away()
		if id := s[0].Take(c.Binding()); id != "" {
			t.Errorf("it has passed: %s", id)
		}
		if got, err := s[0].Get(e.ID); err != nil || got.State != Allowed {
			t.Errorf("%+v %v", got, err)
		}
	}
	if got := s[0].Request(does("other"), Reason{}); got.State != Unknown || got.ID != "" {
		t.Errorf("%+v", got)
	}
	if _, err := s[0].Deny(e.ID, "Sam", ""); !errors.Is(err, ErrAway) || !errors.Is(err, errAway) {
		t.Errorf("%v", err)
	}
	b.away = false
	if id := s[0].Take(c.Binding()); id != e.ID {
		t.Errorf("taken %q", id)
	}
}

// What was allowed is used at one replica while another looks at it: that one asks anew.
func TestBoardUsedMeanwhile(t *testing.T) {
	b, _, s, n := replicas(2)
	c := does("deploy")
	asked := s[0].Request(c, Reason{})
	if _, err := s[0].Allow(asked.ID, "Sam"); err != nil {
		t.Fatal(err)
	}
	b.first = func() {
		if id := s[0].Take(c.Binding()); id != asked.ID {
			t.Errorf("taken %q", id)
		}
	}
	if e := s[1].Request(c, Reason{}); e.State != Pending || e.ID == asked.ID || e.By != "" || e.Times != 1 {
		t.Errorf("%+v", e)
	}
	if id := s[1].Take(c.Binding()); id != "" {
		t.Errorf("one answer is used twice, as %q", id)
	}
	n[1].want(t, 1, map[string]int{"asked": 1})
}

// Who asks the same at several replicas at once asks one question.
func TestBoardOneQuestion(t *testing.T) {
	b, _, s, n := replicas(8)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if e := s[i%8].Request(does("deploy"), Reason{}); e.State != Pending {
				t.Errorf("%+v", e)
			}
		})
	}
	all.Wait()
	list, _, err := b.Read()
	if err != nil || len(list) != 1 || list[0].Times != 64 {
		t.Errorf("%d questions: %+v %v", len(list), list, err)
	}
	asked := 0
	for _, c := range n {
		asked += c.of["asked"]
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
