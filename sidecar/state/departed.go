package state

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// maxDeparted is how many calls are remembered.
const maxDeparted = 4096

// Departed holds the calls that have left for a gateway, so that a gateway that asks before it runs
// one gets no second decision. Each is found once. It is safe for concurrent use.
type Departed struct {
	far   Departures // may be nil
	mu    sync.Mutex
	calls *recent.Map[[sha256.Size]byte] // hashes by call id
}

// Departures holds the calls that have left at any replica, by a key of their content.
type Departures interface {
	Leave(key string) // does not wait
	// Take gives a call to one replica, once, within a bounded time. known is false if it is unknown
	// whether it was taken.
	Take(key string) (taken, known bool)
}

// NewDeparted returns Departed without calls. far holds those of other replicas; may be nil.
func NewDeparted(far Departures) *Departed {
	return &Departed{far: far, calls: recent.New[[sha256.Size]byte](maxDeparted, nil)}
}

// Add notes a call that leaves.
func (l *Departed) Add(id, tool string, arguments []byte) {
	key, sum := gatewayID(id), sumOf(tool, arguments)
	if key == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, _ := l.calls.Use(key)
	if *known = sum; l.far != nil {
		l.far.Leave(key + string(sum[:]))
	}
}

// Take reports whether exactly this call has left, and removes it.
func (l *Departed) Take(id, tool string, arguments []byte) bool {
	key, sum := gatewayID(id), sumOf(tool, arguments)
	here := l.takeHere(key, sum)
	if l.far == nil || key == "" {
		return here
	}
	taken, known := l.far.Take(key + string(sum[:])) // another replica may have been faster
	return taken || here && !known
}

func (l *Departed) takeHere(key string, sum [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.calls.Get(key)
	if known == nil || *known != sum {
		return false
	}
	l.calls.Drop(key)
	return true
}

// gatewayID returns a call id as OpenClaw may change it: letters and digits, at most 40.
func gatewayID(id string) string {
	short := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id)
	return short[:min(len(short), 40)]
}

// sumOf returns the hash of a call, however its JSON is written: a gateway parses and writes it again.
// Numbers keep their digits.
func sumOf(tool string, arguments []byte) [sha256.Size]byte {
	return sha256.Sum256(jsontext.AppendCanon(append([]byte(tool), 0), arguments))
}

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
