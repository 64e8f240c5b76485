package upstream

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// testSet is a small rule set with the dialects that the tests name. Times are
// short; the shipped rules have their own values.
func testSet() *ruleset.Set {
	return &ruleset.Set{
		Limits: ruleset.Limits{
			SizeLimits: ruleset.SizeLimits{ReplyBytes: 1 << 20, ErrorBytes: 64 << 10},
			TimeLimits: ruleset.TimeLimits{FirstByte: 10 * time.Second, Idle: 10 * time.Second,
				ProbeTimeout: 5 * time.Second, ProbeEvery: time.Minute},
			RetryLimits: ruleset.RetryLimits{Retries: 3, RetryMin: 2 * time.Millisecond,
				RetryMax: 500 * time.Millisecond, RetryBudget: 2 * time.Second},
		},
		Servers: []ruleset.Server{
			{
				ID: rulefile.Text{Value: "vllm"}, Detect: probes("/v1/models", `"owned_by": "vllm"`),
				Window:       []string{"data.0.max_model_len"},
				ReasoningOut: []string{"reasoning"}, DropEmptyTools: true, ToolChoice: "auto",
				Effort: ruleset.Effort{Allowed: efforts, Map: map[string]string{"minimal": "low",
					"xhigh": "high", "none": ""}},
				ErrorRules: ruleset.ErrorRules{
					OutputTooLarge: patterns(`is too large: \d+.*maximum context length is (?P<limit>\d+) tokens and your request has (?P<prompt>\d+) input`),
					Overflow: patterns(
						`maximum context length is (?P<limit>\d+) tokens.*requested (?P<requested>\d+) tokens \((?P<prompt>\d+) in the messages, (?P<output>\d+)`,
						`maximum context length is (?P<limit>\d+) tokens.*requested (?P<output>\d+) output tokens.*contains (?P<prompt>\d+) input`,
						`passed (?P<prompt>\d+) input tokens and requested (?P<output>\d+) output tokens.*context length is only (?P<limit>\d+)`),
					Retry: patterns(`unexpected tokens remaining in message header`,
						`(?i)while expecting start token`),
					Hints: []ruleset.Hint{{
						Pattern: ruleset.Pattern{Match: regexp.MustCompile(`"auto" tool choice requires`)},
						Status:  400,
						Say:     "Start vLLM with --enable-auto-tool-choice --tool-call-parser openai.",
					}},
				},
			},
			{
				ID: rulefile.Text{Value: "ollama"}, Detect: probes("/api/version", `"version"`),
				ReasoningOut: []string{"reasoning"},
				Rename:       map[string]string{"max_completion_tokens": "max_tokens"}, ToolChoice: "drop",
				FlattenParts: true,
				ErrorRules: ruleset.ErrorRules{
					Overflow: patterns(`prompt is longer than the context length`),
					Recover:  []ruleset.CallPattern{{Match: regexp.MustCompile(`(?s)error parsing tool call: raw='(?P<args>.*)', err=`)}},
					Retry:    patterns(`error parsing tool call`),
				},
			},
			{
				ID:     rulefile.Text{Value: "llamacpp"},
				Detect: probes("/props", `"default_generation_settings"`), Props: "/props",
				Window:       []string{"default_generation_settings.n_ctx"},
				ReasoningOut: []string{"reasoning_content"},
				Effort: ruleset.Effort{Field: "chat_template_kwargs.reasoning_effort",
					Allowed: efforts},
				ErrorRules: ruleset.ErrorRules{
					Overflow: patterns(`exceeds the available context size`),
				},
			},
			{
				ID: rulefile.Text{Value: "sglang"}, Detect: probes("/get_server_info", ""),
				ReasoningOut: []string{"reasoning_content"}, DropStrict: true,
				ErrorRules: ruleset.ErrorRules{
					Overflow: patterns(`input \((?P<prompt>\d+) tokens\) is longer than the model's context length \((?P<limit>\d+) tokens`),
				},
			},
			{
				ID: rulefile.Text{Value: "lmstudio"}, Detect: probes("/api/v0/models", ""), FoldSystem: true,
				SystemRole: "system", Structured: "json_schema",
				ErrorRules: ruleset.ErrorRules{
					Overflow: patterns(`greater than the context length`),
				},
			},
			{
				ID: rulefile.Text{Value: "generic"}, ReasoningOut: []string{"reasoning", "reasoning_content"},
				DropEmptyTools: true, PlainSchemas: true, DropFields: []string{"store", "prompt_cache_key"},
				ErrorRules: ruleset.ErrorRules{
					Recover: []ruleset.CallPattern{{Field: "error.failed_generation"}},
				},
			},
		},
	}
}

var efforts = []string{"low", "medium", "high"}

func patterns(res ...string) (ps []ruleset.Pattern) {
	for _, re := range res {
		ps = append(ps, ruleset.Pattern{Match: regexp.MustCompile("(?s)" + re)})
	}
	return ps
}

func probes(path, contains string) []ruleset.Probe {
	return []ruleset.Probe{{Path: path, Contains: contains}}
}

// request parses a body that must be one.
func request(t testing.TB, body string) *openai.Request {
	t.Helper()
	q, err := openai.ParseRequest([]byte(body))
	if err != nil {
		t.Fatalf("ParseRequest(%s): %v", body, err)
	}
	return q
}

// Sets of experiments alternate: the server is asked about a model once for each of them.
func TestFamiliesOfAlternatingSets(t *testing.T) {
	var shown atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/version":
			io.WriteString(w, `{"version":"0.33.3"}`)
		case "/v1/models":
			io.WriteString(w, `{"object":"list","data":[{"id":"house-model"}]}`)
		case "/api/show":
			shown.Add(1)
			io.WriteString(w, `{"details":{"family":"qwen3"}}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := New(Config{BaseURL: srv.URL, Log: slog.New(slog.DiscardHandler)})
	ruletest.Must(t, err)
	t.Cleanup(c.Close)
	one := *ruletest.Shipped(t)
	other := one
	other.Arms = []string{"try/it"}
	ruletest.Must(t, c.Ready(t.Context(), time.Minute))
	for range 3 {
		for _, set := range []*ruleset.Set{&one, &other} {
			f, by := c.Family(t.Context(), set, c.Server(t.Context(), set), ruleset.Model{Name: "house-model"})
			if f == nil || f.Name != "qwen3" {
				t.Errorf("the family is %v, by %s", f, by)
			}
		}
	}
	if n := shown.Load(); n != 2 {
		t.Errorf("the server was asked %d times", n)
	}
}
