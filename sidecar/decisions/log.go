package decisions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Mode is how safe a record must be before its call leaves.
type Mode string

// The modes, fastest first.
const (
	Written  Mode = "written"  // passed to the system; synced a moment later
	Synced   Mode = "synced"   // on disk
	Required Mode = "required" // on disk, or the call is refused
)

// Config configures a log. Zero values mean the defaults.
type Config struct {
	Dir  string
	Mode Mode
	Now  func() time.Time
	Log  *slog.Logger
	// Lock is the folder's lock, from the process that writes there now: both write. Nil: this process
	// takes it.
	Lock *os.File

	Wait         time.Duration // longest time that a call waits for its record
	SyncEvery    time.Duration // longest time until a record of mode Written is synced
	Queue        int           // records that may wait to be written
	HeadRecords  int           // records after which the head moves
	HeadEvery    time.Duration // time after which the head moves
	SegmentBytes int64         // size at which a new file begins
	SegmentAge   time.Duration // age at which a new file begins
	KeepSegments int           // files to keep, with the current one
	KeepBytes    int64         // their total size
}

// withDefaults returns the config with its defaults.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Mode = cmp.Or(c.Mode, Written)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	// a moment in which the disk is slow, or another process opens the log, refuses no call
	if c.Wait == 0 && c.Mode == Required {
		c.Wait = 2 * time.Second
	}
	c.Wait = cmp.Or(c.Wait, 250*time.Millisecond)
	c.SyncEvery = cmp.Or(c.SyncEvery, 100*time.Millisecond)
	c.Queue = cmp.Or(c.Queue, 1024)
	c.HeadRecords = cmp.Or(c.HeadRecords, 1000)
	c.HeadEvery = cmp.Or(c.HeadEvery, 5*time.Minute)
	c.SegmentBytes = cmp.Or(c.SegmentBytes, 64<<20)
	c.SegmentAge = cmp.Or(c.SegmentAge, 24*time.Hour)
	c.KeepSegments = cmp.Or(c.KeepSegments, 400)
	c.KeepBytes = cmp.Or(c.KeepBytes, 8<<30)
	return c
}

// Log writes a decision log. A nil Log accepts everything and keeps nothing. It is safe for concurrent
// use.
type Log struct {
	cfg    Config
	queue  chan *entry
	shares chan shareChange
	quit   chan struct{}
	ended  chan struct{}
	once   sync.Once
	lock   *os.File
	err    error // of the writer; valid once ended is closed

	counts
	slow atomic.Bool // the last wait for a record timed out
}

// counts are the statistics of a log.
type counts struct {
	written, lost, failed atomic.Uint64
	head                  atomic.Int64 // unix nanoseconds
	broken                atomic.Bool  // the last write failed
}

// entry is a decision, an answer or a connection in the queue.
type entry struct {
	decision   Decision
	answer     *Answer     // nil: it is none
	connection *Connection // nil: it is none
	at         time.Time
	done       chan error // buffered
	timedOut   atomic.Bool
}

// Why a record is not written.
var (
	errFull   = errors.New("too many records wait to be written")
	errSlow   = errors.New("it is not written in time")
	errClosed = errors.New("the log is closed")
)

// Open opens the log of a folder, or begins one, and sets aside what a crash left incomplete. The
// error names what is wrong with a log that cannot be continued; nothing was changed then.
func Open(cfg Config) (*Log, error) {
	cfg = cfg.withDefaults()
	if err := private(cfg.Dir); err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	held, err := cfg.takeLock()
	if err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	l := &Log{cfg: cfg, queue: make(chan *entry, cfg.Queue), shares: make(chan shareChange),
		quit: make(chan struct{}), ended: make(chan struct{}), lock: held}
	w, err := newWriter(cfg, &l.counts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decision log: %w", err), held.Close())
	}
	go func() {
		defer close(l.ended)
		l.err = w.run(l)
	}()
	return l, nil
}

// private makes the folder and checks that no other user may write to it.
func private(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && atomicfile.May(info)&0o022 != 0 {
		err = fmt.Errorf("others may write to %s; run: chmod go-w %s", dir, dir)
	}
	return err
}

// Add writes a decision and returns when the record is as safe as the mode requires, or after
// Config.Wait. Only mode Required returns errors: the call must not leave. Otherwise lost records are
// counted, and the log says so as soon as it can be written again.
func (l *Log) Add(d Decision) error { return l.put(&entry{decision: d}) }

// AddAnswer writes a person's answer, as Add does.
func (l *Log) AddAnswer(a Answer) error { return l.put(&entry{answer: &a}) }

// AddConnection writes a decision about a connection, as Add does.
func (l *Log) AddConnection(c Connection) error { return l.put(&entry{connection: &c}) }

func (l *Log) put(e *entry) error {
	if l == nil {
		return nil
	}
	e.at, e.done = l.cfg.Now(), make(chan error, 1)
	select {
	case <-l.ended:
		l.lost.Add(1)
		return l.answer(errClosed)
	default:
	}
	select {
	case l.queue <- e:
	default:
		l.lost.Add(1)
		return l.answer(errFull)
	}
	if l.slow.Load() && l.cfg.Mode != Required {
		return nil // one call has waited in vain, the others need not
	}
	timer := time.NewTimer(l.cfg.Wait)
	defer timer.Stop()
	select {
	case err := <-e.done:
		return l.answer(err)
	case <-l.ended:
		return l.answer(errClosed)
	case <-timer.C:
		e.timedOut.Store(true)
		if !l.slow.Swap(true) {
			l.cfg.Log.Warn("the decision log is slow", "event", "decisions_slow", "folder", l.cfg.Dir,
				"waited", l.cfg.Wait.String())
		}
		return l.answer(errSlow)
	}
}

