package sidecar_test

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

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// watched is a rig whose rules stand in a folder that is watched.
func watched(t testing.TB, model http.Handler) (r *provider.Server, dir string) {
	t.Helper()
	dir = t.TempDir()
	ruletest.Copy(t, dir)
	r = provider.Start(t, provider.Setup{}, model)
	log := slog.New(slog.NewTextHandler(r.Log, nil))
	rules, err := live.Open(provider.Loader(), ruletest.Source(t, dir), "", log, telemetry.New())
	if err != nil {
		t.Fatal(err)
	}
	r.Rules.Rules = rules
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
	before := r.Rules.Set().Version
	if a := r.Stream(); len(a.Calls) != 1 || a.Header.Get(web.RulesVersion) != before {
		t.Fatalf("%v under %s", a.Calls, a.Header.Get(web.RulesVersion))
	}

	inFlight := make(chan *provider.Answer, 1)
	go func() { inFlight <- r.Stream() }()
	ruletest.Soon(t, "the model is asked", func() bool { return len(model.Requests("")) == 2 })
	ruletest.Edit(t, dir, "strategies.yaml", "kind: frame\n    priority: 60",
		"kind: frame\n    enabled: false\n    priority: 60")
	ruletest.Soon(t, "the edit is taken up", func() bool { return r.Rules.Set().Version != before })
	after := r.Rules.Set().Version
	close(taken)
	if a := <-inFlight; len(a.Calls) != 1 || a.Header.Get(web.RulesVersion) != before {
		t.Errorf("in flight: %+v", a)
	}
	if a := r.Stream(); len(a.Calls) != 0 || a.Text != reply.Content ||
		a.Header.Get(web.RulesVersion) != after {
		t.Errorf("after the edit: %+v", a)
	}

	ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
	ruletest.Soon(t, "the broken edit is refused",
		func() bool { return strings.Contains(r.Log.String(), "rules_refused") })
	if a := r.Ask(http.MethodGet, "/v1/models/gpt-oss", ""); a.Status != 200 ||
		a.Header.Get(web.RulesVersion) != after {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if !strings.Contains(r.Log.String(), "models.yaml:") {
		t.Errorf("no place in %s", r.Log)
	}
}

// readyz warns of the replica whose clock is wrong, and of no other.
func TestReadyWithWrongClock(t *testing.T) {
	r := provider.Start(t, provider.Setup{Replicas: func() sidecar.Replicas {
		return sidecar.Replicas{This: "a", List: []sidecar.Replica{{ID: "a", Rules: "1"}, {ID: "b", Rules: "1", Ahead: -660}}}
	}}, script.New())
	a := r.Ask(http.MethodGet, "/readyz", "")
	if warnings := gjson.Get(a.Body, "warnings.#").Int(); a.Status != 200 || warnings != 1 ||
		!strings.Contains(a.Body,
			"the clock of replica b differs from that of the server that replicas share by -660 s") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// readyz warns of rules that do not load, and is ready.
func TestReadyWithLastGoodRules(t *testing.T) {
	state := t.TempDir()
	dir := t.TempDir()
	ruletest.Copy(t, dir)
	r := provider.Play(t, script.Text("x"))
	for _, spoil := range []bool{false, true} { // the second start finds a mistake
		if spoil {
			ruletest.Edit(t, dir, "models.yaml", "mode: provider", "mode: provder")
		}
		rules, err := live.Open(provider.Loader(), ruletest.Source(t, dir), state, r.Logger, r.Metrics)
		ruletest.Must(t, err)
		r.Rules.Rules = rules
	}
	if a := r.Ask(http.MethodGet, "/readyz", ""); a.Status != 200 ||
		!strings.Contains(a.Body, "did not load at start") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
