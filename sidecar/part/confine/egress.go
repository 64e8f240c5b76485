package confine

import (
	"context"
	"net"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

// serveEgress serves until ctx ends; ended waits for what is still open.
func serveEgress(ctx context.Context, l net.Listener, c ProxyConfig,
	log *decisions.Log) (ended func() error) {
	if log != nil {
		c.Decisions = log
	}
	c.Log.Info("confined commands have a proxy", "event", "egress_start", "address", l.Addr().String())
	failed := make(chan error, 1)
	go func() {
		err := NewProxy(c, l).Serve(ctx)
		if err != nil {
			c.Log.Error("confined commands have no network any more", "event", "egress_failed",
				"detail", err.Error())
		}
		failed <- err
	}()
	return func() error { return <-failed }
}
