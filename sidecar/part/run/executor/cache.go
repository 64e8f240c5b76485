package executor

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxCached is how many results are kept.
const maxCached = 1024

// cache keeps results of calls that change nothing.
type cache struct {
	now  func() time.Time
	mu   sync.Mutex
	kept map[string]cached
}

type cached struct {
	result tools.Result
	until  time.Time
}

func newCache(now func() time.Time) *cache { return &cache{now: now, kept: map[string]cached{}} }

func (c *cache) get(key string) (tools.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.kept[key]
	return k.result, ok && c.now().Before(k.until)
}

// put keeps a result. What is over makes room, and where nothing is, all of it.
func (c *cache) put(key string, r tools.Result, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if len(c.kept) >= maxCached {
		for k, v := range c.kept {
			if !now.Before(v.until) {
				delete(c.kept, k)
			}
		}
	}
	if len(c.kept) >= maxCached {
		clear(c.kept)
	}
	c.kept[key] = cached{r, now.Add(keep)}
}
