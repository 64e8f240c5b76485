package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With an error log, what goes wrong is in both; a level that changes holds for the log.
func TestErrorLog(t *testing.T) {
	var out bytes.Buffer
	s := defaultSettings()
	s.ErrorLog = filepath.Join(t.TempDir(), "errors")
	log, err := logger(s, Env{Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("unseen")
	log.level.Set(slog.LevelDebug)
	log.Debug("seen")
	log.Error("broken", "tool", "exec")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(s.ErrorLog, "*-errors.md"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v %v", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil || !strings.Contains(string(text), "] exec | broken | none | error\n") || strings.Contains(string(text), "seen") {
		t.Errorf("%s %v", text, err)
	}
	if got := out.String(); strings.Contains(got, "unseen") || !strings.Contains(got, "seen") || !strings.Contains(got, "broken") {
		t.Errorf("%s", got)
	}
	s.ErrorLog = names[0]
	if _, err := logger(s, Env{Err: &out}); err == nil {
		t.Error("a file is no folder")
	}
}
