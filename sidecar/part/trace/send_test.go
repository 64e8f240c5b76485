package trace

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	wire "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines is a log that many write.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// count is how many lines have a text.
func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.String(), text)
}

// sending begins to send to a collector, with more variables.
func sending(t *testing.T, to string, environ ...string) (*Sender, *telemetry.Metrics, *lines) {
	t.Helper()
	settings, err := Read(append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to}, environ...))
	if err != nil {
		t.Fatal(err)
	}
	log, m := &lines{}, telemetry.New()
	s, err := Open(Config{Settings: settings, Metrics: m, Version: "v1.2.3",
		Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return s, m, log
}

// span ends one, and has the queue emptied.
func span(t *testing.T, s *Sender, name string) {
	t.Helper()
	_, one := s.traces.Tracer(telemetry.TracerName).Start(context.Background(), name,
		trace.WithSpanKind(trace.SpanKindClient))
	one.End()
	if err := s.traces.ForceFlush(context.Background()); err != nil {
		t.Error(err)
	}
}

func value(t *testing.T, m *telemetry.Metrics, outcome string) (n float64) {
	t.Helper()
	for _, f := range m.Gather(0) {
		for _, p := range f.Points {
			if f.Name == "gptoss_executor_spans_total" && p.Values[0] == outcome {
				n = p.Value
			}
		}
	}
	return n
}

// Spans and metrics come with what describes the program, the headers that were set, and packed.
func TestSends(t *testing.T) {
	to := StartCollector(t)
	s, m, log := sending(t, to.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_RESOURCE_ATTRIBUTES=host.name=box",
		"OTEL_METRIC_EXPORT_INTERVAL=20")
	m.Requests.WithLabelValues("gpt-oss", "200").Inc()
	span(t, s, "one")
	if list := to.Spans(); len(list) != 1 || list[0].Name != "one" ||
		list[0].Kind.String() != "SPAN_KIND_CLIENT" {
		t.Errorf("%v", list)
	}
	to.Wait(func() bool { return to.Metrics()["gptoss_executor.requests"] != nil })
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	of := to.Traces()[0].ResourceSpans[0]
	r := Attributes(of.Resource.Attributes)
	if r["service.name"] != program || r["service.version"] != "v1.2.3" || r["host.name"] != "box" ||
		of.ScopeSpans[0].Scope.Name != telemetry.TracerName ||
		!strings.HasPrefix(of.SchemaUrl, "https://opentelemetry.io/schemas/") {
		t.Errorf("%v %v", r, of)
	}
	if to.Header("x-key") != "a b" || to.Header("content-encoding") != "gzip" {
		t.Error("headers are lost")
	}
	p := to.Metrics()["gptoss_executor.requests"].GetSum().DataPoints[0]
	if p.GetAsDouble() != 1 || Attributes(p.Attributes)["model"] != "gpt-oss" ||
		p.StartTimeUnixNano == 0 || p.TimeUnixNano < p.StartTimeUnixNano {
		t.Errorf("%v", p)
	}
	if log.Len() > 0 {
		t.Errorf("%s", log)
	}
	if value(t, m, "ended") != 1 || value(t, m, "sent") != 1 {
		t.Error("the spans are not counted")
	}
}

// A collector that is killed and comes back: one line says that data is lost, one that it is taken
// again; what came while it was off is lost, and nobody waited for it.
func TestKilledAndBack(t *testing.T) {
	to := StartCollector(t)
	s, m, log := sending(t, to.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=50", "OTEL_METRICS_EXPORTER=none")
	span(t, s, "before")
	to.Stop()
	for range 3 {
		span(t, s, "lost")
	}
	if log.count("event=telemetry_lost") != 1 {
		t.Errorf("%s", log)
	}
	to.Again()
	span(t, s, "after")
	if log.count("event=telemetry_back") != 1 || log.count("lost=3") != 1 {
		t.Errorf("%s", log)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	var names []string
	for _, one := range to.Spans() {
		names = append(names, one.Name)
	}
	if got := strings.Join(names, " "); got != "before after" {
		t.Errorf("%s", got)
	}
	if value(t, m, "ended") != 5 || value(t, m, "sent") != 2 || value(t, m, "lost") != 3 {
		t.Errorf("ended %v, sent %v, lost %v", value(t, m, "ended"), value(t, m, "sent"), value(t, m, "lost"))
	}
}

// A collector that asks for patience gets the same once more; one that refuses does not.
func TestAsksForPatience(t *testing.T) {
	to := StartCollector(t)
	s, _, log := sending(t, to.URL, "OTEL_METRICS_EXPORTER=none")
	to.Answer(503)
	_, one := s.traces.Tracer(telemetry.TracerName).Start(context.Background(), "patient")
	one.End()
	flushed := make(chan error)
	go func() { flushed <- s.traces.ForceFlush(context.Background()) }()
	ruletest.Soon(t, "it is asked", func() bool { return to.Requests() > 0 })
	to.Answer(0)
	if err := <-flushed; err != nil || len(to.Spans()) != 1 {
		t.Errorf("%v, %d spans", err, len(to.Spans()))
	}
	to.Answer(401)
	asked := to.Requests()
	span(t, s, "refused")
	if to.Requests() != asked+1 || log.count("the collector answers 401") != 1 {
		t.Errorf("%d requests, %s", to.Requests()-asked, log)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// Data is taken where the status says so. Only an answer in protobuf can say that a part of it was not.
// A redirect is not followed, and the log has neither the answer nor the address, which may hold keys.
func TestAnswers(t *testing.T) {
	rejects, err := proto.Marshal(&wire.ExportTraceServiceResponse{PartialSuccess: &wire.ExportTracePartialSuccess{RejectedSpans: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, kind, body string
		status           int
		lost             float64
		detail           string
		asked            int
	}{
		{"a connection that breaks, and then text", "text/plain", "OK", 0, 0, "", 2},
		{"text", "text/plain", "OK", 200, 0, "", 1},
		{"JSON", "application/json", `{"partialSuccess":{}}`, 202, 0, "", 1},
		{"no kind", "", string(rejects), 200, 0, "", 1},
		{"half of an answer", "application/x-protobuf", string(rejects[:len(rejects)-1]), 200, 0, "", 1},
		{"a rejection", "application/x-protobuf; charset=x", string(rejects), 200, 1, "the collector refuses some: ", 1},
		{"a redirect", "text/plain", "/elsewhere", 307, 1, "the collector answers 307 Temporary Redirect", 1},
		{"a key", "text/plain", "hunter2 is no key", 401, 1, "the collector answers 401 Unauthorized", 1},
		{"a key, at last", "text/plain", "hunter2 is no key", 503, 1, "the collector answers 503 Service Unavailable", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked++; c.status == 0 {
					if asked == 1 {
						panic(http.ErrAbortHandler)
					}
					c.status = http.StatusOK
				}
				user, password, _ := r.BasicAuth()
				if r.URL.RequestURI() != "/v1/traces?tenant=a" || user != "bob" || password != "hunter2" {
					t.Errorf("it asks for %s as %s", r.URL, user)
				}
				w.Header()["Content-Type"] = []string{c.kind}
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Retry-After", "3600") // longer than the time of a delivery
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer to.Close()
			s, m, log := sending(t, strings.Replace(to.URL, "http://", "http://bob:hunter2@", 1)+"?tenant=a",
				"OTEL_METRICS_EXPORTER=none", "OTEL_EXPORTER_OTLP_TIMEOUT=60000")
			span(t, s, "one")
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if lost, said := value(t, m, "lost"), log.count("event=telemetry_lost"); lost != c.lost ||
				said != int(c.lost) || log.count(c.detail) == 0 || asked != c.asked {
				t.Errorf("%g lost, asked %d times, %s", lost, asked, log)
			}
			if log.count("hunter2") > 0 {
				t.Errorf("the log has a key: %s", log)
			}
		})
	}
}

// The end of the program does not wait for a collector that hangs longer than it may.
func TestEndIsInTime(t *testing.T) {
	for _, status := range []int{503, 0} {
		to := StartCollector(t)
		s, _, _ := sending(t, to.URL)
		to.Answer(status)
		if status == 0 {
			to.Stop()
		}
		_, one := s.traces.Tracer(telemetry.TracerName).Start(context.Background(), "last")
		one.End()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil || ctx.Err() != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// More spans than the queue holds are lost, and whoever ends them goes on.
func TestQueueHasAnEnd(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
	to := StartCollector(t)
	s, m, _ := sending(t, to.URL, "OTEL_METRICS_EXPORTER=none", "OTEL_EXPORTER_OTLP_TIMEOUT=100")
	to.Answer(503)
	for range 2000 {
		_, one := s.traces.Tracer(telemetry.TracerName).Start(context.Background(), "many")
		one.End()
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if ended, lost := value(t, m, "ended"), value(t, m, "lost"); ended != 2000 || lost == 0 || lost > 100 {
		t.Errorf("%v ended, %v lost after they were queued", ended, lost)
	}
}

// What is wrong with certificates is said, and nothing is left behind.
func TestOpenWrong(t *testing.T) {
	settings, err := Read([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://127.0.0.1:1",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/does/not/exist"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Open(Config{Settings: settings, Metrics: telemetry.New(),
		Log: slog.New(slog.DiscardHandler)}); s != nil || err == nil ||
		!strings.Contains(err.Error(), "read the certificate of the collector") {
		t.Errorf("%v %v", s, err)
	}
	if s, err := Open(Config{}); s != nil || err != nil || s.Tracer() != nil ||
		s.Close(context.Background()) != nil {
		t.Errorf("without a collector: %v %v", s, err)
	}
}
