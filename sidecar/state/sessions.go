package state

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Pace is how much one session may ask.
type Pace struct {
	AtOnce    int // requests that are being served
	PerMinute int // requests, on average; as many may come in one burst
}

// Sessions holds back those who ask too much. The session that was quiet for longest
// makes room; one that is being served never does. It is safe for concurrent use, and
// has no clock of its own.
type Sessions struct {
	mu   sync.Mutex
	list *recent.Map[asking]
}

// asking is what one session does.
type asking struct {
	open   int
	tokens float64 // requests that it may make at once
	since  time.Time
}

// NewSessions remembers at most limit sessions, and all that are being served.
func NewSessions(limit int) *Sessions {
	return &Sessions{list: recent.New(limit, func(a *asking) bool { return a.open > 0 })}
}

// Enter begins a request, to be ended by Leave. Where the session has too many, it says
// how long to wait, and nothing has begun.
func (s *Sessions) Enter(id string, now time.Time, p Pace) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, made := s.list.Use(id)
	if made {
		*a = asking{tokens: float64(p.PerMinute), since: now}
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

// Leave ends a request that Enter began.
func (s *Sessions) Leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.Get(id).open--
}
