package turn

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// All of the work is done, by far fewer goroutines, of which none is left.
func TestDo(t *testing.T) {
	before := runtime.NumGoroutine()
	c := New(2)
	var done atomic.Int64
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			for range 200 {
				n := 0
				c.Do(func() { n = deep(100); done.Add(1) })
				if n != 5050 {
					t.Errorf("Do came back before the work was done: %d", n)
				}
			}
		})
	}
	callers.Wait()
	if done.Load() != 10000 {
		t.Errorf("%d of 10000", done.Load())
	}
	if n := len(c.idle); n == 0 || n > 2 {
		t.Errorf("%d wait for work", n)
	}
	c.Close()
	c.Do(func() { done.Add(1) }) // whoever comes late
	if done.Load() != 10001 {
		t.Error("work that came after Close was not done")
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return n + deep(n-1)
}

// A panic reaches who asked for the work, says where it was, and leaves the crew whole.
func TestPanic(t *testing.T) {
	c, cause := New(1), errors.New("broken")
	defer c.Close()
	func() {
		defer func() {
			b, ok := recover().(*Broken)
			if !ok || !errors.Is(b, cause) || !strings.Contains(b.Error(), "TestPanic") {
				t.Errorf("%v", b)
			}
		}()
		c.Do(func() { panic(cause) })
	}()
	worked := false
	c.Do(func() { worked = true })
	if !worked {
		t.Error("the crew works no more")
	}
}

// Work that ends its goroutine ends that of whoever asked for it, as it would without a crew.
func TestGoexit(t *testing.T) {
	c, ended, back := New(1), make(chan struct{}), false
	defer c.Close()
	go func() {
		defer close(ended)
		c.Do(runtime.Goexit)
		back = true
	}()
	<-ended
	worked := false
	c.Do(func() { worked = true })
	if back || !worked {
		t.Errorf("Do came back: %v; the crew works on: %v", back, worked)
	}
}

// Without a crew the work is done where it is asked for.
func TestNil(t *testing.T) {
	var c *Crew
	n := 0
	c.Do(func() { n++ })
	c.Close()
	if n != 1 {
		t.Error(n)
	}
}

func BenchmarkDo(b *testing.B) {
	c := New(4)
	defer c.Close()
	n := 0
	work := func() { n++ }
	for b.Loop() {
		c.Do(work)
	}
}
