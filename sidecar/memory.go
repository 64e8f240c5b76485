package sidecar

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// spare is how much garbage may pile up beside the live heap, about.
	spare = 8 << 20
	// With little on the heap, collecting at each doubling of it would take a tenth
	// of the CPU; with much, a doubling would be most of our memory.
	leastPercent, mostPercent = 50, 200
)

// TuneHeap keeps the garbage collector's pace fit for a process that is small but
// may hold a thousand open streams, until ctx ends.
func TuneHeap(ctx context.Context) {
	debug.FreeOSMemory() // loading the rules leaves much behind
	defer debug.SetGCPercent(debug.SetGCPercent(mostPercent))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now := mostPercent
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(live)
		if p := gcPercent(live[0].Value.Uint64()); p != now {
			now = p
			debug.SetGCPercent(p)
		}
	}
}

// gcPercent is the pace for a live heap of that many bytes, in steps of 10.
func gcPercent(live uint64) int {
	p := mostPercent
	if live > 0 {
		p = int(min(100*spare/live, mostPercent))
	}
	return max(p/10*10, leastPercent)
}
