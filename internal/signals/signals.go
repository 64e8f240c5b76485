// Package signals knows by which signals somebody asks a program to end. It ends nothing.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

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
