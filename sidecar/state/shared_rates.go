package state

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

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
