package console

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What turns came to is counted by class and server, kept over a restart, and forgotten after a month.
func TestCounter(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), tallyFile), time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	metrics := telemetry.New()
	open := func() *Counter {
		c, err := newCounter(path, metrics, true, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	ended := func(a turn.Account, status int, replies ...parse.Reading) {
		w := c.Watch(t.Context(), nil)
		for i := range replies {
			w.Replied(&turn.Reply{Server: "vllm", Reading: &replies[i]})
			now = now.Add(time.Second)
		}
		w.Ended(&turn.Outcome{Account: a, Took: time.Second, Status: status})
	}
	mended := tools.Call{Strategy: "react", Repairs: []tools.Repair{{Kind: "json.comma"}, {Kind: "json.quote"}}}
	ended(turn.Account{}, http.StatusOK, parse.Reading{Calls: []tools.Call{{Strategy: "native"}}})
	ended(turn.Account{}, http.StatusOK, parse.Reading{Calls: []tools.Call{mended}})
	empty := turn.Account{Again: 1, Faults: []turn.FaultRecord{{Fault: ruleset.Empty}}}
	ended(empty, http.StatusOK, parse.Reading{}, parse.Reading{})
	ended(turn.Account{}, http.StatusOK, parse.Reading{Refused: []tools.Refusal{{Code: tools.Denied}}})
	ended(turn.Account{}, http.StatusBadGateway)
	check := func(all int) {
		t.Helper()
		sum, err := c.Since(now.Add(-7 * 24 * time.Hour))
		if err != nil || sum.All() != all {
			t.Fatalf("%+v: %v", sum, err)
		}
		if all == 0 {
			return
		}
		for class, outcome := range map[string]Outcome{"json": Repaired, "call": Repaired, "empty": Again} {
			if sum.Damage["vllm"][class][outcome] != 1 {
				t.Errorf("%s: %+v", class, sum.Damage)
			}
		}
		if sum.Turns[Good] != 1 || sum.Turns[Failed] != 1 || sum.Denied != 1 || sum.Again != 2*time.Second ||
			sum.Took != 5*time.Second {
			t.Errorf("%+v", sum)
		}
	}
	check(5)
	rec := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	page := rec.Body.String()
	for _, want := range []string{`turns_total{outcome="repaired"} 1`, `turns_total{outcome="denied"} 1`, `again_seconds_total 2`,
		`damaged_turns_total{damage="json",outcome="repaired",server="vllm"} 1`} {
		if !strings.Contains(page, "gptoss_executor_"+want+"\n") {
			t.Errorf("the metrics lack %s: %s", want, page)
		}
	}
	c = open()
	check(5)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"to":"2026-1`) // a program that was killed
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	check(5)
	now = now.Add(40 * 24 * time.Hour)
	c = open()
	check(0)
	if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
		t.Errorf("kept: %s %v", text, err)
	}
}
