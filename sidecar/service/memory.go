package service

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// StartPercent is the pace until Tune: a start allocates 14 MB once, and collecting
// meanwhile would take a third of its CPU.
const StartPercent = 400

const (
	// Garbage may pile up to so much, and to 15 % of what lives. With little that lives, collecting at each
	// doubling of it would take a tenth of the CPU; with much, a doubling would be most of our memory.
	spare                     = 32 << 20
	leastPercent, mostPercent = 15, 400
)

// Tune gives back what the start used, and then keeps the garbage collector's pace fit
// for a process that is small but may hold a thousand open streams, until ctx ends.
func Tune(ctx context.Context) {
	debug.FreeOSMemory()
	_ = dropProgram() // where it cannot, nothing is lost but memory
	defer debug.SetGCPercent(debug.SetGCPercent(mostPercent))
	// The collector adds its percentage to all three.
	lives := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"},
		{Name: "/gc/scan/globals:bytes"}}
	now := mostPercent
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(lives)
		bytes := uint64(0)
		for _, l := range lives {
			bytes += l.Value.Uint64()
		}
		if p := gcPercent(bytes); p != now {
			now = p
			debug.SetGCPercent(p)
		}
	}
}

// gcPercent is the pace for so many bytes that live, in steps of 5.
func gcPercent(live uint64) int {
	p := mostPercent
	if live > 0 {
		p = int(min(leastPercent+100*spare/live, mostPercent))
	}
	return p / 5 * 5
}
