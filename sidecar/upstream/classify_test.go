package upstream

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func TestClassify(t *testing.T) {
	tests := []struct {
		name, server string
		status       int
		body         string
		fault        ruleset.Fault
		want         int
		code         string
	}{
		{"bad request", "vllm", 400, `{"error":{"message":"n must be 1","type":"BadRequestError","param":null,"code":400}}`, ruleset.Rejected, 400, ""},
		{"validation", "vllm", 422, `{"detail":[{"loc":["body","n"],"msg":"not an int"}]}`, ruleset.Rejected, 400, ""},
		{"flat", "sglang", 400, `{"object":"error","message":"bad","type":"BadRequestError","param":null,"code":400}`, ruleset.Rejected, 400, ""},
		{"key", "vllm", 401, `{"error":"Unauthorized"}`, ruleset.Auth, 424, "upstream_auth"},
		{"money", "generic", 402, `{"error":{"message":"credits used up"}}`, ruleset.Auth, 424, "upstream_auth"},
		{"forbidden", "generic", 403, `<html><title>403 Forbidden</title></html>`, ruleset.Auth, 424, "upstream_auth"},
		{"model", "ollama", 404, `{"error":{"message":"model \"gpt-oss:7b\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, ruleset.Missing, 404, "model_not_found"},
		{"path", "vllm", 404, `{"detail":"Not Found"}`, ruleset.ServerError, 502, "upstream_error"},
		{"path, plain", "ollama", 404, `404 page not found`, ruleset.ServerError, 502, "upstream_error"},
		{"patience", "generic", 429, `{"error":{"message":"Rate limit reached: 8000 tokens a minute"}}`, ruleset.RateLimited, 429, "rate_limit_exceeded"},
		{"slow", "generic", 408, ``, ruleset.Timeout, 504, "upstream_timeout"},
		{"too big", "generic", 413, `too big`, ruleset.Rejected, 400, ""},
		{"crash", "vllm", 500, `Internal Server Error`, ruleset.ServerError, 502, "upstream_error"},
		{"proxy", "vllm", 502, `<html><head><title>502 Bad Gateway</title></head></html>`, ruleset.ServerError, 502, "upstream_error"},
		{"loading", "llamacpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, ruleset.ServerError, 502, "upstream_error"},
		{"gateway slow", "vllm", 504, ``, ruleset.Timeout, 504, "upstream_timeout"},
		{"redirect", "vllm", 301, ``, ruleset.ServerError, 502, "upstream_error"},
		{"harmony", "vllm", 500, `{"error":{"message":"unexpected tokens remaining in message header: Some(\"x\")","type":"InternalServerError","code":500}}`, ruleset.HarmonyError, 502, "harmony_error"},
		{"harmony 400", "vllm", 400, `{"error":{"message":"Unexpected token 200012 while expecting start token 200006","code":400}}`, ruleset.HarmonyError, 502, "harmony_error"},
		{"harmony in a stream", "vllm", 0, `{"error":{"message":"unexpected tokens remaining in message header","code":400}}`, ruleset.HarmonyError, 502, "harmony_error"},
		{"in a stream", "vllm", 0, `data: {"error":{"message":"EngineCore died","code":"dead"}}` + "\n\n", ruleset.ServerError, 502, "upstream_error"},
		{"flags", "vllm", 400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}}`, ruleset.Rejected, 400, ""},
		{"unparsed call", "ollama", 500, `{"error":{"message":"error parsing tool call: invalid character ']'"}}`, ruleset.HarmonyError, 502, "harmony_error"},
		{"nothing at all", "vllm", 500, ``, ruleset.ServerError, 502, "upstream_error"},
	}
	set := testSet()
	for _, tt := range tests {
		f := Classify(set, set.Server(tt.server), Answer{Status: tt.status, Body: []byte(tt.body)})
		if f.Fault != tt.fault || f.Say.Status != tt.want || f.Say.Code != tt.code || f.Say.Message == "" ||
			!strings.Contains(f.Say.Log, "HTTP") {
			t.Errorf("%s: %s %d %q %q (%s)", tt.name, f.Fault, f.Say.Status, f.Say.Code, f.Say.Message,
				f.Say.Log)
		}
		var e *openai.Error
		if !errors.As(error(f), &e) || e != f.Say {
			t.Errorf("%s: errors.As does not find the *openai.Error", tt.name)
		}
	}
}

