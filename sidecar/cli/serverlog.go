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
