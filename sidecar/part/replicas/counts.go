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
	// keepCounts is how long the counts of a replica stay that tells nothing new: as long as an
	// experiment may last.
	keepCounts = 90 * 24 * time.Hour
	// maxCounts is how long they may be, packed and not.
	maxCounts, maxUnpacked = 16 << 20, 256 << 20
)

// Counts are what each replica has counted of experiments.
type Counts struct{ of *Store }

// Counts are those of the store.
func (s *Store) Counts() Counts { return Counts{s} }

// Publish replaces what is known of this replica.
func (c Counts) Publish(doc []byte) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(doc) // into memory
	_ = z.Close()
	if packed.Len() > maxCounts {
		return fmt.Errorf("the counts have %d bytes, and may have %d", packed.Len(), maxCounts)
	}
	key := c.of.key("counts", "")
	return c.of.ask(context.Background(), askCounts, manyTimes*c.of.Patience,
		func(ctx context.Context) error {
			p := c.of.client.Pipeline()
			p.HSet(ctx, key, c.of.Replica, c.of.seal.close(key+" "+c.of.Replica, packed.Bytes()))
			p.PExpire(ctx, key, keepCounts)
			c.publish(ctx, p, c.of.Replica)
			_, err := p.Exec(ctx)
			return err
		})
}

// publish notes that a replica has told its counts now.
func (c Counts) publish(ctx context.Context, p redis.Pipeliner, replica string) {
	key := c.of.key("counted", "")
	p.HSet(ctx, key, replica, c.of.Clock().Unix())
	p.PExpire(ctx, key, keepCounts)
}

// tidy takes away what replicas have told too long ago: a hash lives on while any of them tells. Of one that
// an earlier version has written the time begins now.
func (c Counts) tidy(all, when map[string]string) {
	old, new := []string(nil), []string(nil)
	for id := range all {
		at, err := strconv.ParseInt(when[id], 10, 64)
		switch {
		case err != nil:
			new = append(new, id)
		case c.of.Clock().Sub(time.Unix(at, 0)) > keepCounts:
			old = append(old, id)
			delete(all, id)
		}
	}
	if len(old)+len(new) == 0 {
		return
	}
	// or the next time
	_ = c.of.ask(context.Background(), askCounts, c.of.Patience, func(ctx context.Context) error {
		p := c.of.client.Pipeline()
		for _, id := range new {
			c.publish(ctx, p, id)
		}
		if len(old) > 0 {
			p.HDel(ctx, c.of.key("counts", ""), old...)
			p.HDel(ctx, c.of.key("counted", ""), old...)
		}
		_, err := p.Exec(ctx)
		return err
	})
}

// Read gives what the others have counted, as far as it can be read here.
func (c Counts) Read() (out [][]byte, err error) {
	key := c.of.key("counts", "")
	var all, when map[string]string
	err = c.of.ask(context.Background(), askCounts, manyTimes*c.of.Patience, func(ctx context.Context) error {
		p := c.of.client.Pipeline()
		counts, times := p.HGetAll(ctx, key), p.HGetAll(ctx, c.of.key("counted", ""))
		_, err := p.Exec(ctx)
		all, when = counts.Val(), times.Val()
		return err
	})
	if err != nil {
		return nil, err
	}
	c.tidy(all, when)
	for id, value := range all {
		if id == c.of.Replica {
			continue
		}
		packed, ok := c.of.read(key+" "+id, value)
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
