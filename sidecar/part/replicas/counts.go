package replicas

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// keepCounts is how long unchanged counts stay: as long as an experiment may last.
	keepCounts = 90 * 24 * time.Hour
	// maxCounts bounds the counts, compressed and not.
	maxCounts, maxUnpacked = 16 << 20, 256 << 20
)

// Counts are what replicas have counted of experiments.
type Counts struct{ store *Store }

// Counts returns the counts of the store.
func (s *Store) Counts() Counts { return Counts{s} }

// Publish replaces the counts of this replica.
func (c Counts) Publish(doc []byte) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(doc) // into memory
	_ = z.Close()
	if packed.Len() > maxCounts {
		return fmt.Errorf("the counts have %d bytes, and may have %d", packed.Len(), maxCounts)
	}
	key := c.store.key("counts", "")
	return c.store.ask(context.Background(), askCounts, manyTimes*c.store.Patience,
		func(ctx context.Context) error {
			p := c.store.client.Pipeline()
			p.HSet(ctx, key, c.store.Replica, c.store.seal.close(key+" "+c.store.Replica, packed.Bytes()))
			p.PExpire(ctx, key, keepCounts)
			c.touch(ctx, p, c.store.Replica)
			_, err := p.Exec(ctx)
			return err
		})
}

// touch notes that a replica has published now.
func (c Counts) touch(ctx context.Context, p redis.Pipeliner, replica string) {
	key := c.store.key("counted", "")
	p.HSet(ctx, key, replica, c.store.Clock().Unix())
	p.PExpire(ctx, key, keepCounts)
}

// tidy removes counts that are too old, as a hash lives while any replica publishes. Counts without a time,
// from an earlier version, get the current one.
func (c Counts) tidy(all, when map[string]string) {
	old, new := []string(nil), []string(nil)
	for id := range all {
		at, err := strconv.ParseInt(when[id], 10, 64)
		switch {
		case err != nil:
			new = append(new, id)
		case c.store.Clock().Sub(time.Unix(at, 0)) > keepCounts:
			old = append(old, id)
			delete(all, id)
		}
	}
	if len(old)+len(new) == 0 {
		return
	}
	// or the next time
	_ = c.store.ask(context.Background(), askCounts, c.store.Patience, func(ctx context.Context) error {
		p := c.store.client.Pipeline()
		for _, id := range new {
			c.touch(ctx, p, id)
		}
		if len(old) > 0 {
			p.HDel(ctx, c.store.key("counts", ""), old...)
			p.HDel(ctx, c.store.key("counted", ""), old...)
		}
		_, err := p.Exec(ctx)
		return err
	})
}

// Read returns the counts of the others that can be read here.
func (c Counts) Read() (out [][]byte, err error) {
	key := c.store.key("counts", "")
	var all, when map[string]string
	err = c.store.ask(context.Background(), askCounts, manyTimes*c.store.Patience,
		func(ctx context.Context) error {
			p := c.store.client.Pipeline()
			counts, times := p.HGetAll(ctx, key), p.HGetAll(ctx, c.store.key("counted", ""))
			_, err := p.Exec(ctx)
			all, when = counts.Val(), times.Val()
			return err
		})
	if err != nil {
		return nil, err
	}
	c.tidy(all, when)
	for id, value := range all {
		if id == c.store.Replica {
			continue
		}
		packed, ok := c.store.openValue(key+" "+id, value)
		if !ok {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			continue // it was sealed so: another version packs otherwise
		}
		if doc, err := io.ReadAll(io.LimitReader(z, maxUnpacked)); err == nil {
			out = append(out, doc)
		}
	}
	return out, nil
}
