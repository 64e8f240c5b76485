package lab

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A shadow that crashes, and one that never gets its turn, hold nobody up.
func TestShadowCrash(t *testing.T) {
	set, c := rules(t, "    shadow: true\n"), &clock{time.Now()}
	var log bytes.Buffer
	l := open(t, "", c)
	l.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := l.Seat(set, "r", experiment.Asking{Session: "s"})
	if s == nil || !s.Listens() || s.Arms() != "" {
		t.Fatalf("%+v", s)
	}
	for range 3 {
		l.shadows <- job{trial: s.places[0].of} // without rules it crashes
	}
	s.Heard(&turn.Heard{Set: set, Reading: &parse.Reading{}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { l.Shadows(ctx); close(ended) }()
	ruletest.Soon(t, "the next one reads", func() bool { return l.Reports(set)[0].Shadow.Read == 1 })
	stop()
	<-ended
	if strings.Count(log.String(), "shadow_crashed") != 1 || l.waits.Load() != 0 {
		t.Errorf("%d bytes wait\n%s", l.waits.Load(), log.String())
	}
}

// What waits for a shadow is bounded, however large replies are, and holds nothing of the request.
func TestShadowWaits(t *testing.T) {
	set, c := rules(t, "    shadow: true\n"), &clock{time.Now()}
	l := open(t, "", c)
	s := l.Seat(set, "r", experiment.Asking{Session: "s"})
	body := []byte(`{"type":"object"}`)
	for range 3 * maxJobs {
		s.Heard(&turn.Heard{Set: set, Reading: &parse.Reading{}, Said: parse.Delta{Content: strings.Repeat("x", 900<<10)}, Tools: []tools.Tool{{Name: "read", Parameters: body}}})
	}
	if n := len(l.shadows); n != 4 || l.waits.Load() > maxWaits {
		t.Errorf("%d replies wait, %d bytes", n, l.waits.Load())
	}
	copy(body, `{"type":"string"}`)
	if j := <-l.shadows; string(j.heard.Tools[0].Parameters) != `{"type":"object"}` {
		t.Errorf("it holds what another request may get: %s", j.heard.Tools[0].Parameters)
	}
	small := l.Seat(set, "q", experiment.Asking{Session: "s"})
	for range 3 * maxJobs {
		small.Heard(&turn.Heard{Set: set, Reading: &parse.Reading{}})
	}
	if n := len(l.shadows); n != maxJobs {
		t.Errorf("%d replies wait", n)
	}
}
