package sidecar

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// A session is what the gateway says of itself, else what the caller names, else the trace.
func TestSession(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	const line = `\n\nRuntime: agent=main | session=agent:main:main | channel=webchat`
	sessions := ruletest.Shipped(t).Sessions
	for name, tt := range map[string]struct {
		headers map[string]string
		user    string
		key     string
		want    string
	}{
		"nothing": {nil, "Hi.", "", ""},
		"the runtime line": {map[string]string{"session_id": "a"}, "Hi." + line, "b",
			"agent:main:main"},
		"the header": {map[string]string{"session_id": "a", "x-session-affinity": "c",
			"traceparent": parent}, "Hi.", "b", "a"},
		"the header of goose": {map[string]string{"agent-session-id": "20261128_1"}, "Hi.", "",
			"20261128_1"},
		"that of opencode":     {map[string]string{"x-session-id": "ses_1"}, "Hi.", "", "ses_1"},
		"the affinity":         {map[string]string{"x-session-affinity": "c"}, "Hi.", "b", "c"},
		"the header of Codex":  {map[string]string{"session-id": "d"}, "Hi.", "", "d"},
		"the key of the cache": {map[string]string{"traceparent": parent}, "Hi.", "b", "b"},
		"the trace": {map[string]string{"traceparent": parent}, "Hi.", "",
			"trace:4bf92f3577b34da6a3ce929d0e0e4736"},
		"no trace": {map[string]string{"traceparent": "00-" + strings.Repeat("0", 32) +
			"-00f067aa0ba902b7-01"}, "Hi.", "", ""},
		"a trace that is broken": {map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e47zz-00f067aa0ba902b7-01"}, "Hi.", "", ""},
		"a trace that is cut":    {map[string]string{"traceparent": parent[:36]}, "Hi.", "", ""},
		"a long one": {map[string]string{"session_id": strings.Repeat("x", 300)}, "Hi.", "",
			strings.Repeat("x", maxSessionID)},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tt.headers {
				h.Set(k, v)
			}
			req, err := openai.ParseRequest([]byte(`{"model":"m","prompt_cache_key":"` + tt.key +
				`","messages":[{"role":"user","content":"` + tt.user + `"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := turn.SubjectOf(req, turn.Caller{Session: sessionOf(h, sessions, req)},
				"m").Session; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
