package sidecar

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// rulesOver is a folder of rules over those that are built into the binary.
func rulesOver(t testing.TB, dir string) rulefile.Source {
	t.Helper()
	builtin, err := rulefile.Builtin(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	return rulefile.Source{Dir: dir, Builtin: builtin}
}

// copyRules writes them into a folder, as init does.
func copyRules(dir string) error { return os.CopyFS(dir, os.DirFS("../rules")) }

// edited is a rule file with one place changed.
func edited(t testing.TB, dir, file, from, to string) {
	t.Helper()
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// watched is a rig whose rules stand in a folder that is watched.
func watched(t testing.TB, model http.Handler) (r *rig, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := copyRules(dir); err != nil {
		t.Fatal(err)
	}
	r = start(t, setup{}, model)
	log := slog.New(slog.NewTextHandler(r.log, nil))
	live, err := OpenRules(rulesOver(t, dir), "", log, telemetry.New())
	if err != nil {
		t.Fatal(err)
	}
	r.s.live = live
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { live.Watch(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	return r, dir
}

// An edit is taken up by itself, within a second; a request in flight keeps the
// rules it began with; an edit that does not load changes nothing.
func TestLiveRules(t *testing.T) {
	reply := script.Marker("read", `{"path":"a"}`).Thinking("Hm.")
	slow := reply
	slow.Pause = 200 * time.Millisecond
	model := script.New(script.Scenario{Steps: []script.Reply{reply, slow, reply}})
	r, dir := watched(t, model)
	before := r.s.live.Set().Version
	if a := r.stream(); len(a.calls) != 1 || a.header.Get(rulesVersion) != before {
		t.Fatalf("%v under %s", a.calls, a.header.Get(rulesVersion))
	}

	inFlight := make(chan *answer, 1)
	go func() { inFlight <- r.stream() }()
	soon(t, "the model is asked", func() bool { return len(model.Requests("")) == 2 })
	began := time.Now()
	edited(t, dir, "strategies.yaml", "kind: block\n    priority: 60", "kind: block\n    enabled: false\n    priority: 60")
	soon(t, "the edit is taken up", func() bool { return r.s.live.Set().Version != before })
	if took := time.Since(began); took > time.Second {
		t.Errorf("taken up after %s", took)
	}
	after := r.s.live.Set().Version
	if len(inFlight) > 0 {
		t.Error("the request ended before the edit: it shows nothing")
	}
	if a := <-inFlight; len(a.calls) != 1 || a.header.Get(rulesVersion) != before {
		t.Errorf("in flight: %+v", a)
	}
	if a := r.stream(); len(a.calls) != 0 || a.text != reply.Content || a.header.Get(rulesVersion) != after {
		t.Errorf("after the edit: %+v", a)
	}

	edited(t, dir, "models.yaml", "mode: provider", "mode: provder")
	soon(t, "the broken edit is refused", func() bool { return strings.Contains(r.log.String(), "rules_refused") })
	if a := r.ask(http.MethodGet, "/v1/models/gpt-oss", ""); a.status != 200 || a.header.Get(rulesVersion) != after {
		t.Errorf("%d %s", a.status, a.body)
	}
	if !strings.Contains(r.log.String(), "models.yaml:") {
		t.Errorf("no place in %s", r.log)
	}
}

func TestOpenRules(t *testing.T) {
	log, m := slog.New(slog.DiscardHandler), telemetry.New()
	if _, err := OpenRules(rulesOver(t, filepath.Join(t.TempDir(), "none")), "", log, m); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("a missing folder: %v", err)
	}
	dir := t.TempDir()
	if err := copyRules(dir); err != nil {
		t.Fatal(err)
	}
	edited(t, dir, "limits.yaml", "depth: 128", "depth: deep")
	if _, err := OpenRules(rulesOver(t, dir), "", log, m); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "limits.yaml")+":") {
		t.Errorf("a bad value: %v", err)
	}
	live, err := OpenRules(rulesOver(t, ""), "", log, m)
	if err != nil {
		t.Fatal(err)
	}
	live.Watch(t.Context()) // built-in rules never change: it returns
}
