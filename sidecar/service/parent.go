package service

import (
	"context"
	"time"
)

// withParent ends a context when the process that started this one has ended, if the settings say so. leave
// releases its resources.
func withParent(ctx context.Context, c Config) (with context.Context, leave func()) {
	if c.Settings.WithParent != "on" {
		return ctx, func() {}
	}
	if !c.Parent.Known() {
		c.Log.Info("no parent is watched: this was started by process 1, or its parent has gone already", "event", "parent_unknown", "parent", c.Parent.ID())
		return ctx, func() {}
	}
	with, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if c.Parent.Gone(with) {
			c.Log.Info("the process that started this one has gone, so this one stops, too",
				"event", "parent_gone", "parent", c.Parent.ID())
			stop()
		}
	}()
	return with, func() { stop(); <-ended }
}

// interval is how often it is looked whether it is still there.
const interval = 250 * time.Millisecond

// Gone waits until the process is gone. It is false if ctx ends before that.
func (p Parent) Gone(ctx context.Context) bool {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for p.lives() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return ctx.Err() == nil
}
