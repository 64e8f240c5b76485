package service

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// withParent ends a context when the process that started this one has gone, if the settings say
// so. Leave gives back what that takes.
func withParent(ctx context.Context, c Config) (with context.Context, leave func(), err error) {
	switch c.Settings.WithParent {
	case "", "off":
		return ctx, func() {}, nil
	case "on":
	default:
		return nil, nil, fmt.Errorf("with_parent %q is not one of on, off", c.Settings.WithParent)
	}
	if !c.Parent.Known() {
		c.Log.Info("nobody is waited for to go: this was started by process 1, or its parent has gone already", "event", "parent_unknown", "parent", c.Parent.ID())
		return ctx, func() {}, nil
	}
	// The log may go through a pipe to the parent. Its end must not end this program at once; were the
	// signal ignored, the commands that this program starts would ignore it, too.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	with, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if c.Parent.Gone(with) {
			c.Log.Info("the process that started this one has gone, so this one stops, too", "event", "parent_gone", "parent", c.Parent.ID())
			stop()
		}
	}()
	return with, func() { stop(); <-ended; signal.Stop(pipes) }, nil
}
