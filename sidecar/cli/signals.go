package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// FailPipes makes writes to standard output or error fail if the reader is gone; by default they end the
// program. Child processes are not affected.
func FailPipes() (leave func()) {
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // children would inherit an ignored signal
	return func() { signal.Stop(pipes) }
}

// Until returns a context that ends at SIGTERM or Ctrl-C; the second one ends the program at once. SIGHUP,
// which a closing terminal often sends twice, counts as SIGTERM but never ends the program at once, and is
// ignored under nohup.
func Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	done := stop
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, done = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop)
	return ctx, done
}
