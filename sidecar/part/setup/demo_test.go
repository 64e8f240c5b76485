package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// A demo that is stopped stops the sidecar, too.
func TestRunStops(t *testing.T) {
	ended := false
	serve := func(ctx context.Context, upstream string, log io.Writer) error {
		fmt.Fprintf(log, `{"event":"http_server_start","address":%q}`, upstream)
		<-ctx.Done()
		ended = true
		return nil
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/strategies.yaml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := runDemo(ctx, demoConfig{Dir: dir, Out: new(bytes.Buffer), Serve: serve})
	if !errors.Is(err, context.Canceled) || !ended {
		t.Errorf("a demo that was stopped says %v; the sidecar has ended: %v", err, ended)
	}
}

// What does not start says why, with all of its words.
func TestRunCannotStart(t *testing.T) {
	serve := func(_ context.Context, _ string, log io.Writer) error {
		fmt.Fprintln(log, "rules.yaml:1:1: no\n^^^^^")
		return errors.New("nothing was started")
	}
	var out bytes.Buffer
	_, err := runDemo(t.Context(), demoConfig{Out: &out, Serve: serve})
	if err == nil || !strings.Contains(err.Error(), "nothing was started") ||
		!strings.Contains(err.Error(), "^^^^^") {
		t.Errorf("%v", err)
	}
	if out.Len() > 0 {
		t.Errorf("a demo of nothing began: %s", &out)
	}
}

// What stays to be looked at is told the address of the console, and the sidecar runs until it returns.
func TestStageKeepsTheConsole(t *testing.T) {
	j := &journal{events: make(chan event, 1)}
	for _, line := range []string{`{"event":"console_start","address":"http://127.0.0.1:1/"}`, `{"event":"http_server_start"}`} {
		if _, err := j.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if at, _ := j.console.Load().(string); at != "http://127.0.0.1:1/" || len(j.events) != 1 {
		t.Errorf("the console is at %q, and %d events wait", at, len(j.events))
	}
}
