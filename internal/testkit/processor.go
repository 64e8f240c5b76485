package testkit

import (
	"runtime"
	"time"
)

// LeastTime is what f takes in the fastest of three runs.
func LeastTime(f func()) time.Duration {
	least := ProcessorTime(f)
	for range 2 {
		least = min(least, ProcessorTime(f))
	}
	return least
}

// ProcessorTime is what f takes. It must start no goroutine that counts.
func ProcessorTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	f()
	return used() - before
}
