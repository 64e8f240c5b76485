package state

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Bounds of what is counted. Where they are reached, too much is counted rather than
// too little: the bounds must not be a way around a rule.
const (
	maxMoments = 512 // of one kind in one session
	// where there are more, they are taken for younger by this part of their age at most
	near     = 20
	maxKinds = 256            // in one session; more are counted together, for each of them
	longest  = 24 * time.Hour // the longest window that a rule may have
)

// Rates counts what sessions do, so that rules can see how much there was lately. The
// session that was quiet for longest makes room. It is safe for concurrent use, and
// has no clock of its own.
type Rates struct {
	peers PeerRates // nil: there are no other replicas

	mu       sync.Mutex
	sessions *recent.Map[session]
	away     *recent.Map[heardOf]
	changed  map[string]bool // sessions that others do not know yet as they are
}

// session is what one session did, by kind, the oldest first.
type session map[string][]moment

// otherSessions are the kinds for which there was no room.
const otherSessions = ""

// moment is how much there was at a time.
type moment struct {
	at time.Time
	n  int
}

// NewRates remembers at most limit sessions, and always one. Others know what they did at other
// replicas; nil: there are none.
func NewRates(limit int, others PeerRates) *Rates {
	limit = max(limit, 1)
	return &Rates{peers: others, sessions: recent.New[session](limit, nil), away: recent.New[heardOf](limit,
		nil), changed: map[string]bool{}}
}

// Add counts what a session has done now.
func (r *Rates) Add(id string, now time.Time, counts map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, made := r.sessions.Use(id)
	if made {
		*s = make(session)
	}
	if r.peers != nil {
		r.changed[id] = true
	}
	for kind, n := range counts {
		if _, known := (*s)[kind]; !known && len(*s) >= maxKinds {
			kind = otherSessions
		}
		if n > 0 {
			(*s)[kind] = add((*s)[kind], moment{now.Truncate(time.Second), n})
		}
	}
}

// add puts a moment behind the others.
func add(list []moment, m moment) []moment {
	for len(list) > 0 && m.at.Sub(list[0].at) > longest {
		list = list[1:]
	}
	if n := len(list); n > 0 && !m.at.After(list[n-1].at) {
		list[n-1].n += m.n
		return list
	}
	if len(list) == maxMoments {
		list = joined(list, m.at)
	}
	return append(list, m)
}

// joined are fewer moments: each is counted with the next, as if it were as late, where that is near enough.
// Of 512 in a day some always are. The first one joins none, as what it holds already is unknown: so it is
// forgotten when its time comes.
func joined(list []moment, now time.Time) []moment {
	out := list[:1]
	for _, m := range list[1:] {
		if last := len(out) - 1; last > 0 && now.Sub(m.at) >= near*m.at.Sub(out[last-1].at) {
			m.n += out[last].n
			out = out[:last]
		}
		out = append(out, m)
	}
	return out
}

// Session is what one session did until now.
func (r *Rates) Session(id string, now time.Time) sessionRates { return sessionRates{r, id, now} }

// sessionRates are the counts of one session at a time.
type sessionRates struct {
	of  *Rates
	id  string
	now time.Time
}

// Count says how much of a kind there was within the window that ends now.
func (s sessionRates) Count(kind string, window time.Duration) (n int) {
	for _, did := range s.of.reads(s.id, s.now) {
		n += did.count(kind, window, s.now)
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if known := s.of.sessions.Get(s.id); known != nil {
		n += known.count(kind, window, s.now)
	}
	return n
}

func (s session) count(kind string, window time.Duration, now time.Time) (n int) {
	list, counted := s[kind]
	if !counted {
		list = s[otherSessions]
	}
	for _, m := range list {
		if now.Sub(m.at) < window+time.Second { // a moment is known to the second
			n += m.n
		}
	}
	return n
}
