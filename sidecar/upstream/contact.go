package upstream

import (
	"sync"
	"time"
)

// contact knows since when a server cannot be reached. A server that restarts is back in a
// moment, and callers do well to try again; one that is off is not. The zero contact was
// never made. Safe for concurrent use.
type contact struct {
	mu    sync.Mutex
	ever  bool
	since time.Time // of the first attempt in vain after the last answer; zero: none
}

// made notes that the server has answered, whatever it said.
func (c *contact) made() {
	c.mu.Lock()
	c.ever, c.since = true, time.Time{}
	c.mu.Unlock()
}

// gone reports whether the server is away, by what was noted.
func (c *contact) gone(long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.since.IsZero() && (!c.ever || time.Since(c.since) >= long)
}

// lost notes an attempt in vain, and when it began. It reports whether the server is away:
// it never answered, or cannot be reached for so long.
func (c *contact) lost(began time.Time, long time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		c.since = began
	}
	return !c.ever || time.Since(c.since) >= long
}
