// Package processor measures the time that a processor spends on a function: what else the machine does, and
// other threads of the test, are not in it. For tests.
package processor

import (
	"runtime"
	"time"
)

// Time is what f takes. It must start no goroutine that counts.
func Time(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	f()
	return used() - before
}
