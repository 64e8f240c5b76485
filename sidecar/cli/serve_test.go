package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// gate is a log that does not go on before it is opened.
type gate struct{ serves, reached, open chan bool }

func (g gate) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("event=http_server_start")) {
		close(g.serves)
	}
	if bytes.Contains(line, []byte("event=rules_refused")) {
		g.reached <- true
		<-g.open
	}
	return len(line), nil
}

// What the watch is at when the server is told to stop is done before it ends.
func TestServeWaitsForTheWatch(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../rules")); err != nil {
		t.Fatal(err)
	}
	log := gate{make(chan bool), make(chan bool), make(chan bool)}
	to := &Log{Logger: slog.New(slog.NewTextHandler(log, nil)), Level: new(slog.LevelVar),
		Err: io.Discard}
	s := (Env{Parts: Parts}).DefaultSettings()
	s.Listen, s.Rules = "127.0.0.1:0", dir
	set(t, &s, "confine", "off")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serveWith(ctx, s, Env{Parts: Parts, Defaults: os.DirFS("../..")}, to, nil) }()
	select {
	case <-log.serves: // it has read the rules as they are
	case err := <-ended:
		t.Fatalf("it did not start: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "models.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case <-log.reached:
	case err := <-ended:
		t.Fatalf("it did not see the edit: %v", err)
	}
	stop()
	select {
	case <-ended:
		close(log.open)
		t.Fatal("it ended while the watch was at work")
	case <-time.After(500 * time.Millisecond):
	}
	close(log.open)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// set gives a setting of a part a value.
func set(t *testing.T, s *config.Settings, key, value string) {
	t.Helper()
	for _, f := range s.All() {
		if f.Key == key {
			*f.Text = value
			return
		}
	}
	t.Fatalf("there is no setting %s", key)
}
