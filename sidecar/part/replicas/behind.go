package replicas

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bounds of what waits to be written, so that a slow server costs no memory.
const (
	maxWaiting = 4096
	maxBytes   = 32 << 20
	maxBatch   = 128
)

// change is something to be written. Later ones come later.
type change struct {
	key   string
	field string // of a hash; empty: the key is a value
	value string
	keep  time.Duration
}

func (c *change) size() int64 { return int64(len(c.key) + len(c.field) + len(c.value)) }

// behind is what waits to be written.
type behind struct {
	list  chan change
	bytes *atomic.Int64
}

func newBehind() behind { return behind{make(chan change, maxWaiting), new(atomic.Int64)} }

// put has something written soon. What there is no room for is lost, and counted.
func (s *Store) put(c change) {
	if s.Up() {
		if s.behind.bytes.Add(c.size()) <= maxBytes {
			select {
			case s.behind.list <- c:
				return
			default:
			}
		}
		s.behind.bytes.Add(-c.size())
	}
	s.Metrics.SharedLost.Inc()
}

// write writes until ctx ends.
func (s *Store) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-s.behind.list:
			s.send(s.batch([]change{first}))
		}
	}
}

// flush writes what is left.
func (s *Store) flush() {
	for list := s.batch(nil); len(list) > 0; list = s.batch(nil) {
		s.send(list)
	}
}

// batch adds what waits, so that it takes one way.
func (s *Store) batch(list []change) []change {
	for len(list) < maxBatch {
		select {
		case c := <-s.behind.list:
			list = append(list, c)
		default:
			return list
		}
	}
	return list
}

// send writes some changes. Those of a failure are lost: their readers go without.
func (s *Store) send(list []change) {
	err := s.ask(context.Background(), askWrites, s.Patience, func(ctx context.Context) error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, c := range list {
				if c.field == "" {
					p.Set(ctx, c.key, c.value, c.keep)
					continue
				}
				p.HSet(ctx, c.key, c.field, c.value)
				p.PExpire(ctx, c.key, c.keep)
			}
			return nil
		})
		return err
	})
	for i := range list {
		if s.behind.bytes.Add(-list[i].size()); err != nil {
			s.Metrics.SharedLost.Inc()
		}
	}
}
