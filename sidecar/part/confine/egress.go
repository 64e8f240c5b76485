package confine

import (
	"context"
	"fmt"
	"net"

	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/egress"
)

// egressListener is where the proxy of confined commands listens; nil: there is none.
func egressListener(mode string, confined bool) (net.Listener, error) {
	switch mode {
	case "off":
		return nil, nil
	case "", "on":
		if !confined {
			return nil, nil
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for confined commands: %w", err)
		}
		return l, nil
	}
	return nil, fmt.Errorf("egress %q is not one of on, off", mode)
}

// serveEgress serves until ctx ends; ended waits for what is still open.
func serveEgress(ctx context.Context, l net.Listener, c egress.Config,
	log *decisions.Log) (ended func() error) {
	if log != nil {
		c.Decisions = log
	}
	c.Log.Info("confined commands have a proxy", "event", "egress_start", "address", l.Addr().String())
	failed := make(chan error, 1)
	go func() {
		err := egress.New(c, l).Serve(ctx)
		if err != nil {
			c.Log.Error("confined commands have no network any more", "event", "egress_failed",
				"detail", err.Error())
		}
		failed <- err
	}()
	return func() error { return <-failed }
}
