package run

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// What the shipped rules let a run do at a gateway. Nobody can be asked.
func TestShippedPolicy(t *testing.T) {
	g := guard.New(guard.Config{Now: time.Now, Metrics: telemetry.New(), Log: slog.New(slog.DiscardHandler)})
	set := ruletest.Shipped(t, gatewaySection())
	run := g.Run(set, policy.Subject{Model: "executor", Run: true, Interactive: true}, "run")
	for _, c := range []struct {
		tool, args string
		passes     bool
	}{
		{"web_search", `{"query":"news"}`, true},
		{"web_fetch", `{"url":"https://example.com/a"}`, true},
		{"web_fetch", `{"url":"http://127.0.0.1:18789/"}`, false},
		{"web_fetch", `{"url":"http://169.254.169.254/"}`, false},
		{"browser", `{"action":"navigate","targetUrl":"https://example.com/"}`, true},
		{"browser", `{"action":"navigate","targetUrl":"http://10.0.0.1/"}`, false},
		{"canvas", `{"action":"present","url":"http://10.0.0.1/"}`, false},
		{"memory_search", `{"query":"x"}`, true},
		{"memory_get", `{"path":"memory/a.md"}`, true},
		{"memory_get", `{"path":"/etc/shadow"}`, false},
		{"sessions_list", `{}`, true},
		{"sessions_search", `{"query":"x"}`, true},
		{"session_status", `{}`, true},
		{"agents_list", `{}`, true},
		{"nodes", `{"action":"status"}`, true},
		{"nodes", `{"action":"camera_snap"}`, false},
		{"message", `{"action":"send","target":"+1","message":"hi"}`, false},
		{"message", `{"action":"send","dryRun":true}`, true},
		{"sessions_send", `{"message":"hi"}`, false},
		{"sessions_spawn", `{"task":"x"}`, false},
	} {
		call := tools.Call{Name: c.tool, Arguments: json.RawMessage(c.args), Strategy: "native",
			Confidence: 1}
		if _, refusal := run.Check(t.Context(), call, guard.Observer{},
			func(approvals.Entry) {}); (refusal == nil) != c.passes {
			t.Errorf("%s %s: %+v", c.tool, c.args, refusal)
		}
	}
	for _, tool := range *ruleset.Of[gatewayTools](set) {
		if want := map[string]tools.Class{
			"web_search": tools.Read, "web_fetch": tools.Read, "memory_search": tools.Read,
			"memory_get": tools.Read, "sessions_list": tools.Read,
			"sessions_search": tools.Read, "sessions_history": tools.Read, "session_status": tools.Read,
			"agents_list": tools.Read,
		}[tool.Name]; want != "" && set.Tools.Class(tool.Name) != want || want == "" &&
			set.Tools.Class(tool.Name) != tools.Write {
			t.Errorf("%s counts as %s", tool.Name, set.Tools.Class(tool.Name))
		}
	}
}
