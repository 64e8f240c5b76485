package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// With an error log, what goes wrong is in both; a level that changes holds for the log.
func TestErrorLog(t *testing.T) {
	var out bytes.Buffer
	s := config.Settings{LogLevel: "info", LogFormat: "text", ErrorLog: filepath.Join(t.TempDir(), "errors")}
	log, err := OpenLog(s, nil, &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("unseen")
	log.Level.Set(slog.LevelDebug)
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
	if err != nil || !strings.Contains(string(text), "] exec | broken | none | error\n") ||
		strings.Contains(string(text), "seen") {
		t.Errorf("%s %v", text, err)
	}
	if got := out.String(); strings.Contains(got, "unseen") || !strings.Contains(got, "seen") ||
		!strings.Contains(got, "broken") {
		t.Errorf("%s", got)
	}
	s.ErrorLog = names[0]
	if _, err := OpenLog(s, nil, &out); err == nil {
		t.Error("a file is no folder")
	}
}

// Where lines go.
func TestOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.log")
	for _, name := range []string{"", "stderr", "stdout", file, file} {
		var out, err bytes.Buffer
		log, bad := OpenLog(config.Settings{LogLevel: "info", LogFormat: "json", LogOutput: name}, &out, &err)
		if bad != nil {
			t.Fatal(bad)
		}
		log.Info("hello")
		if bad := log.Close(); bad != nil {
			t.Error(bad)
		}
		if got := [2]bool{out.Len() > 0, err.Len() > 0}; got != [2]bool{name == "stdout", name == "" ||
			name == "stderr"} {
			t.Errorf("%q: stdout and stderr have lines: %v", name, got)
		}
	}
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), `"msg":"hello"`); err != nil || n != 2 {
		t.Errorf("%d lines of two servers, one after the other; %v", n, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// What cannot be opened stops the start, and the message says what to write.
func TestOutputRefused(t *testing.T) {
	good := config.Settings{LogLevel: "info", LogFormat: "text"}
	for want, change := range map[string]func(*config.Settings){
		"write the whole path of a file": func(s *config.Settings) { s.LogOutput = "sdtout" },
		"open the log: ":                 func(s *config.Settings) { s.LogOutput = t.TempDir() },
	} {
		s := good
		change(&s)
		if _, err := OpenLog(s, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
