package check

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup"
)

// tool is a program of Prometheus, if it is on this machine.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine; Debian has it in the package prometheus", name)
	}
	return path
}

// Prometheus' own program reads the rules and the config, and each alert fires when it should.
func TestPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "rules.yaml"}, {"test", "rules", "rules_test.yaml"},
	} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = "../prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// always are panels that show something whatever happens; the others may wait for what they show.
var always = []string{
	"Answered", "Begun within 10 s", "Instances", "Rules on disk load", "Servers left alone",
	"Requests by status", "Open streams",
	"Seconds until the model server begins", "Seconds of a whole request", "Tokens by kind",
	"Calls by strategy", "Repairs of calls by kind",
	"Decision log", "Requests by server and outcome", "Instances by version in force", "Files in force",
	"Processor", "Resident memory",
	"Seconds of a request to a server, nine of ten", "Requests to a server by fault",
	"Tokens of a request, the mean", "Goroutines", "Open files", "Heap", "Up for",
	"Age of the rules in force", "Rules with a part in replies",
}

// A real Prometheus takes the page of a real sidecar, and answers each query of the rules and of the
// dashboard. What it knows of tokens is what the sidecar has counted.
func TestPrometheus(t *testing.T) {
	prometheus := tool(t, "prometheus")
	at, dir := testkit.Address(t), t.TempDir()
	sidecar := exec.Command(built(t), "serve", "--listen", at, "--upstream", model(t), "--state",
		filepath.Join(dir, "state"))
	sidecar.Dir, sidecar.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	start(t, sidecar)
	eventually(t, "the sidecar serves", func() bool { return get(t, "http://"+at+"/healthz") != "" })

	config := strings.NewReplacer("sidecar:8001", at, "15s",
		"1s").Replace(string(read(t, "../prometheus/prometheus.yml")))
	for name, text := range map[string]string{"prometheus.yml": config,
		"rules.yaml": string(read(t, "../prometheus/rules.yaml"))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	prom := testkit.Address(t)
	start(t, exec.Command(prometheus, "--config.file="+dir+"/prometheus.yml",
		"--storage.tsdb.path="+dir+"/tsdb", "--web.listen-address="+prom))
	ask := func(expr string) answer { return query(t, prom, expr) }
	eventually(t, "Prometheus has asked the sidecar",
		func() bool { return len(ask(`up{job="gpt-oss-executor"} == 1`).Data.Result) == 1 })
	talk := func() {
		for _, say := range []string{"hello", "trailing-comma", "leaked-harmony", "name-prefix-case"} {
			if status, text := chat(t, at, "", say); status != 200 {
				t.Fatalf("%s: %d %s", say, status, text)
			}
		}
	}
	talk()
	eventually(t, "Prometheus knows the tokens",
		func() bool { return len(ask(`gptoss_executor_tokens_total`).Data.Result) == 3 })
	talk() // a second sample that is another one
	all := expressions(t)
	shown := map[string]bool{}
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(always), func(title string) bool { return shown[title] })
	}
	defer func() {
		if list := missing(); len(list) > 0 {
			t.Errorf("these panels show nothing: %q", list)
		}
	}()
	eventually(t, "the panels show something", func() bool {
		for _, e := range all {
			a := ask(e.text)
			if a.Status != "success" {
				t.Fatalf("%s: %s\n%s", e.where, a.Error, e.text)
			}
			if title, board := strings.CutPrefix(e.where, "dashboard: "); board && len(a.Data.Result) > 0 {
				shown[title] = true
			}
		}
		return len(missing()) == 0
	})
	for _, a := range ask(`ALERTS{alertstate="firing"}`).Data.Result {
		t.Errorf("it is well, and there is an alert: %v", a.Metric)
	}

	client, counted := httpClient(t), 0.0
	now, err := setup.FromServer(t.Context(), client, at, 0, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "Prometheus and the sidecar agree about tokens", func() bool {
		u, err := setup.FromPrometheus(t.Context(), client, prom, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if u.Hours > .1 {
			t.Fatalf("Prometheus has run for seconds, and tells of %g hours: %s", u.Hours, u.From)
		}
		counted = u.All().Prompt
		return counted > 0
	})
	// The first sample of a series is no increase, so half of what was said here is missing; and Prometheus
	// guesses what came before the first sample and after the last, which in seconds is much, and in a month
	// nothing.
	if total := now.All().Prompt; counted > total*3 {
		t.Errorf("Prometheus tells of %g tokens, the sidecar of %g", counted, total)
	}
}

// answer is one of Prometheus.
type answer struct {
	Status, Error string
	Data          struct {
		Result []struct {
			Metric map[string]string
		}
	}
}

func query(t *testing.T, at, expr string) (a answer) {
	t.Helper()
	text := get(t, "http://"+at+"/api/v1/query?query="+url.QueryEscape(expr))
	if text == "" || strings.HasPrefix(text, "Service Unavailable") {
		return a // it has not started yet
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		a.Error = fmt.Sprint(err, " ", text)
	}
	return a
}
