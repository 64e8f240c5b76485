package sidecar

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// watched is a rig whose rules stand in a folder that is watched.
func watched(t testing.TB, model http.Handler) (r *rig, dir string) {
	t.Helper()
	dir = t.TempDir()
	ruletest.Copy(t, dir)
	r = start(t, setup{}, model)
	log := slog.New(slog.NewTextHandler(r.log, nil))
	rules, err := live.Open(loader(), ruletest.Source(t, dir), "", log, telemetry.New())
	if err != nil {
		t.Fatal(err)
	}
	r.s.rules = rules
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { rules.Watch(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	return r, dir
}

// lasting holds the end of one stream back.
type lasting struct {
	http.Handler
	which, asked int32
	until        chan struct{}
}

func (l *lasting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/chat/completions") && atomic.AddInt32(&l.asked, 1) == l.which {
		w = &lastingWriter{w, l.until}
	}
	l.Handler.ServeHTTP(w, r)
}

type lastingWriter struct {
	http.ResponseWriter
	until chan struct{}
}

func (w *lastingWriter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("[DONE]")) {
		select {
		case <-w.until:
		case <-time.After(time.Minute):
		}
	}
	return w.ResponseWriter.Write(p)
}

func (w *lastingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lastingWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// An edit is taken up by itself, within a second; a request in flight keeps the
// rules it began with; an edit that does not load changes nothing.
func TestLiveRules(t *testing.T) {
	reply := script.Marker("read", `{"path":"a"}`).Thinking("Hm.")
	model := script.New(script.Scenario{Steps: []script.Reply{reply, reply, reply}})
	taken := make(chan struct{}) // the second reply ends behind the edit, however long that takes
	r, dir := watched(t, &lasting{Handler: model, which: 2, until: taken})
	before := r.s.rules.Set().Version
	if a := r.stream(); len(a.calls) != 1 || a.header.Get(web.RulesVersion) != before {
		t.Fatalf("%v under %s", a.calls, a.header.Get(web.RulesVersion))
	}

	inFlight := make(chan *answer, 1)
	go func() { inFlight <- r.stream() }()
	ruletest.Soon(t, "the model is asked", func() bool { return len(model.Requests("")) == 2 })
	began := time.Now()
	ruletest.Edit(t, dir, "strategies.yaml", "kind: block\n    priority: 60",
		"kind: block\n    enabled: false\n    priority: 60")
	ruletest.Soon(t, "the edit is taken up", func() bool { return r.s.rules.Set().Version != before })
	if took := time.Since(began); took > 4*time.Second { // without an event it is looked at after five
		t.Errorf("taken up after %s", took)
	}
	after := r.s.rules.Set().Version
	close(taken)
	if a := <-inFlight; len(a.calls) != 1 || a.header.Get(web.RulesVersion) != before {
		t.Errorf("in flight: %+v", a)
	}
	if a := r.stream(); len(a.calls) != 0 || a.text != reply.Content ||
		a.header.Get(web.RulesVersion) != after {
		t.Errorf("after the edit: %+v", a)
	}

	ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
	ruletest.Soon(t, "the broken edit is refused",
		func() bool { return strings.Contains(r.log.String(), "rules_refused") })
	if a := r.ask(http.MethodGet, "/v1/models/gpt-oss", ""); a.status != 200 ||
		a.header.Get(web.RulesVersion) != after {
		t.Errorf("%d %s", a.status, a.body)
	}
	if !strings.Contains(r.log.String(), "models.yaml:") {
		t.Errorf("no place in %s", r.log)
	}
}

// readyz warns of the replica whose clock is wrong, and of no other.
func TestReadyWithWrongClock(t *testing.T) {
	r := play(t, script.Text("x"))
	r.s.replicas = func() Replicas {
		return Replicas{This: "a", List: []Replica{{ID: "a", Rules: "1"}, {ID: "b", Rules: "1", Ahead: -660}}}
	}
	a := r.ask(http.MethodGet, "/readyz", "")
	if warnings := gjson.Get(a.body, "warnings.#").Int(); a.status != 200 || warnings != 1 ||
		!strings.Contains(a.body,
			"the clock of replica b differs from that of the server that replicas share by -660 s") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// readyz warns of rules that do not load, and is ready.
func TestReadyWithLastGoodRules(t *testing.T) {
	state := t.TempDir()
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	r := play(t, script.Text("x"))
	for _, spoil := range []bool{false, true} { // the second start finds a mistake
		if spoil {
			ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
		}
		rules, err := live.Open(loader(), ruletest.Source(t, dir), state, r.s.log, r.s.metrics)
		ruletest.Must(t, err)
		r.s.rules = rules
	}
	if a := r.ask(http.MethodGet, "/readyz", ""); a.status != 200 ||
		!strings.Contains(a.body, "did not load at start") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
