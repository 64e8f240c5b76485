package telemetry

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Whoever asks for OpenMetrics gets exemplars, each family once, and a mark at the end.
func TestOpenMetrics(t *testing.T) {
	m := New()
	kept := Place{Trace: "4bf92f3577b34da6a3ce929d0e0e4736", Span: "00f067aa0ba902b7", Kept: true}
	m.Requests.WithLabelValues("gpt", "200").Inc()
	Observe(m.Whole.WithLabelValues("true"), .02, kept)
	Observe(m.Whole.WithLabelValues("true"), 1000, kept)
	Observe(m.Whole.WithLabelValues("true"), .2, Place{Trace: "dropped"})
	m.DecisionLog(func() float64 { return 7 }, func() float64 { return 0 }, func() float64 { return 0 },
		func() float64 { return .5 })
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5")
	m.Handler().ServeHTTP(w, r)
	text := w.Body.String()
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/openmetrics-text; version=1.0.0") ||
		!strings.HasSuffix(text, "\n# EOF\n") {
		t.Errorf("%s … %q", w.Header().Get("Content-Type"), text[len(text)-20:])
	}
	// in any order
	text = strings.ReplaceAll(text,
		`{span_id="00f067aa0ba902b7",trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`, `{example}`)
	text = strings.ReplaceAll(text,
		`{trace_id="4bf92f3577b34da6a3ce929d0e0e4736",span_id="00f067aa0ba902b7"}`, `{example}`)
	for _, want := range []string{
		"# TYPE gptoss_executor_requests counter\n" +
			`gptoss_executor_requests_total{model="gpt",status="200"} 1.0` + "\n",
		`gptoss_executor_request_seconds_bucket{stream="true",le="0.03"} 1 # {example} 0.02 `,
		`gptoss_executor_request_seconds_bucket{stream="true",le="1.0"} 2` + "\n",
		`gptoss_executor_request_seconds_bucket{stream="true",le="+Inf"} 3 # {example} 1000.0 `,
		"# TYPE go_memstats_alloc_bytes_total unknown\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	families := map[string]bool{}
	for _, f := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text, -1) {
		if families[f[1]] {
			t.Errorf("%s stands twice", f[1])
		}
		families[f[1]] = true
	}
	if strings.Contains(served(m), "trace_id") {
		t.Error("the old format has exemplars")
	}
}

// The metrics that the conventions name: of a stream all, of an error none that it has no value for.
func TestInferred(t *testing.T) {
	m := New()
	m.CountInference(&Inference{Model: "gpt-oss", Arms: []string{"e/a"}, Upstream: "main", Provider: "vllm",
		Asked: "openai/gpt-oss-20b", Took: 3 * time.Second, First: 30 * time.Millisecond, Stream: true,
		Input: 100, Output: 5})
	m.CountInference(&Inference{Model: "gpt-oss", Upstream: "far", Provider: "ollama", Asked: "x", Fault: "timeout",
		Took: time.Second})
	text := served(m)
	of, by := `gen_ai_operation_name="chat",gen_ai_provider_name="vllm",gen_ai_request_model="openai/gpt-oss-20b",`, `model="gpt-oss",upstream="main"`
	for _, want := range []string{
		`gen_ai_client_operation_duration_seconds_bucket{arm="e/a",error_type="",` + of + by +
			`,le="5.12"} 1`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_count{arm="e/a",` + of + by + "} 1",
		`gen_ai_client_token_usage_sum{arm="e/a",` + of + `gen_ai_token_type="input",` + by + `} 100`,
		`gen_ai_client_token_usage_sum{arm="e/a",` + of + `gen_ai_token_type="output",` + by + `} 5`,
		`duration_seconds_count{arm="",error_type="timeout",gen_ai_operation_name="chat",gen_ai_provider_name="ollama",gen_ai_request_model="x",model="gpt-oss",upstream="far"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if regexp.MustCompile(`token_usage_sum\{.*upstream="far"`).MatchString(text) {
		t.Error("an error has tokens")
	}
}

// What servers call their models makes only so many series.
func TestModelsAreFew(t *testing.T) {
	m := New()
	for i := range 1000 {
		m.CountInference(&Inference{Model: "gpt-oss", Asked: fmt.Sprintf("model-%d", i), Took: time.Second})
	}
	m.CountInference(&Inference{Model: "gpt-oss", Asked: strings.Repeat("x", 1000), Took: time.Second})
	for _, f := range m.Gather(0) {
		if f.Name == "gen_ai_client_operation_duration_seconds" {
			if len(f.Points) != maxModels+1 {
				t.Errorf("%d series", len(f.Points))
			}
			for _, p := range f.Points {
				if asked := p.Values[slices.Index(f.Labels, "gen_ai_request_model")]; asked == otherModel &&
					p.Count != 1000-maxModels+1 {
					t.Errorf("%d others", p.Count)
				}
			}
		}
	}
}

// Exemplars are given once to whoever asks for those since the last time; buckets each have their own.
func TestGather(t *testing.T) {
	m := New()
	Observe(m.Whole.WithLabelValues("true"), .02, Place{Trace: "t", Span: "s", Kept: true})
	Observe(m.Whole.WithLabelValues("true"), .02, Place{})
	Observe(m.Whole.WithLabelValues("true"), 1e6, Place{})
	find := func(since float64) Point {
		for _, f := range m.Gather(since) {
			if f.Name == "gptoss_executor_request_seconds" {
				return f.Points[0]
			}
		}
		t.Fatal("it is not there")
		return Point{}
	}
	p := find(0)
	if p.Count != 3 || p.Buckets[1] != 2 || p.Buckets[len(p.Buckets)-1] != 1 || p.Buckets[2] != 0 ||
		len(p.Recent) != 1 || p.Recent[0].Value != .02 {
		t.Errorf("%+v", p)
	}
	if p := find(now() + 1); len(p.Recent) != 0 {
		t.Errorf("%+v", p.Recent)
	}
}
