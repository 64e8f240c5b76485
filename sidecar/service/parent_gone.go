package service

import (
	"context"
	"time"
)

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
