package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

const (
	errorLogSuffix = "-errors.md"
	keptDays       = 30       // the number of files
	maxDay         = 64 << 20 // bytes; later entries of the day are only in the log
	maxEntry       = 2000     // bytes
)

// ErrorLog is a slog.Handler that writes warnings, errors and faults to a file per day, and passes every
// record on to the next handler.
type ErrorLog struct {
	slog.Handler
	attrs []slog.Attr
	file  *dayFile
}

// openErrorLog returns an ErrorLog with files in dir, which it creates. It fails if the file of today
// cannot be written.
func openErrorLog(dir string, now time.Time, next slog.Handler) (*ErrorLog, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the error log: %w", err)
	}
	f := &dayFile{dir: dir}
	if err := f.openDay(now); err != nil {
		return nil, fmt.Errorf("open the error log: %w", err)
	}
	return &ErrorLog{Handler: next, file: f}, nil
}

func (h *ErrorLog) Close() error {
	h.file.mu.Lock()
	defer h.file.mu.Unlock()
	return h.file.out.Close()
}

// Enabled accepts info, the level of faults of the model.
func (h *ErrorLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.Handler.Enabled(ctx, level)
}

func (h *ErrorLog) Handle(ctx context.Context, r slog.Record) error {
	var err error
	if e := entryOf(h.attrs, r); r.Level >= slog.LevelWarn || e.event == "fault" {
		if err = h.file.add(r.Time, e.line(r)); err != nil && h.file.reported.CompareAndSwap(false, true) {
			notice := slog.NewRecord(r.Time, slog.LevelError, "the error log cannot be written", 0)
			notice.Add("event", "error_log_broken", "detail", err.Error())
			err = errors.Join(err, h.Handler.Handle(ctx, notice))
		} else if err == nil {
			h.file.reported.Store(false)
		}
	}
	if h.Handler.Enabled(ctx, r.Level) {
		err = errors.Join(err, h.Handler.Handle(ctx, r))
	}
	return err
}

func (h *ErrorLog) WithAttrs(list []slog.Attr) slog.Handler {
	return &ErrorLog{h.Handler.WithAttrs(list), slices.Concat(h.attrs, list), h.file}
}

func (h *ErrorLog) WithGroup(name string) slog.Handler {
	return &ErrorLog{h.Handler.WithGroup(name), h.attrs, h.file}
}

// entry holds the attributes of a record that the file shows.
type entry struct {
	event, tool, detail, action string
	refused                     bool
}

func entryOf(attrs []slog.Attr, r slog.Record) (e entry) {
	take := func(a slog.Attr) bool {
		switch a.Key {
		case "event":
			e.event = a.Value.String()
		case "tool":
			e.tool = a.Value.String()
		case "detail", "fault", "problems":
			e.detail += ": " + a.Value.String()
		case "action":
			e.action = a.Value.String()
		case "refused":
			e.refused = a.Value.String() == "true"
		}
		return true
	}
	for _, a := range attrs {
		take(a)
	}
	r.Attrs(take)
	return e
}

// fixes maps an action after a fault to words.
var fixes = map[string]string{
	"resample": "asked again", "correct": "told the model, and asked again", "give_up": "none",
}

// line formats an entry.
func (e entry) line(r slog.Record) string {
	fix, status := "none", "failed"
	if known, ok := fixes[e.action]; ok {
		fix = known
	}
	switch {
	case e.refused:
		status = "refused"
	case fix != "none":
		status = "tried again"
	case e.event != "fault" && e.event != "tool_execution_failed":
		status = strings.ToLower(r.Level.String())
	}
	tool := e.tool
	if tool == "" {
		tool = "-"
	}
	return fmt.Sprintf("[%s] %s | %s | %s | %s\n", r.Time.Format(time.TimeOnly), field(tool),
		field(r.Message+e.detail), fix, status)
}

// field returns text on one line, with secrets masked and without the column separator.
func field(text string) string {
	text, _ = secrets.Mask(text)
	text = strings.ToValidUTF8(text[:min(len(text), maxEntry)], "")
	return strings.ReplaceAll(terminal.Printable(strings.Join(strings.Fields(text), " ")), "|", "¦")
}

// dayFile is the file of the current day.
type dayFile struct {
	mu   sync.Mutex
	dir  string
	day  string
	out  *os.File
	size int64

	reported atomic.Bool // a failure was reported
}

// add writes a line to the file of its day.
func (f *dayFile) add(at time.Time, line string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.Format(time.DateOnly) > f.day { // a late record goes to the open file
		if err := f.openDay(at); err != nil {
			return fmt.Errorf("write the error log: %w", err)
		}
	}
	if f.size > maxDay {
		return nil
	}
	n, err := f.out.WriteString(line)
	f.size += int64(n)
	if f.size > maxDay {
		_, full := f.out.WriteString("No more is kept of this day.\n")
		err = errors.Join(err, full)
	}
	return err
}

// openDay opens the file of a day, new or existing, and removes the oldest files.
func (f *dayFile) openDay(at time.Time) error {
	day := at.Format(time.DateOnly)
	out, err := os.OpenFile(filepath.Join(f.dir, day+errorLogSuffix), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	info, err := out.Stat()
	if err == nil && info.Size() == 0 {
		_, err = out.WriteString("## " + day + "\n\n")
	}
	if err != nil {
		return errors.Join(err, out.Close())
	}
	if f.out != nil {
		err = f.out.Close()
	}
	f.day, f.out, f.size = day, out, info.Size()
	return errors.Join(err, f.prune())
}

// prune removes the oldest files of the log; other files stay.
func (f *dayFile) prune() error {
	names, err := filepath.Glob(filepath.Join(f.dir, "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"+
		errorLogSuffix))
	if err != nil || len(names) <= keptDays {
		return err
	}
	slices.Sort(names)
	for _, name := range names[:len(names)-keptDays] {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
