package telemetry

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func served(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// What is counted is served with its labels; buckets count all below them; what a caller made
// up cannot break the format.
func TestServed(t *testing.T) {
	m := New()
	m.Requests.WithLabelValues("gpt", "200").Inc()
	m.Requests.WithLabelValues("gpt", "200").Inc()
	m.Requests.WithLabelValues("a\"b\\c\nd\xff", "404").Inc()
	m.Open.Inc()
	m.Open.Inc()
	m.Open.Dec()
	Observe(m.Whole.WithLabelValues("true"), .02, Place{})
	Observe(m.Whole.WithLabelValues("true"), 1000, Place{})
	Observe(m.First, .01, Place{})
	m.InForce("1", map[string]string{"exec.yaml": "abc"}, true)
	m.InForce("2", map[string]string{"exec.yaml": "def"}, false)
	m.DecisionLog(func() float64 { return 7 }, func() float64 { return 0 }, func() float64 { return 0 },
		func() float64 { return .5 })
	text := served(m)
	for _, want := range []string{
		"# HELP gptoss_executor_requests_total Chat completion requests by model id and HTTP status.\n# TYPE gptoss_executor_requests_total counter\n",
		`gptoss_executor_requests_total{model="gpt",status="200"} 2`,
		`gptoss_executor_requests_total{model="a\"b\\c\nd` + "\ufffd" + `",status="404"} 1`,
		`gptoss_executor_open_streams 1`,
		`gptoss_executor_request_seconds_bucket{stream="true",le="0.01"} 0`,
		`gptoss_executor_request_seconds_bucket{stream="true",le="0.03"} 1`,
		`gptoss_executor_request_seconds_bucket{stream="true",le="300"} 1`,
		`gptoss_executor_request_seconds_bucket{stream="true",le="+Inf"} 2`,
		`gptoss_executor_request_seconds_sum{stream="true"} 1000.02`,
		`gptoss_executor_request_seconds_count{stream="true"} 2`,
		`gptoss_executor_upstream_first_seconds_bucket{le="0.01"} 1`,
		`gptoss_executor_rules_info{version="2"} 1`,
		`gptoss_executor_rules_file_info{file="exec.yaml",sha256="def"} 1`,
		`gptoss_executor_rules_last_reload_successful 0`,
		`gptoss_executor_decisions_written_total 7`,
		`gptoss_executor_decisions_head_seconds 0.5`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{`version="1"`, "calls_total"} {
		if strings.Contains(text, not) {
			t.Errorf("%s is there", not)
		}
	}
	form := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_0-9]+ \S.*|[a-z_0-9]+(\{([a-z_0-9]+="([^"\\]|\\.)*",?)+\})? [-+0-9.eE]+)$`)
	for line := range strings.Lines(text) {
		if !form.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("bad line: %q", line)
		}
	}
}
