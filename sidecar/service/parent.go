package service

import "context"

// withParent ends a context when the process that started this one has gone, if the settings say
// so. Leave gives back what that takes.
func withParent(ctx context.Context, c Config) (with context.Context, leave func()) {
	if c.Settings.WithParent != "on" {
		return ctx, func() {}
	}
	if !c.Parent.Known() {
		c.Log.Info("nobody is waited for to go: this was started by process 1, or its parent has gone already", "event", "parent_unknown", "parent", c.Parent.ID())
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
