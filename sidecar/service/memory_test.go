package service

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Tune ends with its context.
func TestTune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { Tune(ctx); close(ended) }()
		time.Sleep(600 * time.Millisecond) // one look
		stop()
		<-ended
	})
}

func TestGCPercent(t *testing.T) {
	for _, row := range []struct {
		live uint64
		want int
	}{{0, 400}, {1 << 20, 400}, {8 << 20, 400}, {16 << 20, 215}, {40 << 20, 95}, {64 << 20, 65},
		{180 << 20, 30}, {1720 << 20, 15}, {1 << 40, 15}} {
		if got := gcPercent(row.live); got != row.want {
			t.Errorf("%d bytes: %d %%, want %d %%", row.live, got, row.want)
		}
	}
}
