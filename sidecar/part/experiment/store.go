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

// CaptureFolder is where segments stand inside the state folder.
const CaptureFolder = "capture"

// ErrCapturesHeld says that another process records into the folder.
var ErrCapturesHeld = errors.New("another process records there")

// CaptureStore records replies into the segments of a folder. A nil Store takes everything and keeps
// nothing. Safe for concurrent use.
type CaptureStore struct {
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

// CaptureStats are what a store did, and what it holds.
type CaptureStats struct {
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
func OpenCaptures(dir string, log *slog.Logger, now func() time.Time) (*CaptureStore, error) {
	return openCaptures(dir, log, now, false)
}

// OpenCapturesAfter is Open where a process still records that soon gives the folder free. Replies wait for that.
func OpenCapturesAfter(dir string, log *slog.Logger, now func() time.Time) (*CaptureStore, error) {
	return openCaptures(dir, log, now, true)
}

func openCaptures(dir string, log *slog.Logger, now func() time.Time, before bool) (*CaptureStore, error) {
	s := &CaptureStore{queue: make(chan *entry, maxQueued), ended: make(chan struct{})}
	w := &writer{dir: dir, log: log, now: now, counts: &s.storeCounts, known: newOffered()}
	if err := w.begin(); errors.Is(err, ErrCapturesHeld) && before {
		w.waits = true
	} else if errors.Is(err, ErrCapturesHeld) {
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
func (s *CaptureStore) Put(rule CaptureRule, r CaptureReply) {
	if s != nil {
		s.put(s.intake.own(rule.filled(), r))
	}
}

// Keep says what may stay from now on, also while nothing is recorded: at start, and when the
// rules change.
func (s *CaptureStore) Keep(rule CaptureRule) {
	if s != nil {
		s.put(&entry{rule: rule.filled()})
	}
}

func (s *CaptureStore) put(e *entry) {
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
func (s *CaptureStore) Close() error {
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
func (s *CaptureStore) Stats() CaptureStats {
	if s == nil {
		return CaptureStats{}
	}
	return CaptureStats{s.written.Load(), s.dropped.Load(), s.failed.Load(), s.waiting.Load(), s.bytes.Load(),
		s.segments.Load()}
}
