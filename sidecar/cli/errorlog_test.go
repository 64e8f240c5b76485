package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func at(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 4, 5, 0, time.UTC) }

func logRecord(when time.Time, level slog.Level, msg string, attrs ...any) slog.Record {
	r := slog.NewRecord(when, level, msg, 0)
	r.Add(attrs...)
	return r
}

func open(t *testing.T, dir string, next slog.Handler) *ErrorLog {
	t.Helper()
	h, err := openErrorLog(dir, at(1, 0), next)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Warnings, errors and faults stand in the file of their day, in one line each; all else is in
// the log alone.
func TestEntries(t *testing.T) {
	dir, log := t.TempDir(), &bytes.Buffer{}
	h := open(t, dir, slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	for _, r := range []slog.Record{
		logRecord(at(1, 9), slog.LevelInfo, "served"),
		logRecord(at(1, 10), slog.LevelWarn, "a tool failed", "event", "tool_execution_failed", "tool",
			"exec", "refused", false, "detail", "exit 1\n[10:04:06] forged | x | y"),
		logRecord(at(1, 11), slog.LevelInfo, "fault", "event", "fault", "fault", "empty", "action",
			"resample"),
		logRecord(at(2, 0), slog.LevelError, "broken", "detail",
			"sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"),
		logRecord(at(1, 23), slog.LevelWarn, "a tool failed", "event", "tool_execution_failed", "tool",
			"read", "refused", true),
	} {
		if err := h.Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want := "## 2026-03-01\n\n" +
		"[10:04:05] exec | a tool failed: exit 1 [10:04:06] forged ¦ x ¦ y | none | failed\n" +
		"[11:04:05] - | fault: empty | asked again | tried again\n"
	if got := read(t, dir, "2026-03-01-errors.md"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	second := read(t, dir, "2026-03-02-errors.md")
	if !strings.HasPrefix(second, "## 2026-03-02\n\n[00:04:05] - | broken: ") ||
		strings.Contains(second, "abcdefghij") ||
		!strings.HasSuffix(second, "[23:04:05] read | a tool failed | none | refused\n") {
		t.Errorf("%s", second)
	}
	if got := strings.Count(log.String(), "\n"); got != 3 {
		t.Errorf("the log has %d lines of its own level: %s", got, log)
	}
	info, err := os.Stat(filepath.Join(dir, "2026-03-01-errors.md"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A file is gone on with, thirty are kept, and files of others stay.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.md", "2026-errors.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		h := open(t, dir, slog.DiscardHandler)
		for day := 1; day <= 40; day++ {
			if err := h.Handle(t.Context(), logRecord(at(day, 1), slog.LevelWarn,
				fmt.Sprint("day ", day))); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != keptDays+2 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if got := read(t, dir, at(40, 1).Format(time.DateOnly)+errorLogSuffix); strings.Count(got, "##") != 1 ||
		strings.Count(got, "day 40") != 2 {
		t.Errorf("%s", got)
	}
}

// With belongs to the entry, too.
func TestWith(t *testing.T) {
	dir := t.TempDir()
	slog.New(open(t, dir, slog.DiscardHandler)).With("tool", "exec").WithGroup("g").Error("broken")
	today := read(t, dir, time.Now().Format(time.DateOnly)+errorLogSuffix)
	if !strings.Contains(today, "] exec | broken | none | error\n") {
		t.Errorf("%s", today)
	}
}

// That nothing can be written is said once, in the log.
func TestBroken(t *testing.T) {
	var log bytes.Buffer
	h := open(t, t.TempDir(), slog.NewTextHandler(&log, nil))
	h.file.out.Close()
	for range 3 {
		if err := h.Handle(t.Context(), logRecord(at(1, 1), slog.LevelWarn, "x")); err == nil {
			t.Error("no error")
		}
	}
	if got := strings.Count(log.String(), "error_log_broken"); got != 1 {
		t.Errorf("said %d times", got)
	}
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openErrorLog(file, at(1, 0), slog.DiscardHandler); err == nil ||
		!strings.HasPrefix(err.Error(), "open the error log: ") {
		t.Errorf("%v", err)
	}
}
