package replicas

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bounds of the writes that wait, so that a slow server costs no memory.
const (
	maxWaiting = 4096
	maxBytes   = 32 << 20
	maxBatch   = 128
)

// write is a pending write. Writes keep their order.
type write struct {
	key   string
	field string // of a hash; empty: the key holds a value
	value string
	keep  time.Duration
}

func (c *write) size() int64 { return int64(len(c.key) + len(c.field) + len(c.value)) }

// writeQueue holds pending writes.
type writeQueue struct {
	list  chan write
	bytes *atomic.Int64
}

func newWriteQueue() writeQueue { return writeQueue{make(chan write, maxWaiting), new(atomic.Int64)} }

// put queues a write. A write without room is lost and counted.
func (s *Store) put(c write) {
	if s.Up() {
		if s.writes.bytes.Add(c.size()) <= maxBytes {
			select {
			case s.writes.list <- c:
				return
			default:
			}
		}
		s.writes.bytes.Add(-c.size())
	}
	s.Metrics.SharedLost.Inc()
}

// sendWrites sends pending writes until ctx ends.
func (s *Store) sendWrites(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-s.writes.list:
			s.send(s.batch([]write{first}))
		}
	}
}

// flush sends all pending writes.
func (s *Store) flush() {
	for list := s.batch(nil); len(list) > 0; list = s.batch(nil) {
		s.send(list)
	}
}

// batch adds pending writes up to a full batch.
func (s *Store) batch(list []write) []write {
	for len(list) < maxBatch {
		select {
		case c := <-s.writes.list:
			list = append(list, c)
		default:
			return list
		}
	}
	return list
}

// send sends writes. After a failure they are lost, and their readers go without.
func (s *Store) send(list []write) {
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
		if s.writes.bytes.Add(-list[i].size()); err != nil {
			s.Metrics.SharedLost.Inc()
		}
	}
}
