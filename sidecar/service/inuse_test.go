package service

import (
	"runtime"
	"testing"
)

// What lives is in use, and what does not is not, once it was collected.
func TestInUse(t *testing.T) {
	const large = 64 << 20
	runtime.GC()
	runtime.GC() // pools and what has a finalizer live for one collection more
	before, cycles := MemoryInUse()
	held := make([]byte, large)
	runtime.GC()
	with, later := MemoryInUse()
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	after, _ := MemoryInUse()
	if with < before+large || after > with-large/2 || later <= cycles {
		t.Errorf("%d, %d with what is held, %d after; %d and %d collections", before, with, after, cycles,
			later)
	}
	if held != nil {
		t.Fatal("it is held")
	}
}

func BenchmarkInUse(b *testing.B) {
	for b.Loop() {
		MemoryInUse()
	}
}
