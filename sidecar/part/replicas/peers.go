package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

const (
	meetEvery = 3 * time.Second
	// gone is when a replica that has said nothing is taken for stopped.
	gone = 4 * meetEvery
)

// Peer is a replica, as it tells of itself.
type Peer struct {
	ID    string    `json:"id"`
	Rules string    `json:"rules"`                 // version in force
	Seen  time.Time `json:"seen"`                  // by the server's clock
	Ahead float64   `json:"clock_ahead,omitempty"` // seconds by which its own clock differs; 0: it is right
}

// meet tells the other replicas of this one, and hears of them, until ctx ends.
func (s *Store) meet(ctx context.Context, rules func() string) {
	tick := time.NewTicker(meetEvery)
	defer tick.Stop()
	for {
		s.greet(ctx, rules())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Store) greet(ctx context.Context, rules string) {
	key := s.key("replicas", "")
	var all map[string]string
	err := s.ask(ctx, askReplicas, s.Patience, func(ctx context.Context) error {
		if err := s.measure(ctx); err != nil {
			return err
		}
		doc, _ := json.Marshal(s.me(rules)) // of texts, a time and a number
		p := s.client.Pipeline()
		p.HSet(ctx, key, s.Replica, s.seal.close(key+" "+s.Replica, doc))
		p.PExpire(ctx, key, time.Hour)
		said := p.HGetAll(ctx, key)
		_, err := p.Exec(ctx)
		all = said.Val()
		return err
	})
	me := s.me(rules)
	peers := []Peer{me}
	if err == nil {
		var old []string
		for id, value := range all {
			text, ok := s.read(key+" "+id, value)
			var p Peer
			if id == s.Replica || !ok || json.Unmarshal(text, &p) != nil {
				continue
			}
			if age := me.Seen.Sub(p.Seen); age > gone || age < -gone {
				old = append(old, id)
				continue
			}
			peers = append(peers, p)
		}
		if len(old) > 0 {
			// or the next time
			_ = s.ask(ctx, askReplicas, s.Patience,
				func(ctx context.Context) error { return s.client.HDel(ctx, key, old...).Err() })
		}
	}
	slices.SortFunc(peers, func(a, b Peer) int { return cmp.Compare(a.ID, b.ID) })
	s.mu.Lock()
	s.peers = peers
	s.mu.Unlock()
	versions := map[string]int{}
	for _, p := range peers {
		versions[p.Rules]++
	}
	s.Metrics.Replicas.Reset()
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		s.Metrics.Replicas.WithLabelValues(v).Set(float64(versions[v]))
	}
}

// Peers are the replicas that were heard of lately, this one among them; only this one while the
// server is away.
func (s *Store) Peers() []Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.peers)
}
