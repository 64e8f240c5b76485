package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// Log is the log of a server.
type Log struct {
	*slog.Logger
	Level *slog.LevelVar // can change while the server runs
	// standard error for other output; it never blocks
	Err     io.Writer
	closers []io.Closer
}

// OpenLog opens the log of the settings. It writes to out if they say stdout, else to err or a file, and
// never blocks on any of them.
func OpenLog(s config.Settings, out, err io.Writer) (*Log, error) {
	l := &Log{Level: &slog.LevelVar{}}
	l.Logger = slog.New(slog.DiscardHandler)
	if err := l.Level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, fmt.Errorf("log_level: %w", err)
	}
	errs := l.queue(err)
	l.Err = errs
	to, bad := l.output(s.LogOutput, out, errs)
	if bad != nil {
		return nil, errors.Join(bad, l.Close())
	}
	opts := &slog.HandlerOptions{Level: l.Level}
	var h slog.Handler = newBlocks(to, opts)
	if s.LogFormat == "json" {
		h = slog.NewJSONHandler(to, opts)
	}
	if s.ErrorLog != "" {
		kept, err := openErrorLog(s.ErrorLog, time.Now(), h)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.closers = append(l.closers, kept)
		h = kept
	}
	if s.LogFormat == "json" {
		h = telemetry.NewLogHandler(h)
	}
	l.Logger = slog.New(h)
	return l, nil
}

// output returns where lines go. Files are opened for appending, so that logrotate with copytruncate leaves
// no hole.
func (l *Log) output(name string, out, err io.Writer) (io.Writer, error) {
	switch name {
	case "stderr", "":
		return err, nil
	case "stdout":
		return l.queue(out), nil
	}
	if !filepath.IsAbs(name) {
		return nil, fmt.Errorf("log output %q is neither stderr, stdout nor a file; write the whole path of a file, from / on", name)
	}
	f, bad := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if bad != nil {
		return nil, fmt.Errorf("open the log: %w", bad)
	}
	l.closers = append(l.closers, f)
	return l.queue(f), nil
}

// queue writes through a Queue. The log reports dropped lines as soon as it can be written again.
func (l *Log) queue(to io.Writer) *Queue {
	q := NewQueue(to, func(lines int) {
		l.Warn("lines of the log are lost: what reads the log did not take them", "event", "log_lost",
			"lines", lines)
	})
	l.closers = append(l.closers, q)
	return q
}

func (l *Log) Close() (err error) {
	for _, c := range slices.Backward(l.closers) {
		err = errors.Join(err, c.Close())
	}
	return err
}

// textHandler is slog's text handler, except for problems of rule files: their number is on the line, and
// they follow below it as check prints them, behind a bar. Everything else is one line, so that text of a
// caller or a model cannot imitate a log line.
type textHandler struct {
	slog.Handler // it writes to line
	out          *logOutput
}

// logOutput is the output of all handlers of one log.
type logOutput struct {
	mu   sync.Mutex
	line bytes.Buffer
	to   io.Writer
}

func newBlocks(to io.Writer, opts *slog.HandlerOptions) *textHandler {
	out := &logOutput{to: to}
	return &textHandler{slog.NewTextHandler(&out.line, opts), out}
}

// Handle writes a record with one Write.
func (b *textHandler) Handle(ctx context.Context, r slog.Record) error {
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	var below rulefile.Problems
	r.Attrs(func(a slog.Attr) bool {
		if list, ok := a.Value.Any().(rulefile.Problems); ok {
			below = append(below, list...)
			a = slog.Int(a.Key, len(list))
		}
		line.AddAttrs(a)
		return true
	})
	b.out.mu.Lock()
	defer b.out.mu.Unlock()
	b.out.line.Reset()
	err := b.Handler.Handle(ctx, line)
	if len(below) > 0 {
		for text := range strings.SplitSeq(below.Error(), "\n") {
			b.out.line.WriteString("  | " + terminal.Printable(text) + "\n")
		}
	}
	_, written := b.out.to.Write(b.out.line.Bytes())
	return errors.Join(err, written)
}

func (b *textHandler) WithAttrs(list []slog.Attr) slog.Handler {
	return &textHandler{b.Handler.WithAttrs(list), b.out}
}

func (b *textHandler) WithGroup(name string) slog.Handler {
	return &textHandler{b.Handler.WithGroup(name), b.out}
}

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
