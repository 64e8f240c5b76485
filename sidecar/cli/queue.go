package cli

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes may wait for a slow reader. More are dropped.
const maxQueued = 1 << 20

// closeTimeout is how long Close waits without progress.
const closeTimeout = 500 * time.Millisecond

// Queue writes asynchronously. Write never blocks or fails: lines that a full pipe, a full disk or a
// missing reader does not take are dropped and counted.
type Queue struct {
	to   io.Writer
	lost func(lines int) // called once writing succeeds again; it may write to the queue

	mu      sync.Mutex
	waiting [][]byte
	bytes   int // of waiting
	dropped int // lines since the last call of lost
	closed  bool
	changed chan struct{} // signals each change
	written chan struct{} // signals each write to to
	ended   chan struct{}
}

// NewQueue starts a queue. Close ends it.
func NewQueue(to io.Writer, lost func(lines int)) *Queue {
	q := &Queue{to: to, lost: lost, changed: make(chan struct{}, 1), written: make(chan struct{}, 1),
		ended: make(chan struct{})}
	go q.run()
	return q
}

// Write queues a copy of whole lines.
func (q *Queue) Write(lines []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.bytes > 0 && q.bytes+len(lines) > maxQueued {
		q.dropped += bytes.Count(lines, newline)
		return len(lines), nil
	}
	q.waiting, q.bytes = append(q.waiting, bytes.Clone(lines)), q.bytes+len(lines)
	wake(q.changed)
	return len(lines), nil
}

// Close writes what is queued, as long as the output makes progress.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	wake(q.changed)
	for {
		select {
		case <-q.ended:
			return nil
		case <-q.written:
		case <-time.After(closeTimeout):
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
		wake(q.written)
		if n := q.wrote(lines, err); n > 0 {
			q.lost(n)
		}
	}
}

// next waits for lines. It returns false at the end.
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
		<-q.changed
	}
}

// wrote records a write. It returns how many lines were dropped before the first one that is written again.
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
