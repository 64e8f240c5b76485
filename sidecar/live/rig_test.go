package live

import (
	"bufio"
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// ruleRig is a Live over a folder of its own.
type ruleRig struct {
	t    testing.TB
	dir  string
	live *Rules
	log  *ruletest.Journal
	m    *telemetry.Metrics
}

// liveRules gives one over the shipped rules. state may be "".
func liveRules(t testing.TB, state string) *ruleRig {
	t.Helper()
	r := &ruleRig{t: t, dir: filepath.Join(t.TempDir(), "rules")}
	ruletest.Copy(t, r.dir)
	r.open(state)
	return r
}

// open is a start of the process.
func (r *ruleRig) open(state string) {
	r.t.Helper()
	r.log, r.m = &ruletest.Journal{}, telemetry.New()
	var err error
	if r.live, err = Open(ruletest.Shared(ruletest.Loader()), ruletest.Source(r.t, r.dir), state,
		slog.New(slog.NewTextHandler(r.log, nil)), r.m); err != nil {
		r.t.Fatal(err)
	}
}

// watch watches the folder until the test ends.
func (r *ruleRig) watch() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { r.live.Watch(ctx); close(ended) }()
	r.t.Cleanup(func() { stop(); <-ended })
	time.Sleep(200 * time.Millisecond) // past its first look
}

// own is the folder in force, with a comment more.
func (r *ruleRig) own(comment string) rulefile.Files {
	return ruletest.Changed(r.t, r.live.Merged(nil), comment)
}

func (r *ruleRig) version() string { return r.live.Set().Version }

// metric is the value of a counter of ours, as text; "" without one.
func (r *ruleRig) metric(name string) string {
	w := httptest.NewRecorder()
	r.m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for s := bufio.NewScanner(w.Body); s.Scan(); {
		if value, ok := strings.CutPrefix(s.Text(), "gptoss_executor_"+name+" "); ok {
			return value
		}
	}
	return ""
}

func (r *ruleRig) said(event string) int { return r.log.Count(event) }

func TestOpen(t *testing.T) {
	log, m := slog.New(slog.DiscardHandler), telemetry.New()
	if _, err := Open(ruletest.Loader(), ruletest.Source(t, filepath.Join(t.TempDir(), "none")), "", log, m); err == nil ||
		!strings.Contains(err.Error(), "none") {
		t.Errorf("a missing folder: %v", err)
	}
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	ruletest.Edit(t, dir, "limits.yaml", "depth: 128", "depth: deep")
	if _, err := Open(ruletest.Shared(ruletest.Loader()), ruletest.Source(t, dir), "", log, m); err == nil ||
		!strings.Contains(err.Error(), filepath.Join(dir, "limits.yaml")+":") {
		t.Errorf("a bad value: %v", err)
	}
	live, err := Open(ruletest.Loader(), ruletest.Source(t, ""), "", log, m)
	if err != nil {
		t.Fatal(err)
	}
	live.Watch(t.Context()) // built-in rules never change: it returns
}
