//go:build unix && !linux

package testkit

import (
	"time"

	"golang.org/x/sys/unix"
)

// used is the time of this process.
func used() time.Duration {
	var t unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Utime.Nano() + t.Stime.Nano())
}
