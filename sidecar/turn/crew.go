package turn

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Crew is safe for concurrent use. A nil Crew does the work where it is asked to.
type Crew struct {
	most int // that wait for work

	mu    sync.Mutex
	idle  []*hand
	ended bool
}

// hand is a goroutine of the crew.
type hand struct {
	begin, done chan struct{}
	work        func()
	whole       bool    // the work came to its end
	broke       *Broken // it panicked; nil: it did not
}

// Broken is a panic of work, with the stack that shows where.
type Broken struct {
	Value any
	Stack []byte
}

func (b *Broken) Error() string { return fmt.Sprintf("%v\n%s", b.Value, b.Stack) }

// Unwrap is the value, if it is an error.
func (b *Broken) Unwrap() error {
	err, _ := b.Value.(error)
	return err
}

// New makes a crew of which at most so many goroutines wait for work. It has none yet.
func New(most int) *Crew { return &Crew{most: most} }

// Do does the work, and returns when it is done. A panic of it is one of Do, with *Broken as its value.
func (c *Crew) Do(work func()) {
	if c == nil {
		work()
		return
	}
	h := c.take()
	h.work = work
	h.begin <- struct{}{}
	<-h.done
	broke, whole := h.broke, h.whole
	h.work, h.broke, h.whole = nil, nil, false
	switch {
	case whole:
		c.put(h)
	case broke != nil:
		c.put(h)
		panic(broke)
	default: // the work called Goexit, and its goroutine is gone
		runtime.Goexit()
	}
}

// Close ends those that wait, and the others when they are done. Work that comes later is done all the same.
func (c *Crew) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, h := range c.idle {
		close(h.begin)
	}
	c.idle = nil
}

// take gives the goroutine that worked last, whose stack is the warmest, or a new one.
func (c *Crew) take() *hand {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		h := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return h
	}
	h := &hand{begin: make(chan struct{}, 1), done: make(chan struct{}, 1)}
	go h.serve()
	return h
}

func (c *Crew) put(h *hand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || len(c.idle) >= c.most {
		close(h.begin)
		return
	}
	c.idle = append(c.idle, h)
}

func (h *hand) serve() {
	for range h.begin {
		h.once()
	}
}

// once works, and says that it is done whatever comes of it.
func (h *hand) once() {
	defer func() {
		if v := recover(); v != nil {
			h.broke = &Broken{v, debug.Stack()}
		}
		h.done <- struct{}{}
	}()
	h.work()
	h.whole = true
}
