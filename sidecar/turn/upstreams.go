package turn

import (
	"log/slog"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Upstreams are the model servers: the one of the settings, and those that models name by
// their base URL. They share no key: it is only for the server it was set for. Safe for
// concurrent use.
type Upstreams struct {
	main *upstream.Client
	log  *slog.Logger

	mu    sync.Mutex
	other map[string]*upstream.Client
}

// NewUpstreams begins with the server of the settings. It stays the caller's to close.
func NewUpstreams(main *upstream.Client, log *slog.Logger) *Upstreams {
	return &Upstreams{main: main, log: log}
}

// Main is the server of the settings.
func (c *Upstreams) Main() *upstream.Client { return c.main }

// of is the client for a base URL; empty is the one of the settings.
func (c *Upstreams) of(url string) (*upstream.Client, error) {
	if url == "" {
		return c.main, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if up, ok := c.other[url]; ok {
		return up, nil
	}
	up, err := upstream.New(upstream.Config{BaseURL: url, Log: c.log})
	if err != nil {
		return nil, err
	}
	if c.other == nil {
		c.other = make(map[string]*upstream.Client)
	}
	c.other[url] = up
	return up, nil
}

// Close drops the idle connections of the others.
func (c *Upstreams) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, up := range c.other {
		up.Close()
	}
}
