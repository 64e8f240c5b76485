package state

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Pace limits the requests of one session.
type Pace struct {
	AtOnce    int // active requests
	PerMinute int // average; as many may come in one burst
}

// Sessions limits the requests of each session. The least recently used session is dropped unless it
// has an active request. It is safe for concurrent use and has no clock.
type Sessions struct {
	mu   sync.Mutex
	list *recent.Map[usage]
}

// usage is the activity of one session.
type usage struct {
	open   int
	tokens float64 // requests that it may make at once
	since  time.Time
}

// NewSessions remembers at most limit sessions, and all with active requests.
func NewSessions(limit int) *Sessions {
	return &Sessions{list: recent.New(limit, func(a *usage) bool { return a.open > 0 })}
}

// Enter begins a request, which Leave must end. If the session has too many, it returns how long to
// wait, and nothing has begun.
func (s *Sessions) Enter(id string, now time.Time, p Pace) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, made := s.list.Use(id)
	if made {
		*a = usage{tokens: float64(p.PerMinute), since: now}
	}
	perSecond := float64(p.PerMinute) / 60
	if passed := now.Sub(a.since); passed > 0 {
		a.tokens, a.since = a.tokens+passed.Seconds()*perSecond, now
	}
	a.tokens = min(a.tokens, float64(p.PerMinute)) // also where the limit was lowered
	switch {
	case a.open >= p.AtOnce:
		return time.Second
	case a.tokens < 1:
		return time.Duration((1 - a.tokens) / perSecond * float64(time.Second))
	}
	a.tokens--
	a.open++
	return 0
}

// Leave ends a request.
func (s *Sessions) Leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Get(id).open--
}
