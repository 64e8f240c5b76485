package cli

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// What a server has counted is told with prices of the user's, and with no others.
func TestCost(t *testing.T) {
	m := telemetry.New()
	m.Tokens.WithLabelValues("gpt-oss", "prompt").Add(3e6)
	m.Tokens.WithLabelValues("gpt-oss", "completion").Add(1e6)
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	prices := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(prices,
		[]byte("currency: EUR\nmodels:\n  - {name: there, prompt: 1, completion: 2, source: 'a page, today'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (code int, out, errs string) {
		var o, e bytes.Buffer
		code = Run(append([]string{"cost"}, args...),
			Env{Parts: Parts, Out: &o, Err: &e,
				Environ: []string{"GPTOSS_EXECUTOR_LISTEN=" + strings.TrimPrefix(server.URL,
					"http://")}})
		return code, o.String(), e.String()
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, "cost: not known"},
		{"--per-hour 2 --hours 10 --currency EUR", 0, "all of it                   20.00"},
		{"--per-hour 2 --hours 10", 0, "any tokens                   5.00"},
		{"--per-hour 2 --hours 10 --weight 5", 0, "completion tokens           12.50"},
		{"--hosted " + prices, 0, "there                        5.00"},
		{"--hosted " + prices + " --per-hour 1 --hours 10 --currency EUR", 0, "0.5 times your own"},
		{"--hosted " + prices + " --per-hour 1 --currency USD", 1, "one currency"},
		{"--hosted ../../deploy/prices.yaml", 1, "prices.yaml:7:"},
		{"--over -5s", 1, "--over"},
		{"--watts 100", 1, "--per-kwh"},
		{"--prometheus http://127.0.0.1:1", 1, "--over"},
		{"--at ftp://x", 1, "no address of a server"},
		{"--per-hour dear", 2, "per-hour"},
	} {
		code, out, errs := run(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("cost %s: exit code %d\n%s%s", c.args, code, out, errs)
		}
	}
	_, out, _ := run("--json", "--per-hour", "2", "--hours", "10")
	if !gjson.Valid(out) || gjson.Get(out, "total.value").Num != 20 ||
		gjson.Get(out, "models.0.prompt").Num != 3e6 || gjson.Get(out, "hosted.#").Num != 0 {
		t.Errorf("as JSON:\n%s", out)
	}
}
