package state

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
)

// Above these bounds too much is counted rather than too little: they must not be a way around a rule.
const (
	maxMoments = 512 // of one kind in one session
	// precision is the part of their age by which moments may seem younger if there are too many.
	precision = 20
	maxKinds  = 256            // in one session; further kinds are counted together, for each of them
	longest   = 24 * time.Hour // longest window of a rule
)

// Rates counts what sessions do, for the rules. The least recently used session is dropped. It is safe
// for concurrent use and has no clock.
type Rates struct {
	peers PeerRates // may be nil

	mu       sync.Mutex
	sessions *recent.Map[session]
	away     *recent.Map[peerCounts]
	changed  map[string]bool // sessions to publish
}

// session is what one session did, by kind, oldest first.
type session map[string][]moment

// otherKinds is the key of the kinds above maxKinds.
const otherKinds = ""

// moment is a count at a time.
type moment struct {
	at time.Time
	n  int
}

// NewRates remembers at most limit sessions, and at least one. Others knows those of other replicas;
// may be nil.
func NewRates(limit int, peers PeerRates) *Rates {
	limit = max(limit, 1)
	return &Rates{peers: peers, sessions: recent.New[session](limit, nil),
		away: recent.New[peerCounts](limit, nil), changed: map[string]bool{}}
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
			kind = otherKinds
		}
		if n > 0 {
			(*s)[kind] = appendMoment((*s)[kind], moment{now.Truncate(time.Second), n})
		}
	}
}

// appendMoment appends a moment and drops old ones.
func appendMoment(list []moment, m moment) []moment {
	for len(list) > 0 && m.at.Sub(list[0].at) > longest {
		list = list[1:]
	}
	if n := len(list); n > 0 && !m.at.After(list[n-1].at) {
		list[n-1].n += m.n
		return list
	}
	if len(list) == maxMoments {
		list = thinned(list, m.at)
	}
	return append(list, m)
}

// thinned merges moments: each is counted with the next, as if it were as late, if they are near
// enough. Of 512 in a day some always are. The first one is not merged, since what it holds already is
// unknown; it is dropped in time.
func thinned(list []moment, now time.Time) []moment {
	out := list[:1]
	for _, m := range list[1:] {
		if last := len(out) - 1; last > 0 && now.Sub(m.at) >= precision*m.at.Sub(out[last-1].at) {
			m.n += out[last].n
			out = out[:last]
		}
		out = append(out, m)
	}
	return out
}

// Session returns the counts of one session until now.
func (r *Rates) Session(id string, now time.Time) sessionRates { return sessionRates{r, id, now} }

// sessionRates are the counts of one session at a time.
type sessionRates struct {
	of  *Rates
	id  string
	now time.Time
}

// Count returns how much of a kind there was within the window that ends now.
func (s sessionRates) Count(kind string, window time.Duration) (n int) {
	for _, did := range s.of.peerSessions(s.id, s.now) {
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
		list = s[otherKinds]
	}
	for _, m := range list {
		if now.Sub(m.at) < window+time.Second { // a moment is known to the second
			n += m.n
		}
	}
	return n
}

// PeerRates shares what sessions did at each replica.
type PeerRates interface {
	// Publish sets what a session did here. It does not wait.
	Publish(session string, doc []byte)
	// Read returns what it did at the other replicas, within a bounded time; nothing if that is
	// unknown.
	Read(session string) [][]byte
}

const (
	// publishEvery and peerTTL bound the age of what other replicas know.
	publishEvery = 250 * time.Millisecond
	peerTTL      = 500 * time.Millisecond
)

// peerCounts is what a session did at other replicas.
type peerCounts struct {
	asked time.Time
	list  []session
}

// Share publishes what sessions do until ctx ends, and once more then.
func (r *Rates) Share(ctx context.Context) {
	if r.peers == nil {
		return
	}
	tick := time.NewTicker(publishEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.publish()
			return
		case <-tick.C:
			r.publish()
		}
	}
}

func (r *Rates) publish() {
	r.mu.Lock()
	changed := r.changed
	r.changed = map[string]bool{}
	docs := make(map[string][]byte, len(changed))
	for id := range changed {
		if s := r.sessions.Get(id); s != nil {
			docs[id] = s.encode()
		}
	}
	r.mu.Unlock()
	for id, doc := range docs {
		r.peers.Publish(id, doc)
	}
}

// peerSessions returns what a session did elsewhere.
func (r *Rates) peerSessions(id string, now time.Time) []session {
	if r.peers == nil {
		return nil
	}
	r.mu.Lock()
	known, made := r.away.Use(id)
	if !made && now.Sub(known.asked) < peerTTL {
		defer r.mu.Unlock()
		return known.list
	}
	known.asked = now // others need not wait for the same
	r.mu.Unlock()
	var list []session
	for _, doc := range r.peers.Read(id) {
		if s, err := decodeSession(doc); err == nil {
			list = append(list, s)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, _ = r.away.Use(id)
	known.asked, known.list = now, list
	return list
}

// peerSession is a session as replicas exchange it: by kind, seconds and counts in turn.
type peerSession struct {
	Kinds map[string][]int64 `json:"kinds"`
}

func (s session) encode() []byte {
	out := peerSession{make(map[string][]int64, len(s))}
	for kind, list := range s {
		flat := make([]int64, 0, 2*len(list))
		for _, m := range list {
			flat = append(flat, m.at.Unix(), int64(m.n))
		}
		out.Kinds[kind] = flat
	}
	doc, _ := json.Marshal(out) // texts and numbers
	return doc
}

var errNoSession = errors.New("this is nothing that a session did")

// decodeSession reads a session of another replica.
func decodeSession(doc []byte) (session, error) {
	var in peerSession
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, errNoSession
	}
	s := make(session, len(in.Kinds))
	for kind, flat := range in.Kinds {
		if len(flat)%2 != 0 || len(flat) > 2*maxMoments {
			return nil, errNoSession
		}
		for ; len(flat) > 0; flat = flat[2:] {
			if flat[1] < 0 || flat[1] > maxPeerCount {
				return nil, errNoSession
			}
			s[kind] = append(s[kind], moment{time.Unix(flat[0], 0), int(flat[1])})
		}
	}
	return s, nil
}

// maxPeerCount is more than a session can do: a larger number is a mistake.
const maxPeerCount = 1 << 30
