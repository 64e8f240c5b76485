package cli

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes wait for a slow reader. What comes on top is lost.
const maxQueued = 1 << 20

// patience is how long Close waits while nothing is taken.
const patience = 500 * time.Millisecond

// Queue passes on what is written to it, from a goroutine of its own. Write never waits and never
// fails: what a full pipe, a full disk or a reader that has gone does not take is lost and counted.
type Queue struct {
	to   io.Writer
	lost func(lines int) // told once lines are taken again; it may write to the queue

	mu      sync.Mutex
	waiting [][]byte
	bytes   int // of waiting
	dropped int // lines since lost was told
	closed  bool
	moved   chan struct{} // has a value after each change
	taken   chan struct{} // has a value after each write to to
	ended   chan struct{}
}

// NewQueue begins to pass on. Close ends it.
func NewQueue(to io.Writer, lost func(lines int)) *Queue {
	q := &Queue{to: to, lost: lost, moved: make(chan struct{}, 1), taken: make(chan struct{}, 1),
		ended: make(chan struct{})}
	go q.run()
	return q
}

// Write takes a copy of whole lines.
func (q *Queue) Write(lines []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.bytes > 0 && q.bytes+len(lines) > maxQueued {
		q.dropped += bytes.Count(lines, newline)
		return len(lines), nil
	}
	q.waiting, q.bytes = append(q.waiting, bytes.Clone(lines)), q.bytes+len(lines)
	wake(q.moved)
	return len(lines), nil
}

// Close passes on what waits, as long as it is taken.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	wake(q.moved)
	for {
		select {
		case <-q.ended:
			return nil
		case <-q.taken:
		case <-time.After(patience):
			return errors.New("close the log: nothing reads it")
		}
	}
}

func (q *Queue) run() {
	defer close(q.ended)
	for {
		lines, ok := q.next()
		if !ok {
			return
		}
		_, err := q.to.Write(lines)
		wake(q.taken)
		if n := q.wrote(lines, err); n > 0 {
			q.lost(n)
		}
	}
}

// next waits for lines. It is false at the end.
func (q *Queue) next() ([]byte, bool) {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 {
			lines := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.mu.Unlock()
			return lines, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil, false
		}
		<-q.moved
	}
}

// wrote counts a write. It gives how many lines were lost before the first one that is taken again.
func (q *Queue) wrote(lines []byte, err error) (lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(lines)
	if err != nil {
		q.dropped += bytes.Count(lines, newline)
		return 0
	}
	if !q.closed {
		lost, q.dropped = q.dropped, 0
	}
	return lost
}

var newline = []byte("\n")

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
