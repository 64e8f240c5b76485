package experiment

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
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
	s := l.Assign(set, "r", Asking{Session: "s"})
	if s == nil || !s.Listens() || s.Arms() != "" {
		t.Fatalf("%+v", s)
	}
	for range 3 {
		l.shadows <- job{trial: s.places[0].of} // without rules it crashes
	}
	s.Replied(&turn.Reply{Set: set, Reading: &parse.Reading{}})
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
	s := l.Assign(set, "r", Asking{Session: "s"})
	body := []byte(`{"type":"object"}`)
	for range 3 * maxJobs {
		s.Replied(&turn.Reply{Set: set, Reading: &parse.Reading{},
			Whole: parse.Delta{Content: strings.Repeat("x", 900<<10)},
			Tools: []tools.Tool{{Name: "read", Parameters: body}}})
	}
	if n := len(l.shadows); n != 4 || l.waits.Load() > maxWaits {
		t.Errorf("%d replies wait, %d bytes", n, l.waits.Load())
	}
	copy(body, `{"type":"string"}`)
	if j := <-l.shadows; string(j.reply.Tools[0].Parameters) != `{"type":"object"}` {
		t.Errorf("it holds what another request may get: %s", j.reply.Tools[0].Parameters)
	}
	small := l.Assign(set, "q", Asking{Session: "s"})
	for range 3 * maxJobs {
		small.Replied(&turn.Reply{Set: set, Reading: &parse.Reading{}})
	}
	if n := len(l.shadows); n != maxJobs {
		t.Errorf("%d replies wait", n)
	}
}

// A shadow that loops for ever is left behind and ends its experiment; others go on until too many
// loop. Nobody waits for them, not even at the end.
func TestShadowStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, c := rules(t, "    shadow: true\n"), &clock{time.Now()}
		for _, id := range []string{"two", "three"} {
			e := Of(set).List[0]
			e.ID = id
			Of(set).List = append(Of(set).List, e)
		}
		var log bytes.Buffer
		l := open(t, "", c)
		l.Log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { l.Shadows(ctx); close(ended) }()
		loops := make(chan struct{})
		endless := parse.Facts{Judge: func(*tools.Call) *tools.Refusal { <-loops; return nil }}
		said := parse.Delta{Calls: []parse.CallDelta{{Name: "read", Arguments: []byte(`{"path":"a"}`)}}}
		read := func(facts parse.Facts) {
			s := l.Assign(set, "r", Asking{Session: "s"})
			s.Replied(&turn.Reply{Set: set, Reading: &parse.Reading{}, Whole: said, Finish: "tool_calls",
				Facts: facts, Tools: []tools.Tool{{Name: "read"}}})
			time.Sleep(5 * time.Minute)
		}
		read(parse.Facts{})
		read(endless) // the experiments one and two are stuck, and three is not asked any more
		shadows := l.Reports(set)
		for i, why := range []string{"the shadow of one/new did not end reading a reply within 10s",
			"the shadow of two/new did not end reading a reply within 10s", ""} {
			if shadows[i].Why != why || shadows[i].Shadow.Read != 1 {
				t.Errorf("%+v", shadows[i])
			}
		}
		read(parse.Facts{})
		if r := l.Reports(set)[2]; r.Shadow.Read != 1 || strings.Count(log.String(), "shadow_stuck") != 2 ||
			l.waits.Load() == 0 {
			t.Errorf("%+v, %d bytes wait\n%s", r.Shadow, l.waits.Load(), log.String())
		}
		close(loops) // they end after all: three goes on
		synctest.Wait()
		read(parse.Facts{})
		if r := l.Reports(set)[2]; r.Shadow.Read != 2 || l.waits.Load() != 0 {
			t.Errorf("%+v, %d bytes wait", r.Shadow, l.waits.Load())
		}
		s := l.Assign(set, "r", Asking{Session: "s"})
		again := make(chan struct{})
		s.Replied(&turn.Reply{Set: set, Reading: &parse.Reading{}, Whole: said,
			Facts: parse.Facts{Judge: func(*tools.Call) *tools.Refusal { <-again; return nil }},
			Tools: []tools.Tool{{Name: "read"}}})
		synctest.Wait()
		stop() // while it loops
		time.Sleep(2 * time.Second)
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("stopping waits for a shadow that loops")
		}
		close(again)
	})
}
