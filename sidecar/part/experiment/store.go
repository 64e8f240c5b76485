package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the queue. What exceeds them is dropped and counted.
const (
	maxQueued        = 1024
	maxWaitingWrites = 16 << 20 // bytes
)

// captureFolder is the folder of segments in the state folder.
const captureFolder = "capture"

// errCapturesHeld says that another process records into the folder.
var errCapturesHeld = errors.New("another process records there")

// captureStore records replies into the segments of a folder. A nil captureStore records nothing. It is
// safe for concurrent use.
type captureStore struct {
	mu     sync.RWMutex
	closed bool
	queue  chan *entry
	ended  chan struct{}
	err    error // of the writer; valid once ended is closed
	intake intake
	storeCounts
}

// storeCounts are the counters of a store.
type storeCounts struct {
	written, dropped, failed atomic.Uint64
	waiting, bytes, segments atomic.Int64
}

// captureStats are the counters and sizes of a store.
type captureStats struct {
	Written  uint64 // replies
	Dropped  uint64 // replies for which the queue was full
	Failed   uint64 // replies that could not be written
	Waiting  int64  // bytes in the queue
	Bytes    int64  // of all segments
	Segments int64
}

// OpenCaptures prepares the folder, and removes an incomplete line after a crash. A failing disk is no
// error: it is logged, and tried again with later replies. Only one process may record into a folder; for
// others the error is errCapturesHeld.
func OpenCaptures(dir string, log *slog.Logger, now func() time.Time) (*captureStore, error) {
	return openCaptures(dir, log, now, false)
}

// openCapturesAfter is OpenCaptures for a folder that another process will soon release. Replies wait for
// that.
func openCapturesAfter(dir string, log *slog.Logger, now func() time.Time) (*captureStore, error) {
	return openCaptures(dir, log, now, true)
}

func openCaptures(dir string, log *slog.Logger, now func() time.Time, before bool) (*captureStore, error) {
	s := &captureStore{queue: make(chan *entry, maxQueued), ended: make(chan struct{})}
	w := &writer{dir: dir, log: log, now: now, counts: &s.storeCounts, known: newOffered()}
	if err := w.begin(); errors.Is(err, errCapturesHeld) && before {
		w.waits = true
	} else if errors.Is(err, errCapturesHeld) {
		return nil, fmt.Errorf("record replies: %s: %w", dir, err)
	} else if err != nil {
		w.trouble(err)
	}
	go func() {
		defer close(s.ended)
		s.err = w.run(s.queue)
	}()
	return s, nil
}

// Put records a reply asynchronously. It never waits for the disk: if the queue is full, the reply is
// dropped.
func (s *captureStore) Put(rule captureRule, r captureReply) {
	if s != nil {
		s.put(s.intake.own(rule.filled(), r))
	}
}

// Keep applies the limits of a rule, also while nothing is recorded: at start and when the rules change.
func (s *captureStore) Keep(rule captureRule) {
	if s != nil {
		s.put(&entry{rule: rule.filled()})
	}
}

func (s *captureStore) put(e *entry) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.closed && s.waiting.Add(e.size) <= maxWaitingWrites {
		select {
		case s.queue <- e:
			return
		default:
		}
	}
	if !s.closed {
		s.waiting.Add(-e.size)
	}
	if e.reply != nil {
		s.dropped.Add(1)
	}
}

// Close writes the queue to the disk and closes the store.
func (s *captureStore) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	<-s.ended
	return s.err
}

// Stats returns the current counters.
func (s *captureStore) Stats() captureStats {
	if s == nil {
		return captureStats{}
	}
	return captureStats{s.written.Load(), s.dropped.Load(), s.failed.Load(), s.waiting.Load(), s.bytes.Load(),
		s.segments.Load()}
}
