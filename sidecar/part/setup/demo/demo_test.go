package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	_, err := Run(ctx, Config{Dir: dir, Out: new(bytes.Buffer), Serve: serve})
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
	_, err := Run(t.Context(), Config{Out: &out, Serve: serve})
	if err == nil || !strings.Contains(err.Error(), "nothing was started") ||
		!strings.Contains(err.Error(), "^^^^^") {
		t.Errorf("%v", err)
	}
	if out.Len() > 0 {
		t.Errorf("a demo of nothing began: %s", &out)
	}
}
