package memory

import (
	"context"
	"testing"
	"time"
)

// Tune ends with its context.
func TestTune(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { Tune(ctx); close(ended) }()
	time.Sleep(600 * time.Millisecond) // one look
	stop()
	select {
	case <-ended:
	case <-time.After(time.Second):
		t.Error("it goes on")
	}
}

func TestGCPercent(t *testing.T) {
	for _, row := range []struct {
		live uint64
		want int
	}{{0, 200}, {1 << 20, 200}, {2 << 20, 200}, {4 << 20, 100}, {5 << 20, 80}, {8 << 20, 50}, {1 << 30, 50}} {
		if got := gcPercent(row.live); got != row.want {
			t.Errorf("%d bytes: %d %%, want %d %%", row.live, got, row.want)
		}
	}
}
