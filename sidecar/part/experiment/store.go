package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// How much may wait to be written. What comes then is dropped, and counted.
const (
	maxQueued        = 1024
	maxWaitingWrites = 16 << 20 // bytes
)

// captureFolder is where segments stand inside the state folder.
const captureFolder = "capture"

// errCapturesHeld says that another process records into the folder.
var errCapturesHeld = errors.New("another process records there")

// captureStore records replies into the segments of a folder. A nil Store takes everything and keeps
// nothing. Safe for concurrent use.
type captureStore struct {
	mu     sync.RWMutex
	closed bool
	queue  chan *entry
	ended  chan struct{}
	err    error // of the end; good once ended is closed
	intake intake
	storeCounts
}

// storeCounts are what is told about a store.
type storeCounts struct {
	written, dropped, failed atomic.Uint64
	waiting, bytes, segments atomic.Int64
}

// captureStats are what a store did, and what it holds.
type captureStats struct {
	Written  uint64 // replies
	Dropped  uint64 // replies for which the queue had no room
	Failed   uint64 // replies that could not be written
	Waiting  int64  // bytes in the queue
	Bytes    int64  // of all segments
	Segments int64
}

// OpenCaptures makes the folder ready, and cuts off what a crash left unfinished. A disk that cannot be
// written is no error: that is logged, and tried again with the replies that come. Only one
// process may record into a folder; the error is ErrHeld.
func OpenCaptures(dir string, log *slog.Logger, now func() time.Time) (*captureStore, error) {
	return openCaptures(dir, log, now, false)
}

// openCapturesAfter is OpenCaptures where a process still records that soon gives the folder free. Replies
// wait for that.
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

// Put records a reply a moment later. It never waits for the disk: where too much waits
// already, the reply is dropped.
func (s *captureStore) Put(rule captureRule, r captureReply) {
	if s != nil {
		s.put(s.intake.own(rule.filled(), r))
	}
}

// Keep says what may stay from now on, also while nothing is recorded: at start, and when the
// rules change.
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

// Close writes what waits, brings it to the disk, and ends the store.
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

// Stats are the counts as they are now.
func (s *captureStore) Stats() captureStats {
	if s == nil {
		return captureStats{}
	}
	return captureStats{s.written.Load(), s.dropped.Load(), s.failed.Load(), s.waiting.Load(), s.bytes.Load(),
		s.segments.Load()}
}
