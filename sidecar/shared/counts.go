package shared

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"
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
	return c.of.ask(context.Background(), askCounts, manyTimes*c.of.Patience, func(ctx context.Context) error {
		p := c.of.client.Pipeline()
		p.HSet(ctx, key, c.of.Replica, c.of.seal.close(key+" "+c.of.Replica, packed.Bytes()))
		p.PExpire(ctx, key, keepCounts)
		_, err := p.Exec(ctx)
		return err
	})
}

// Read gives what the others have counted, as far as it can be read here.
func (c Counts) Read() (out [][]byte, err error) {
	key := c.of.key("counts", "")
	var all map[string]string
	err = c.of.ask(context.Background(), askCounts, manyTimes*c.of.Patience, func(ctx context.Context) (err error) {
		all, err = c.of.client.HGetAll(ctx, key).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
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
