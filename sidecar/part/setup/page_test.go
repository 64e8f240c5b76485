package setup

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// served is a real page on which tokens were counted.
func served(t testing.TB, add func(m *telemetry.Metrics)) string {
	t.Helper()
	m := telemetry.New()
	add(m)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestReadPage(t *testing.T) {
	odd := "a \"model\" }\\, with={it}\nall"
	text := served(t, func(m *telemetry.Metrics) {
		m.Tokens.WithLabelValues("gpt-oss", "prompt").Add(12345678)
		m.Tokens.WithLabelValues("gpt-oss", "completion").Add(2345)
		m.Tokens.WithLabelValues("gpt-oss", "reasoning").Add(345)
		m.Tokens.WithLabelValues(odd, "prompt").Add(7)
		m.Tokens.WithLabelValues("silent", "prompt").Add(0)
	})
	p, err := readPage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := *p.tokens["gpt-oss"]; got != (Tokens{"gpt-oss", 12345678, 2345, 345}) {
		t.Errorf("gpt-oss: %+v", got)
	}
	if p.tokens[odd] == nil || p.tokens[odd].Prompt != 7 {
		t.Errorf("the odd name: %v", p.tokens)
	}
	if n := len(p.models()); n != 2 {
		t.Errorf("%d models have tokens", n)
	}
	if p.began < 1e9 {
		t.Errorf("began at %g", p.began)
	}
}

func TestReadPageRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "no page of metrics",
		"<html>hello</html>":           "no page of metrics",
		"vllm:prompt_tokens_total 7\n": "no page of metrics",
		"gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"} many\n":     "line 1 of the metrics: \"many\"",
		"gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"} -1\n":       "line 1",
		"gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"} NaN\n":      "line 1",
		"gptoss_executor_tokens_total{model=\"a\",kind=\"prompt\"}\n":          "the number is missing",
		"\ngptoss_executor_tokens_total{model=\"a\n":                           "line 2 of the metrics: the label model has no end",
		"gptoss_executor_tokens_total{model=\"a\"\n":                           "the labels have no end",
		"gptoss_executor_open_streams 1\nprocess_start_time_seconds yesterday": "line 2",
	} {
		if _, err := readPage(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Any text is read or refused; what is read are numbers from 0 on.
func FuzzReadPage(f *testing.F) {
	f.Add(served(f, func(m *telemetry.Metrics) { m.Tokens.WithLabelValues("a\\\"b\n", "prompt").Add(1) }))
	f.Add("gptoss_executor_tokens_total{model=\"a\\")
	f.Add("gptoss_executor_tokens_total{,,a=\"\",} 1e3 17")
	f.Add("gptoss_executor_tokens_total 1 # {trace_id=\"x\"} 2")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readPage(strings.NewReader(text))
		if (p == nil) != (err != nil) {
			t.Fatal("neither a page nor an error")
		}
		if p == nil {
			return
		}
		for _, m := range p.tokens {
			if !(m.Prompt >= 0 && m.Completion >= 0 && m.Reasoning >= 0) {
				t.Errorf("%+v", m)
			}
		}
		if err := p.since(p); err != nil {
			t.Error(err)
		}
	})
}
