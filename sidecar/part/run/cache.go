package run

import (
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxCached is how many results are kept.
const maxCached = 1024

// cache keeps results of calls that change nothing.
type cache struct {
	now  func() time.Time
	mu   sync.Mutex
	kept *recent.Map[cached]
}

type cached struct {
	result tools.Result
	until  time.Time
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, kept: recent.New[cached](maxCached, nil)}
}

func (c *cache) get(key string) (tools.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept.Get(key)
	if k == nil || !c.now().Before(k.until) {
		return tools.Result{}, false
	}
	return k.result, true
}

func (c *cache) put(key string, r tools.Result, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.kept.Use(key)
	*k = cached{r, c.now().Add(keep)}
}
