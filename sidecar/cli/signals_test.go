//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A terminal that closes asks to end, however often it says so; under nohup it does not.
func TestUntil(t *testing.T) {
	for _, nohup := range []bool{false, true} {
		if !nohup && signal.Ignored(syscall.SIGHUP) {
			t.Log("this test runs under nohup itself: that a terminal ends it is not tried")
			continue
		}
		if nohup {
			signal.Ignore(syscall.SIGHUP)
			defer signal.Reset(syscall.SIGHUP)
		}
		ctx, stop := Until(t.Context())
		defer stop()
		came := make(chan os.Signal, 2) // one that came after the next Ignore would end this process
		if !nohup {
			signal.Notify(came, syscall.SIGHUP)
			defer signal.Stop(came)
		}
		for range 2 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if !nohup {
				<-came
				<-ctx.Done()
				continue
			}
			select {
			case <-ctx.Done():
				t.Error("it ends under nohup")
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
}
