package replicas

import (
	"context"
	"time"
)

// farOff is by how much a replica's clock may differ from the server's before the log warns. An answer that
// is slow looks like a second of it at most.
const farOff = 3 * time.Second

// clock is how this replica's clock stands to that of the server.
type clock struct {
	ahead   time.Duration
	wrong   bool // it was said that they differ
	unknown bool // it was said that the server does not tell the time
}

// Clock is the time for what replicas share: that of the server, since the clock of one replica may be wrong.
// Until the server was asked it is that of this replica.
func (s *Store) Clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Now().Add(-s.clock.ahead)
}

// measure asks the server for its time. A user of it who may not ask goes by this replica's clock.
func (s *Store) measure(ctx context.Context) error {
	before := s.Now()
	theirs, err := s.client.Time(ctx).Result()
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.clock
	if err != nil {
		if !refuses(err) {
			return err
		}
		if !c.unknown {
			c.unknown = true
			s.Log.Warn("the server that replicas share does not tell its time, so each goes by its own clock: let its user do +time", "event", "clock_unknown", "detail", plain(err))
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

// me is this replica, as it tells of itself.
func (s *Store) me(rules string) Peer {
	p := Peer{ID: s.Replica, Rules: rules, Seen: s.Clock()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.wrong {
		p.Ahead = s.clock.ahead.Round(time.Second).Seconds()
	}
	return p
}
