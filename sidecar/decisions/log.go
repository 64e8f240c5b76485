package decisions

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/policy"
)

// Mode is how sure a record must be before its call leaves.
type Mode string

// The modes, the fastest first.
const (
	Written  Mode = "written"  // with the operating system; with the disk a moment later
	Synced   Mode = "synced"   // with the disk
	Required Mode = "required" // with the disk, or the call is refused
)

// Config says where and how a log is written. A zero value is the default.
type Config struct {
	Dir  string
	Mode Mode
	Now  func() time.Time
	Log  *slog.Logger
	// of the folder, from the process that writes there now: this one writes beside it; nil: it is taken
	Lock *os.File

	Wait         time.Duration // how long a call waits for its record, at most
	SyncEvery    time.Duration // how long a record of mode Written waits for the disk
	Queue        int           // records that may wait to be written
	HeadRecords  int           // the head moves on after so many records
	HeadEvery    time.Duration // and after so long
	SegmentBytes int64         // a new file after so many bytes
	SegmentAge   time.Duration // and after so long
	KeepSegments int           // files that are kept, the one that grows included
	KeepBytes    int64         // and their size
}

// filled is the config with its defaults.
func (c Config) filled() Config {
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

// Log is a log that is being written. A nil Log takes everything and keeps nothing. Safe
// for concurrent use.
type Log struct {
	cfg     Config
	queue   chan *entry
	company chan writerChange
	quit    chan struct{}
	ended   chan struct{}
	once    sync.Once
	lock    *os.File
	err     error // of the end; good once ended is closed

	counts
	slow atomic.Bool // the last record was waited for in vain
}

// counts are what is told about a log.
type counts struct {
	written, lost, failed atomic.Uint64
	head                  atomic.Int64 // unix nanoseconds
	broken                atomic.Bool  // the last write failed
}

// entry is a decision, an answer or a connection on its way to the file.
type entry struct {
	decision   Decision
	answer     *Answer     // nil: it is none
	connection *Connection // nil: it is none
	at         time.Time
	done       chan error // buffered
	given      atomic.Bool
}

// What keeps a record from being written.
var (
	errFull   = errors.New("too many records wait to be written")
	errSlow   = errors.New("it is not written in time")
	errClosed = errors.New("the log is closed")
)

// Open makes the log of a folder ready, makes it where there is none, and sets aside
// what a crash left unfinished. The error names what is wrong with a log that cannot be
// continued; nothing was changed then.
func Open(cfg Config) (*Log, error) {
	cfg = cfg.filled()
	if err := private(cfg.Dir); err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	held, err := cfg.held()
	if err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	l := &Log{cfg: cfg, queue: make(chan *entry, cfg.Queue), company: make(chan writerChange),
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

// private makes the folder, and checks that no other user may write to it.
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

// Add writes what was decided, and returns when the record is as sure as the mode
// wants, or after Config.Wait. The error means that the call must not leave; only mode
// Required gives one. In the other modes what cannot be written is counted, and the
// log says so as soon as it can be written again.
func (l *Log) Add(d Decision) error { return l.put(&entry{decision: d}) }

// AddAnswer writes what a person answered, as Add does.
func (l *Log) AddAnswer(a Answer) error { return l.put(&entry{answer: &a}) }

// AddConnection writes what was decided about a connection, as Add does.
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
		e.given.Store(true)
		if !l.slow.Swap(true) {
			l.cfg.Log.Warn("the decision log is slow", "event", "decisions_slow", "folder", l.cfg.Dir,
				"waited", l.cfg.Wait.String())
		}
		return l.answer(errSlow)
	}
}

// answer is what a caller of Add has to know.
func (l *Log) answer(err error) error {
	if err == nil || l.cfg.Mode != Required {
		return nil
	}
	return fmt.Errorf("decision log: %w", err)
}

// Close writes what waits and gives the folder free.
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
	Written uint64    // records of decisions and answers
	Lost    uint64    // decisions without a record
	Failed  uint64    // writes and syncs that failed
	Head    time.Time // when the head moved on
	Broken  bool      // the last write failed, and what is decided now has no record
}

// Stats tells how the log does.
func (l *Log) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	return Stats{l.written.Load(), l.lost.Load(), l.failed.Load(), time.Unix(0, l.head.Load()),
		l.broken.Load()}
}

// record is what is written. In mode Required, a caller that gave up the wait has refused the call.
func (e *entry) record(m Mode) *Record {
	if e.answer != nil {
		return &Record{Time: e.at, Answer: e.answer.masked()}
	}
	late := m == Required && e.given.Load()
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
