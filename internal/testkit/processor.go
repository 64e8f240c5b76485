package testkit

import (
	"runtime"
	"time"
)

// ProcessorTime is what f takes. It must start no goroutine that counts.
func ProcessorTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	f()
	return used() - before
}
