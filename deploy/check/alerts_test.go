package check

import (
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// cases are the parts of a file for promtool that are looked at.
type cases struct {
	Tests []struct {
		Name  string `json:"name"`
		Exprs []struct {
			At      string `json:"eval_time"`
			Samples []struct {
				Labels string `json:"labels"`
			} `json:"exp_samples"`
		} `json:"promql_expr_test"`
	} `json:"tests"`
}

// Each alert has a case in which it fires, a severity, words for people, and a place in the guide that says
// what to do. The guide has no alert that there is not.
func TestAlertsAreDescribed(t *testing.T) {
	guide := string(read(t, "../../docs/deploying.md"))
	var c cases
	if err := yaml.Unmarshal(read(t, "../prometheus/rules_test.yaml"), &c); err != nil {
		t.Fatal(err)
	}
	fires, quiet := map[string]int{}, 0
	for _, test := range c.Tests {
		for _, e := range test.Exprs {
			for _, s := range e.Samples {
				// or it is a ratio
				if m := regexp.MustCompile(`alertname="(\w+)"`).FindStringSubmatch(s.Labels); m != nil {
					fires[m[1]]++
				}
			}
			if len(e.Samples) == 0 {
				quiet++
			}
		}
	}
	if quiet < 15 {
		t.Errorf("only %d cases are about silence", quiet)
	}
	described := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^### (GptossExecutor\w+)$`).FindAllStringSubmatch(guide, -1) {
		described[m[1]] = true
	}
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			if fires[r.Alert] == 0 {
				t.Errorf("%s: no case in which it fires", r.Alert)
			}
			if !described[r.Alert] {
				t.Errorf("%s: docs/deploying.md does not say what to do", r.Alert)
			}
			delete(described, r.Alert)
			if s := r.Labels["severity"]; s != "critical" && s != "warning" && s != "info" {
				t.Errorf("%s: severity %q", r.Alert, s)
			}
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" ||
				!strings.HasSuffix(r.Annotations["runbook_url"],
					"/docs/deploying.md#"+strings.ToLower(r.Alert)) {
				t.Errorf("%s: annotations %v", r.Alert, r.Annotations)
			}
		}
	}
	for name := range described {
		t.Errorf("docs/deploying.md describes %s, which is no alert", name)
	}
}
