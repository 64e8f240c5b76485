package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
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

const (
	fileMode      = 0o600
	dirMode       = 0o700
	maxSegment    = 16 << 20        // bytes
	maxFiles      = 512             // each start begins a segment
	parts         = 8               // segments into which the limits of a rule are divided
	pause         = time.Second     // after a failed write
	writePatience = 5 * time.Second // for a previous process that is ending
	looks         = time.Minute     // interval of removing old segments
)

// writer writes the segments of a folder. Only its own goroutine uses it.
type writer struct {
	dir    string
	log    *slog.Logger
	now    func() time.Time
	counts *storeCounts
	rule   captureRule // the last one; empty: none yet
	known  *offered

	waits  bool // for the previous process to release the folder
	ready  bool // the folder is locked, and list is complete
	lock   *os.File
	list   []segment // oldest first; the last one is open if file is set
	total  int64     // bytes of all of them
	file   *os.File
	broken bool // the failure was logged
	after  time.Time
}

// run writes entries until the queue is closed.
func (w *writer) run(queue <-chan *entry) error {
	for end := w.now().Add(writePatience); w.waits && w.now().Before(end); time.Sleep(writePatience / 100) {
		w.waits = errors.Is(w.begin(), errCapturesHeld) // other errors are logged with the first reply
	}
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case e, more := <-queue:
			if !more {
				return w.end()
			}
			w.take(e)
			w.counts.waiting.Add(-e.size)
		case <-tick.C:
			w.clean()
		}
	}
}

func (w *writer) take(e *entry) {
	w.rule = e.rule
	if e.reply == nil {
		w.clean()
		return
	}
	line, err := e.line(w.known)
	if err != nil || w.broken && w.now().Before(w.after) {
		w.counts.failed.Add(1)
		return
	}
	if err := w.write(line); err != nil {
		w.counts.failed.Add(1)
		w.trouble(err)
		return
	}
	w.counts.written.Add(1)
	if w.broken {
		w.broken = false
		w.log.Info("replies are recorded again", "event", "capture_written", "folder", w.dir)
	}
}

// clean removes what exceeds the limits.
func (w *writer) clean() {
	if w.rule == (captureRule{}) || w.broken && w.now().Before(w.after) {
		return
	}
	if err := w.begin(); err != nil {
		w.trouble(err)
	} else if err := w.retain(0); err != nil {
		w.trouble(err)
	}
}

// trouble logs once that recording fails. The next try follows after a pause.
func (w *writer) trouble(err error) {
	w.after = w.now().Add(pause)
	if !w.broken {
		w.broken = true
		w.log.Warn("replies cannot be recorded; serving goes on", "event", "capture_broken", "folder", w.dir,
			"detail", err.Error())
	}
}

// begin prepares the folder, unless it is ready.
func (w *writer) begin() (err error) {
	if w.ready {
		return nil
	}
	if err = os.MkdirAll(w.dir, dirMode); err == nil {
		err = os.Chmod(w.dir, dirMode)
	}
	if err == nil && w.lock == nil {
		w.lock, err = hold(w.dir)
	}
	if err != nil {
		return err
	}
	if w.list, err = segments(w.dir); err != nil {
		return err
	}
	if n := len(w.list); n > 0 {
		if err := w.list[n-1].mend(); err != nil {
			return err
		}
	}
	w.total = 0
	for _, s := range w.list {
		w.total += s.bytes
	}
	w.tell()
	w.ready = true
	return nil
}

func (w *writer) tell() {
	w.counts.bytes.Store(w.total)
	w.counts.segments.Store(int64(len(w.list)))
}

// write appends a whole line. If that fails, it truncates what was written.
func (w *writer) write(line []byte) error {
	n := int64(len(line))
	if n > w.rule.Bytes {
		return fmt.Errorf("a record has %d bytes, and the rule allows %d for all", n, w.rule.Bytes)
	}
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.turn(n); err != nil {
		return err
	}
	if err := w.retain(n); err != nil {
		return err
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	last := &w.list[len(w.list)-1]
	took, err := w.file.Write(line)
	if err != nil && w.file.Truncate(last.bytes) == nil {
		took = 0
	}
	last.bytes += int64(took)
	w.total += int64(took)
	if err != nil {
		err = errors.Join(err, w.shut())
	}
	w.tell()
	return err
}

// turn ends the open segment if it is too old or n bytes would make it too large.
func (w *writer) turn(n int64) error {
	if w.file == nil {
		return nil
	}
	last := w.list[len(w.list)-1]
	if last.bytes+n <= min(w.rule.Bytes/parts, maxSegment) && w.now().Sub(last.born) < w.rule.Age/parts {
		return nil
	}
	return w.shut()
}

// open begins a segment. Numbers are never reused.
func (w *writer) open() error {
	s := segment{born: w.now(), n: 1}
	if len(w.list) > 0 {
		s.n = w.list[len(w.list)-1].n + 1
	}
	s.path = segmentPath(w.dir, s.n, s.born)
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed; the next try makes it again
		err = errors.Join(err, w.lock.Close())
		w.ready, w.lock = false, nil
	}
	if err != nil {
		return err
	}
	w.file, w.list = f, append(w.list, s)
	return nil
}

// retain removes the oldest segments: those that are too old, and as many as n more bytes need.
func (w *writer) retain(n int64) error {
	now := w.now()
	for len(w.list) > 0 && (w.total+n > w.rule.Bytes || len(w.list) > w.mostFiles() ||
		now.Sub(w.list[0].born) >= w.rule.Age) {
		if len(w.list) == 1 {
			if err := w.shut(); err != nil {
				return err
			}
		}
		if err := os.Remove(w.list[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.total -= w.list[0].bytes
		w.list = w.list[1:]
		w.tell()
	}
	return nil
}

// mostFiles returns how many segments may exist before a write.
func (w *writer) mostFiles() int {
	if w.file == nil {
		return maxFiles - 1
	}
	return maxFiles
}

// shut syncs and closes the open segment.
func (w *writer) shut() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.file = nil
	return err
}

// end closes everything.
func (w *writer) end() error {
	err := w.shut()
	if w.ready {
		err = errors.Join(err, atomicfile.SyncFolder(w.dir))
	}
	if w.lock != nil {
		err = errors.Join(err, w.lock.Close())
	}
	if err != nil {
		err = fmt.Errorf("record replies: %w", err)
	}
	return err
}
