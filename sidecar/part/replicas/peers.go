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
	// silentFor is how long a replica may be silent before it counts as stopped.
	silentFor = 4 * meetEvery
)

// Peer is a replica as it describes itself.
type Peer struct {
	ID    string    `json:"id"`
	Rules string    `json:"rules"`                 // version in force
	Seen  time.Time `json:"seen"`                  // by the server's clock
	Ahead float64   `json:"clock_ahead,omitempty"` // seconds by which its own clock is ahead; 0: it is right
}

// exchangePeers tells other replicas of this one and learns of them, until ctx ends.
func (s *Store) exchangePeers(ctx context.Context, rules func() string) {
	tick := time.NewTicker(meetEvery)
	defer tick.Stop()
	for {
		s.exchange(ctx, rules())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Store) exchange(ctx context.Context, rules string) {
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
		reply := p.HGetAll(ctx, key)
		_, err := p.Exec(ctx)
		all = reply.Val()
		return err
	})
	me := s.me(rules)
	peers := []Peer{me}
	if err == nil {
		var old []string
		for id, value := range all {
			text, ok := s.openValue(key+" "+id, value)
			var p Peer
			if id == s.Replica || !ok || json.Unmarshal(text, &p) != nil {
				continue
			}
			if age := me.Seen.Sub(p.Seen); age > silentFor || age < -silentFor {
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

// Peers returns the replicas seen lately, with this one; only this one while the server is away.
func (s *Store) Peers() []Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.peers)
}

// farOff is the clock difference above which the log warns. A slow answer looks like at most a second of
// it.
const farOff = 3 * time.Second

// clock compares this replica's clock with that of the server.
type clock struct {
	ahead   time.Duration
	wrong   bool // the difference was logged
	unknown bool // it was logged that the server does not tell the time
}

// Clock returns the server's time, for what replicas share, since a replica's clock may be wrong. Until the
// server was asked it is the replica's time.
func (s *Store) Clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Now().Add(-s.clock.ahead)
}

// measure asks the server for its time. If the server refuses, this replica's clock counts.
func (s *Store) measure(ctx context.Context) error {
	before := s.Now()
	theirs, err := s.client.Time(ctx).Result()
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.clock
	if err != nil {
		if !refusedByServer(err) {
			return err
		}
		if !c.unknown {
			c.unknown = true
			s.Log.Warn("the server that replicas share does not tell its time, so each goes by its own clock: let its user do +time", "event", "clock_unknown", "detail", logText(err))
		}
		return nil
	}
	c.ahead, c.unknown = now.Add(-now.Sub(before)/2).Sub(theirs), false
	wrong := c.ahead.Abs() > farOff
	switch {
	case wrong && !c.wrong:
		s.Log.Warn("the clock of this replica differs from that of the server that replicas share, which is gone by: set it", "event", "clock_differs", "ahead", c.ahead.Round(time.Millisecond).String())
	case !wrong && c.wrong:
		s.Log.Info("the clock of this replica is that of the server again", "event", "clock_agrees")
	}
	c.wrong = wrong
	return nil
}

// me describes this replica to others.
func (s *Store) me(rules string) Peer {
	p := Peer{ID: s.Replica, Rules: rules, Seen: s.Clock()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.wrong {
		p.Ahead = s.clock.ahead.Round(time.Second).Seconds()
	}
	return p
}
