package trace_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/trace"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// A server sends what it did to the collector that its environment names, the last of it when it stops.
func TestSendsToCollector(t *testing.T) {
	to := trace.StartCollector(t)
	t.Run("serve", func(t *testing.T) {
		s := stage.OpenIn(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_SERVICE_NAME=mine"}, nil,
			stage.Model(map[string]script.Reply{"list": script.Native("exec", `{"command":"ls"}`)}))
		if s.Log.Count("telemetry_on") != 1 {
			t.Error("the log does not say so")
		}
		if body := s.Ask("s1", "list", true); !strings.Contains(body, "tool_calls") {
			t.Error(body)
		}
	})
	names := map[string]int{}
	for _, s := range to.Spans() {
		names[s.Name]++
	}
	if names["POST /v1/chat/completions"] != 1 || names["turn gpt-oss"] != 1 || len(names) != 3 {
		t.Errorf("%v", names)
	}
	if of := trace.Attributes(to.Traces()[0].ResourceSpans[0].Resource.Attributes); of["service.name"] != "mine" {
		t.Errorf("%v", of)
	}
	m := to.Metrics()["gen_ai.client.operation.duration"]
	if m == nil || m.GetHistogram().DataPoints[0].Count != 1 {
		t.Errorf("%v", m)
	}
}

// A variable that is wrong keeps nobody from being served, and the log says what to change.
func TestWrongVariable(t *testing.T) {
	s := stage.OpenIn(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, nil, stage.Model(nil))
	if body := s.Ask("s1", "hi", false); !strings.Contains(body, "Nothing to do.") {
		t.Error(body)
	}
	if lines := s.Log.Lines("telemetry_off"); len(lines) != 1 ||
		!strings.Contains(lines[0], "OTEL_EXPORTER_OTLP_PROTOCOL=grpc") ||
		!strings.Contains(lines[0], "4318") {
		t.Errorf("%q", lines)
	}
}

// Profiles stand where tools expect them, for who may do everything: behind the token if there is one,
// and not for others who have one.
func TestPprofIsGuarded(t *testing.T) {
	get := func(s *stage.Server, token string) int {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet,
			s.Console+"/debug/pprof/heap", nil)
		ruletest.Must(t, err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := s.HTTP.Do(req)
		ruletest.Must(t, err)
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	open, guarded := stage.Open(t, nil, stage.Model(nil)), stage.Open(t, stage.Tokens, stage.Model(nil))
	for _, c := range []struct {
		s     *stage.Server
		token string
		want  int
	}{{open, "", 200}, {guarded, "", 401}, {guarded, "wrong", 401}, {guarded, stage.Reader, 403},
		{guarded, stage.Approver, 403}, {guarded, stage.Admin, 200}} {
		if got := get(c.s, c.token); got != c.want {
			t.Errorf("%q: %d, not %d", c.token, got, c.want)
		}
	}
}

// A collector that never answers does not hold up the end of a server.
func TestCollectorHangs(t *testing.T) {
	hangs := make(chan struct{})
	t.Run("serve", func(t *testing.T) {
		never := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
		t.Cleanup(func() { close(hangs); never.Close() })
		s := stage.OpenIn(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + never.URL}, nil, stage.Model(nil))
		if body := s.Ask("s1", "hi", false); !strings.Contains(body, "Nothing to do.") {
			t.Error(body)
		}
	})
}
