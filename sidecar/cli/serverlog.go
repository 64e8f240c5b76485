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
	Level *slog.LevelVar // may change while the server runs
	// standard error, for what is no line of the log; who does not read it keeps nothing waiting
	Err  io.Writer
	kept []io.Closer
}

// OpenLog is the log that the settings ask for. It writes to out where they say stdout, else to
// err or to a file, and waits for none of them.
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
		l.kept = append(l.kept, kept)
		h = kept
	}
	if s.LogFormat == "json" {
		h = telemetry.NewLogHandler(h)
	}
	l.Logger = slog.New(h)
	return l, nil
}

// output is where lines go. Lines are added to a file, so that what cuts it, such as logrotate
// with copytruncate, leaves no hole.
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
	l.kept = append(l.kept, f)
	return l.queue(f), nil
}

// queue writes to an output that may not be read, or be full. What that loses stands in the log once lines
// can be written again.
func (l *Log) queue(to io.Writer) *Queue {
	q := NewQueue(to, func(lines int) {
		l.Warn("lines of the log are lost: what reads the log did not take them", "event", "log_lost",
			"lines", lines)
	})
	l.kept = append(l.kept, q)
	return q
}

// Close closes what was opened for it.
func (l *Log) Close() (err error) {
	for _, c := range slices.Backward(l.kept) {
		err = errors.Join(err, c.Close())
	}
	return err
}

// blocks is slog's text log, except for problems of rule files. On the line stands how many
// there are, and below it they stand as check shows them, behind a bar. Nothing else gets
// more than one line, so no text of a caller or a model looks like a line of the log.
type blocks struct {
	slog.Handler // writes the line into line
	out          *shared
}

// shared is what all handlers of one log write to.
type shared struct {
	mu   sync.Mutex
	line bytes.Buffer
	to   io.Writer
}

func newBlocks(to io.Writer, opts *slog.HandlerOptions) *blocks {
	out := &shared{to: to}
	return &blocks{slog.NewTextHandler(&out.line, opts), out}
}

// Handle writes a record in one piece.
func (b *blocks) Handle(ctx context.Context, r slog.Record) error {
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

func (b *blocks) WithAttrs(list []slog.Attr) slog.Handler {
	return &blocks{b.Handler.WithAttrs(list), b.out}
}

func (b *blocks) WithGroup(name string) slog.Handler {
	return &blocks{b.Handler.WithGroup(name), b.out}
}
