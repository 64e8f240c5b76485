package sidecar

import (
	"log/slog"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// clients are the upstreams that models name by their base URL, beside the one of
// the settings. They share no key: it is only for the server it was set for.
type clients struct {
	main *upstream.Client
	log  *slog.Logger

	mu    sync.Mutex
	other map[string]*upstream.Client
}

// of is the client for a base URL; empty is the one of the settings.
func (c *clients) of(url string) (*upstream.Client, error) {
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

// close drops the idle connections of the others.
func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, up := range c.other {
		up.Close()
	}
}