func TestClassifyOverflow(t *testing.T) {
	const same = "This model's maximum context length is "
	tests := []struct{ name, server, body, want string }{
		{"vLLM, old", "vllm", `{"object":"error","message":"This model's maximum context length is 100 tokens. However, you requested 130 tokens (90 in the messages, 40 in the completion). Please reduce.","code":400}`,
			same + "100 tokens. However, you requested 130 tokens (90 in the messages, 40 in the completion)."},
		{"vLLM, middle", "vllm", `{"error":{"message":"You passed 90 input tokens and requested 40 output tokens. However, the model's context length is only 100 tokens, resulting in a maximum input length of 60.","code":400}}`,
			same + "100 tokens. However, you requested 130 tokens (90 in the messages, 40 in the completion)."},
		{"vLLM, new", "vllm", `{"error":{"message":"This model's maximum context length is 100 tokens. However, you requested 40 output tokens and your prompt contains 90 input tokens, for a total of 130.","code":400}}`,
			same + "100 tokens. However, you requested 40 output tokens"},
		{"llama.cpp", "llamacpp", `{"error":{"code":400,"message":"request (90 tokens) exceeds the available context size (70 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":90,"n_ctx":70}}`,
			same + "70 tokens. However, you requested 90 tokens."},
		{"llama.cpp, old", "llamacpp", `{"error":{"code":500,"message":"the request exceeds the available context size","type":"server_error"}}`,
			same + "64 tokens. However, you requested more."},
		{"Ollama", "ollama", `{"error":{"message":"the prompt is longer than the context length currently available to the model; use a shorter one"}}`,
			same + "64 tokens. However, you requested more."},
		{"SGLang", "sglang", `{"object":"error","message":"The input (90 tokens) is longer than the model's context length (70 tokens).","code":400}`,
			same + "70 tokens. However, you requested 90 tokens."},
		{"LM Studio", "lmstudio", `{"error":"tokens to keep from the prompt is greater than the context length"}`,
			same + "64 tokens. However, you requested more."},
		{"by code", "generic", `{"error":{"message":"too long","code":"context_length_exceeded"}}`,
			same + "64 tokens. However, you requested more."},
	}
	// The wording by which OpenClaw 2026.9.6 compacts the conversation.
	compacts := regexp.MustCompile(`maximum context length is \d+ tokens\. However, you requested`)
	set := testSet()
	for _, tt := range tests {
		f := Classify(set, set.Server(tt.server), Answer{Status: 500, Body: []byte(tt.body), Window: 64})
		if f.Fault != ruleset.Overflow || f.Say.Status != 400 || f.Say.Code != "context_length_exceeded" {
			t.Errorf("%s: %s %d %s", tt.name, f.Fault, f.Say.Status, f.Say.Code)
		}
		if !strings.HasPrefix(f.Say.Message, tt.want) || !compacts.MatchString(f.Say.Message) {
			t.Errorf("%s: %q", tt.name, f.Say.Message)
		}
	}
	f := Classify(set, set.Server("ollama"),
		Answer{Status: 400, Body: []byte(`prompt is longer than the context length`)})
	if !strings.Contains(f.Say.Message, "maximum context length") {
		t.Errorf("unknown window: %q", f.Say.Message)
	}
}

func TestClassifyRetryAfterAndRules(t *testing.T) {
	set := testSet()
	set.Recovery.Faults = map[ruleset.Fault]ruleset.Remedy{
		ruleset.Rejected: {Status: 422, Type: "t", Code: "c", Message: rulefile.Text{Value: "No: {why}"},
			RetryAfter: time.Second},
		ruleset.RateLimited: {RetryAfter: 5 * time.Second},
	}
	f := Classify(set, set.Server("vllm"), Answer{Status: 400, Body: []byte(`bad n`)})
	if got, want := *f.Say, (openai.Error{Status: 422, Type: "t", Code: "c", Message: "No: bad n.",
		Log: "upstream HTTP 400: bad n", RetryAfter: time.Second}); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for text, want := range map[string]time.Duration{"7": 7 * time.Second, "0.5": 500 * time.Millisecond,
		"0": 5 * time.Second, "Thu, 01 Jan 1970 00:00:00 GMT": 5 * time.Second, "soon": 5 * time.Second,
		"-1": 5 * time.Second, "": 5 * time.Second} {
		f := Classify(set, set.Server("vllm"),
			Answer{Status: 429, Header: http.Header{"Retry-After": {text}}})
		if f.Say.RetryAfter != want {
			t.Errorf("Retry-After %q: %s", text, f.Say.RetryAfter)
		}
	}
	date := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	if d, ok := retryAfter(http.Header{"Retry-After": {date}}); !ok || d < 50*time.Second || d > time.Minute {
		t.Errorf("Retry-After %s: %s", date, d)
	}
	f = Classify(set, set.Server("vllm"),
		Answer{Status: 400, Body: []byte(`"auto" tool choice requires flags`)})
	if f.Say.Status != 400 || !strings.HasSuffix(f.Say.Message, "--tool-call-parser openai.") ||
		!strings.Contains(f.Say.Log, "Start vLLM") {
		t.Errorf("hint: %+v", f.Say)
	}
}

func TestShown(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain words, 3.5 tokens: 7", "plain words, 3.5 tokens: 7"},
		{"GET http://10.0.0.7:8000/v1/models?k=1 failed", "GET [address] failed"},
		{"dial tcp 10.1.2.3:8000: refused", "dial tcp [address]: refused"},
		{"dial tcp [::1]:8000: refused", "dial tcp [address]: refused"},
		{"lookup vllm.prod.svc on localhost", "lookup [address] on [address]"},
		{"cannot reach gpu-box:8000", "cannot reach [address]"},
		{"vllm.lan:8000 says no", "[address] says no"},
		{"max_tokens:40000 is too large, prompt:9000, line:14", "max_tokens:40000 is too large, prompt:9000, line:14"},
		{"Authorization: Bearer abcdef123456", "Authorization: [key]"},
		{"Incorrect key ghp_0123456789abcdefghij given", "Incorrect key [key] given"},
		{"Incorrect key sk-proj-12345678 given", "Incorrect key [key] given"},
		{`File "/usr/lib/python3/x.py", line 3`, `File [path]", line 3`},
		{"open C:\\models\\x", "open [path]"},
		{"a\n\n  b", "a b"},
		{"and/or tokens", "and/or tokens"},
	}
	for _, tt := range tests {
		if got := redact(tt.in); got != tt.want {
			t.Errorf("shown(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := redact(strings.Repeat("ä", 9000)); len(got) > 410 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("long text: %d bytes, ends %q", len(got), got[len(got)-6:])
	}
}
