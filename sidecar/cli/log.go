package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/errorlog"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// serverLog is the log of a server.
type serverLog struct {
	*slog.Logger
	level *slog.LevelVar
	kept  *errorlog.Handler // nil: what goes wrong is in the log alone
}

// logger writes to env.Err. A level or format that is none is an error.
func logger(s ruleset.Settings, env Env) (*serverLog, error) {
	l := &serverLog{level: &slog.LevelVar{}}
	if err := l.level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		return nil, fmt.Errorf("log level %q is not one of debug, info, warn, error", s.LogLevel)
	}
	opts := &slog.HandlerOptions{Level: l.level}
	var out slog.Handler
	switch s.LogFormat {
	case "text":
		out = newBlocks(env.Err, opts)
	case "json":
		out = slog.NewJSONHandler(env.Err, opts)
	default:
		return nil, fmt.Errorf("log format %q is neither text nor json", s.LogFormat)
	}
	if s.ErrorLog != "" {
		var err error
		if l.kept, err = errorlog.Open(s.ErrorLog, time.Now(), out); err != nil {
			return nil, err
		}
		out = l.kept
	}
	l.Logger = slog.New(out)
	return l, nil
}

// Close closes what is kept of it.
func (l *serverLog) Close() error {
	if l.kept == nil {
		return nil
	}
	return l.kept.Close()
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
