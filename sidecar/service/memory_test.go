package service

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
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}

func TestGCPercent(t *testing.T) {
	for _, row := range []struct {
		live uint64
		want int
	}{{0, 400}, {1 << 20, 400}, {2 << 20, 400}, {4 << 20, 215}, {10 << 20, 95}, {16 << 20, 65},
		{45 << 20, 30}, {430 << 20, 15}, {1 << 40, 15}} {
		if got := gcPercent(row.live); got != row.want {
			t.Errorf("%d bytes: %d %%, want %d %%", row.live, got, row.want)
		}
	}
}
