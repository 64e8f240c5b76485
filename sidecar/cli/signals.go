package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// FailPipes lets a write to standard output or error fail when its reader has gone, where it would end the
// program. Programs that this one starts are not told.
func FailPipes() (leave func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // programs that are started would go on to ignore an ignored one
	return func() { signal.Stop(pipes) }
}

// Until is a context that ends at SIGTERM or Ctrl-C. The second one ends the program at once. A terminal that
// closes sends SIGHUP, often twice: it is as SIGTERM, but never ends the program by itself. Under nohup it is
// nothing.
func Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	done := stop
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, done = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop)
	return ctx, done
}
