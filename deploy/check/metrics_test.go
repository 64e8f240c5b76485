package check

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// expression is a piece of PromQL, and where it stands.
type expression struct{ where, text string }

// rules are the parts of a rule file that are looked at.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Record      string            `json:"record"`
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

func readRules(t *testing.T) (r rules) {
	t.Helper()
	if err := yaml.UnmarshalStrict(read(t, "../prometheus/rules.yaml"), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// expressions are all of the rules and of the dashboard.
func expressions(t *testing.T) (out []expression) {
	t.Helper()
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			out = append(out, expression{"rules.yaml: " + r.Record + r.Alert, r.Expr})
		}
	}
	rulesOnly := len(out)
	var doc any
	must(t, json.Unmarshal(read(t, board), &doc))
	var walk func(v any, title string)
	walk = func(v any, title string) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e, title)
			}
		case map[string]any:
			if s, ok := v["title"].(string); ok {
				title = s
			}
			if s, ok := v["expr"].(string); ok {
				out = append(out, expression{"dashboard: " + title, filled(s)})
			}
			if s, ok := v["definition"].(string); ok {
				out = append(out, expression{"dashboard: the choices of " + v["name"].(string),
					choices(t, filled(s))})
			}
			for _, e := range v {
				walk(e, title)
			}
		}
	}
	walk(doc, "")
	if rulesOnly < 15 || len(out) < rulesOnly+50 {
		t.Fatalf("%d expressions of rules, %d with the dashboard: they are not found", rulesOnly, len(out))
	}
	return out
}

// filled puts values in the place of what Grafana fills in.
func filled(s string) string {
	return strings.NewReplacer("$__rate_interval", "1m", "$__interval", "1m", "$__range", "6h", "$job",
		"gpt-oss-executor", "$instance", ".*", "$model", ".*").Replace(s)
}

// choices is what a list of choices asks for, as an aggregation by its label.
func choices(t *testing.T, s string) string {
	t.Helper()
	m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("%s is no label_values(…)", s)
	}
	return "count by (" + m[2] + ") (" + m[1] + ")"
}

// known are the metrics that the sidecar has, with their labels; those of Go and of the process have none.
func known(t *testing.T) map[string][]string {
	t.Helper()
	m := telemetry.New()
	zero := func() float64 { return 0 }
	m.DecisionLog(zero, zero, zero, zero)
	m.Captured(zero, zero)
	m.States(func(say func(upstream, state string)) { say("", "") })
	m.Loads(func() telemetry.Load { return telemetry.Load{} })
	m.CountInference(&telemetry.Inference{Stream: true, First: 1, Input: 1})
	for field, value := range reflect.ValueOf(m).Elem().Fields() {
		if field.IsExported() && value.Kind() == reflect.Pointer { // a metric with labels gets a series
			v := value.Elem().FieldByName("MetricVec").Interface().(*prometheus.MetricVec)
			for n := range 9 { // all numbers of labels but one are refused
				_, _ = v.GetMetricWithLabelValues(make([]string, n)...)
			}
		}
	}
	out := map[string][]string{"up": nil}
	for _, d := range m.Gather(0) {
		if d.Kind == "histogram" {
			out[d.Name+"_bucket"] = append([]string{"le"}, d.Labels...)
			out[d.Name+"_sum"], out[d.Name+"_count"] = d.Labels, d.Labels
			continue
		}
		out[d.Name] = d.Labels
	}
	for _, name := range everyProgramHas {
		out[name] = nil
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				out[r.Record] = nil
			}
		}
	}
	return out
}

// everyProgramHas are the metrics of Go and of the process that are used. TestPrometheus sees them served.
var everyProgramHas = []string{
	"process_start_time_seconds", "process_open_fds", "process_max_fds", "process_cpu_seconds_total",
	"process_resident_memory_bytes",
	"go_goroutines", "go_memstats_heap_inuse_bytes",
}

// Every metric that a rule or a panel asks for exists, and has the labels by which it is chosen and summed.
func TestMetricsExist(t *testing.T) {
	metrics := known(t)
	for _, e := range expressions(t) {
		if err := wrong(e.text, metrics); err != "" {
			t.Errorf("%s: %s\n%s", e.where, err, e.text)
		}
	}
}

// The check itself sees what is wrong.
func TestWrongExpressions(t *testing.T) {
	metrics := map[string][]string{"a_total": {"model", "status"}, "b": nil}
	for expr, want := range map[string]string{
		`sum by (model) (rate(a_total{status="200", job="x"}[5m]))`: "",
		`a_total / on (instance) b`:                                 "",
		`rate(c_total[5m])`:                                         "there is no metric c_total",
		`sum(rate(a_total{code="200"}[5m]))`:                        "a_total has no label code",
		`sum by (code) (a_total)`:                                   "nothing in it has the label code",
		`a_total / on (colour) b`:                                   "nothing in it has the label colour",
		`rate(a_total)`:                                             "expected type range vector",
	} {
		if got := wrong(expr, metrics); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, and not %q", expr, got, want)
		}
	}
}

// scraped are the labels that Prometheus adds.
var scraped = []string{"job", "instance", "__name__"}

// wrong says what is wrong with an expression, or nothing.
func wrong(text string, metrics map[string][]string) (problem string) {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return err.Error()
	}
	labels := slices.Clone(scraped)
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		s, is := n.(*parser.VectorSelector)
		if !is {
			return nil
		}
		mine, there := metrics[s.Name]
		if !there {
			problem = "there is no metric " + s.Name
			return nil
		}
		labels = append(labels, mine...)
		for _, m := range s.LabelMatchers {
			if !slices.Contains(mine, m.Name) && !slices.Contains(scraped, m.Name) {
				problem = s.Name + " has no label " + m.Name
			}
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		var used []string
		switch n := n.(type) {
		case *parser.AggregateExpr:
			used = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				used = n.VectorMatching.MatchingLabels
			}
		}
		for _, l := range used {
			if problem == "" && !slices.Contains(labels, l) {
				problem = "nothing in it has the label " + l
			}
		}
		return nil
	})
	return problem
}

// Every metric is on the dashboard: what is counted can be seen.
func TestDashboardShowsEverything(t *testing.T) {
	doc := string(read(t, board))
	for name := range known(t) {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "gptoss_executor_") && !strings.Contains(doc, base) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