// answer returns the error for a caller of Add.
func (l *Log) answer(err error) error {
	if err == nil || l.cfg.Mode != Required {
		return nil
	}
	return fmt.Errorf("decision log: %w", err)
}

// Close writes what waits and releases the folder.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.once.Do(func() {
		close(l.quit)
		<-l.ended
		l.err = errors.Join(l.err, l.lock.Close())
	})
	if l.err != nil {
		return fmt.Errorf("decision log: %w", l.err)
	}
	return nil
}

// Stats are counts since the log was opened.
type Stats struct {
	Written uint64    // decisions and answers
	Lost    uint64    // decisions without a record
	Failed  uint64    // writes and syncs
	Head    time.Time // time when the head moved
	Broken  bool      // the last write failed; current decisions have no record
}

// Stats returns the statistics of the log.
func (l *Log) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	return Stats{l.written.Load(), l.lost.Load(), l.failed.Load(), time.Unix(0, l.head.Load()),
		l.broken.Load()}
}

// record returns what is written. In mode Required, a caller whose wait timed out has refused the
// call.
func (e *entry) record(m Mode) *Record {
	if e.answer != nil {
		return &Record{Time: e.at, Answer: e.answer.masked()}
	}
	late := m == Required && e.timedOut.Load()
	const why = "this record was not written in time"
	if c := e.connection; c != nil {
		if late && c.Times == 0 {
			c.Outcome, c.Effect, c.Why = Refused, policy.Deny, why
		}
		return &Record{Time: e.at, Connection: c.masked()}
	}
	if late && e.decision.Outcome != Refused {
		e.decision.Outcome, e.decision.Effect, e.decision.Why = Refused, policy.Deny, why
	}
	return &Record{Time: e.at, Decision: e.decision.masked()}
}

// sync starts to sync what was written.
func (w *writer) sync() {
	if w.file == nil {
		return
	}
	done := make(chan error, 1)
	w.flush, w.dirty, w.at = done, false, w.cfg.Now()
	w.waiting, w.inFlush = nil, w.waiting
	file, dir, head := w.file, w.cfg.Dir, w.head
	w.head = nil
	go func() { done <- syncFiles(file, dir, head) }()
	if head != nil && w.turns != nil {
		w.syncEnded(<-done) // a head is written within the turn: the other process may write the next one
	}
}

// syncFiles syncs the file first, so that a head never names a missing record.
func syncFiles(file *os.File, dir string, head *Checkpoint) error {
	if err := file.Sync(); err != nil || head == nil {
		return err
	}
	doc, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, headFile), append(doc, '\n'), fileMode)
}

// syncEnded ends a sync. After a failed one the records may be lost, and another sync would not help.
func (w *writer) syncEnded(err error) {
	w.flush, w.synced = nil, err
	if err != nil {
		_ = w.failed(err)
	} else if w.after == 0 {
		w.counts.head.Store(w.headMoved.UnixNano())
	}
	answer(w.inFlush, err)
	w.inFlush = nil
}

// settle waits until everything written is on disk.
func (w *writer) settle() error {
	if w.flush != nil {
		w.syncEnded(<-w.flush)
	}
	if w.file == nil {
		return nil
	}
	if w.sync(); w.flush != nil {
		w.syncEnded(<-w.flush)
	}
	return w.synced
}

// rotate ends a segment. The next record begins a new one.
func (w *writer) rotate() {
	if err := w.closeSegment(); err != nil {
		_ = w.failed(err)
	}
	if err := w.retain(); err != nil {
		_ = w.failed(err)
	}
	if w.turns != nil { // the other process must see that this segment has ended
		if err := w.begin(); err != nil {
			_ = w.failed(err)
		}
	}
}

// closeSegment syncs the segment and the head, and closes the file.
func (w *writer) closeSegment() error {
	w.moveHead()
	err := w.settle()
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
		w.file = nil
	}
	return err
}

// end writes the last gap and closes the file.
func (w *writer) end() error {
	if lost := w.missing(w.counts.lost.Load()); lost != nil {
		_ = w.write(lost...) // told by w.failing
	}
	err := w.closeSegment()
	return errors.Join(err, w.failing)
}

// retain removes the oldest segments above the limits. A record says so first, so that Verify does not
// report a cut.
func (w *writer) retain() error {
	list, err := segments(w.cfg.Dir)
	if err != nil {
		return err
	}
	n := w.tooMany(list)
	if n == 0 {
		return nil
	}
	first, err := list[n].firstRecord()
	if err != nil {
		return err
	}
	if err := w.write(&Record{Time: w.cfg.Now(), Removed: &Checkpoint{first.Seq - 1,
		first.Prev}}); err != nil {
		return err
	}
	w.moveHead()
	if err := w.settle(); err != nil {
		return err
	}
	for _, s := range list[:n] {
		if err := os.Remove(s.path); err != nil {
			return err
		}
	}
	w.cfg.Log.Info("old decisions were removed", "event", "decisions_removed", "folder", w.cfg.Dir,
		"through", first.Seq-1)
	return atomicfile.SyncFolder(w.cfg.Dir)
}

// tooMany returns how many segments must go to make room for another one.
func (w *writer) tooMany(list []segment) (n int) {
	var bytes int64
	for _, s := range list {
		bytes += s.bytes
	}
	for n < len(list)-1 && (len(list)-n >= w.cfg.KeepSegments || bytes > w.cfg.KeepBytes) {
		bytes -= list[n].bytes
		n++
	}
	return n
}
