package sidecar_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What a caller without tools is told about a failing model server. OpenClaw acts on
// status, code and, for an overflow, the words.
func TestStatusMap(t *testing.T) {
	leak := "Incorrect API key provided: " + provider.UpstreamKey + " at http://10.0.0.7:8000/v1"
	plain := func(status int, message string) script.Reply { return script.Fail(status, message) }
	const window = "maximum context length is 8192 tokens"
	const known = "maximum context length is 131072 tokens"
	busy := plain(429, "slow down")
	busy.Retry = "7"
	for _, row := range []struct {
		name   string
		server func() script.Dialect
		reply  script.Reply
		status int
		code   string
		says   string
		retry  int // seconds
	}{
		{"401", script.VLLM, plain(401, leak), 424, "upstream_auth", "credentials", 0},
		{"402", script.VLLM, plain(402, leak), 424, "upstream_auth", "credentials", 0},
		{"403", script.VLLM, plain(403, leak), 424, "upstream_auth", "credentials", 0},
		{"404 model", script.VLLM, plain(404, "The model `x` does not exist."), 404, "model_not_found", "does not exist", 0},
		{"429", script.VLLM, busy, 429, "rate_limit_exceeded", "busy", 7},
		{"400", script.VLLM, plain(400, "temperature must be positive"), 400, "upstream_rejected", "temperature must be positive", 0},
		{"500", script.VLLM, plain(500, "CUDA error"), 502, "upstream_error", "CUDA", 0},
		{"503", script.VLLM, plain(503, "loading"), 502, "upstream_error", "loading", 0},
		{"tools switched off", script.VLLM, plain(400, `"auto" tool choice requires --enable-auto-tool-choice`), 400, "upstream_rejected", "--enable-auto-tool-choice", 0},
		{"vLLM is full", script.VLLM, servers.OverflowVLLM(8192, 9000), 400, "context_length_exceeded", window, 0},
		{"old vLLM is full", servers.OldVLLM, plain(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)."), 400, "context_length_exceeded", window, 0},
		{"llama.cpp is full", servers.LlamaCPP, servers.OverflowLlamaCPP(8192, 9000), 400, "context_length_exceeded", window, 0},
		{"SGLang is full", servers.SGLang, plain(400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."), 400, "context_length_exceeded", window, 0},
		{"Ollama is full", servers.Ollama, plain(400, "the prompt is longer than the context length currently available to the model"), 400, "context_length_exceeded", "maximum context length", 0},
		{"LM Studio is full", servers.LMStudio, plain(400, "The number of tokens to keep from the initial prompt is greater than the context length."), 400, "context_length_exceeded", known, 0},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				model := script.New(script.Scenario{Steps: []script.Reply{row.reply}, Loop: true})
				model.Dialect = row.server()
				r := provider.Start(t, provider.Setup{Key: provider.UpstreamKey}, model)
				a := r.Plain(mode)
				if a.Status != row.status || a.Fault.Code != row.code ||
					!strings.Contains(a.Fault.Message, row.says) || a.Fault.Type == "" {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				if got, _ := strconv.Atoi(a.Header.Get("Retry-After")); got != row.retry {
					t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
				}
				r.NoSecret(a)
			})
		}
	}
}

// An error that comes with status 200 is one all the same.
func TestErrorInside(t *testing.T) {
	body := `{"error":{"message":"bad key ` + provider.UpstreamKey + `","type":"auth","code":401}}`
	for _, row := range []struct{ kind, body string }{
		{provider.Document, body},
		{provider.SSE, "data: " + body + "\n\n" + provider.DoneEvent},
		{provider.SSE, "error: {\"code\":401,\"message\":\"bad key " + provider.UpstreamKey + "\"}\n\n" + provider.DoneEvent},
		{provider.SSE, provider.Piece(0, `"role":"assistant","content":""`, "null") + "data: " + body + "\n\n" + provider.DoneEvent},
	} {
		r := provider.Start(t, provider.Setup{Key: provider.UpstreamKey}, provider.Says(row.kind, row.body))
		for _, mode := range []string{"stream", "whole"} {
			a := r.Plain(mode)
			if a.Fault.Code != "upstream_auth" || a.Done {
				t.Errorf("%s, %s: %s", row.body, mode, a.Body)
			}
			r.NoSecret(a)
		}
	}
}

func TestUnreachable(t *testing.T) {
	address := testkit.Address(t)
	r := provider.Start(t, provider.Setup{URL: "http://" + address}, nil)
	for _, mode := range []string{"stream", "whole"} {
		a := r.Plain(mode)
		if a.Status != http.StatusFailedDependency || a.Fault.Code != "upstream_away" ||
			strings.Contains(a.Body, address) {
			t.Errorf("%s: %d %v %s", mode, a.Status, a.Header, a.Body)
		}
	}
	ready := r.Ask(http.MethodGet, "/readyz", "")
	if ready.Status != http.StatusServiceUnavailable ||
		!strings.Contains(ready.Body, `"failing":["upstream: it cannot be reached`) ||
		strings.Contains(ready.Body, address) {
		t.Errorf("%d %s", ready.Status, ready.Body)
	}
	if live := r.Ask(http.MethodGet, "/healthz", ""); live.Status != http.StatusOK {
		t.Errorf("%d %s", live.Status, live.Body)
	}
}

// What the model server sends may be no answer at all.
func TestNonsense(t *testing.T) {
	for _, row := range []struct{ kind, body string }{
		{provider.Document, `{"choices":[{"message":`},
		{provider.Document, `[]`},
		{provider.Document, `{"choices":[]}`},
		{"text/html", "<html><title>It works</title></html>"},
		{provider.SSE, ""},
		{provider.SSE, "data: {\"choices\":[{\n\n"},
		{provider.SSE, "data: " + strings.Repeat("x", 9<<20) + "\n\n"},
		{provider.SSE, provider.DoneEvent},
	} {
		r := provider.Start(t, provider.Setup{Key: provider.UpstreamKey}, provider.Says(row.kind, row.body))
		for _, mode := range []string{"stream", "whole"} {
			a := r.Plain(mode)
			// it took so long that the role left first
			inStream := a.Status == http.StatusOK && mode == "stream"
			if a.Status != http.StatusBadGateway && !inStream || a.Fault.Code == "" || a.Done {
				t.Errorf("%.40q, %s: %d %.300s", row.body, mode, a.Status, a.Body)
			}
		}
	}
}

// Behind the head of a stream there is no status: an error that passes says so in the words by which agents
// try again, with the time that the model server asks for, and no other error has one of them.
func TestErrorsThatPassSaySo(t *testing.T) {
	words := map[string]*regexp.Regexp{ // of agents
		"pi":       regexp.MustCompile(`(?i)429|500|502|503|504|rate.?limit|too many requests|server.?error|connection.?(error|lost|closed)|timed? out|ended without|terminated|you can retry your request`),
		"opencode": regexp.MustCompile(`(?i)429|500|502|503|504|524|server_error|connection lost|rate_limit`),
	}
	busy := script.Fail(429, "slow down")
	busy.Retry = "7"
	later := script.Fail(503, "loading")
	later.Retry = "7"
	for _, row := range []struct {
		name   string
		reply  script.Reply
		passes bool
		again  string
	}{
		{"429", busy, true, "try again in 7 s"},
		{"503", later, true, "try again in 7 s"},
		{"500", script.Fail(500, "CUDA"), true, ""},
		{"a broken stream", script.Text("It is calm.").Ending(script.Reset), true, ""},
		{"an error in the stream", script.Text("It is calm.").Ending(script.Fault), true, ""},
		{"a HarmonyError", script.HarmonyError(), true, ""},
		{"an empty reply", script.Empty(), true, ""},
		{"401", script.Fail(401, "no"), false, ""},
		{"400", script.Fail(400, "temperature must be positive"), false, ""},
		{"404", script.Fail(404, "The model `x` does not exist."), false, ""},
		{"overflow", servers.OverflowVLLM(8192, 9000), false, ""},
	} {
		for _, api := range []string{"", "yes"} {
			t.Run(row.name+", responses "+api, func(t *testing.T) {
				t.Setenv(provider.OtherAPI, api)
				r := provider.Late(t, provider.Setup{Limits: func(l *ruleset.Limits) {
					l.Keepalive = 20 * time.Millisecond
				}}, row.reply)
				a := r.Plain("stream")
				if a.Status != 200 || a.Fault.Message == "" || a.Done {
					t.Fatalf("%d %s", a.Status, a.Body)
				}
				if strings.Contains(a.Fault.Message, "you can retry your request") != row.passes ||
					!strings.Contains(a.Fault.Message, row.again) {
					t.Errorf("%+v", a.Fault)
				}
				if api == "" && strings.Contains(a.Body, `"retry_after":7`) != (row.again != "") {
					t.Errorf("%s", a.Body)
				}
				said := a.Fault.Message // pi looks at no more
				for agent, re := range words {
					if agent == "opencode" {
						said = a.Fault.Message + a.Fault.Type + a.Fault.Code
					}
					if re.MatchString(said) != row.passes {
						t.Errorf("%s: %q", agent, said)
					}
				}
			})
		}
	}
}

// A model server that asks for more patience than a stream has before it begins is told to the caller, with
// the status and the time: an event of a stream has neither.
func TestStatusBeforeTheHead(t *testing.T) {
	busy := script.Fail(429, "slow down")
	busy.Retry = "1"
	for _, row := range []struct {
		keepalive time.Duration
		requests  int
	}{{500 * time.Millisecond, 1}, {time.Hour, 2}} {
		r := provider.Start(t, provider.Setup{Limits: func(l *ruleset.Limits) {
			l.Keepalive, l.RetryMax, l.Retries = row.keepalive, 2*time.Second, 1
		}},
			script.New(script.Scenario{Steps: []script.Reply{busy}, Loop: true}))
		a := r.Plain("stream")
		if n := len(r.Model.Requests("")); a.Status != 429 || a.Header.Get("Retry-After") != "1" ||
			a.Fault.Code != "rate_limit_exceeded" || n != row.requests {
			t.Errorf("%d %v after %d requests: %s", a.Status, a.Header, n, a.Body)
		}
	}
}

// An error that passes holds the words by which an agent tries again, as its file has them; another error
// does not.
func TestErrorsInWordsOfAnAgent(t *testing.T) {
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["agents/ours.yaml"] = "version: 1\nknown: [{says: You are ours}]\nretry: send it anew\n"
	set, problems := provider.Loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for status, want := range map[int]bool{503: true, 400: false} {
		r := provider.Late(t, provider.Setup{Set: set,
			Limits: func(l *ruleset.Limits) { l.Keepalive = 20 * time.Millisecond }}, script.Fail(status, "no"))
		a := r.Chat(`{` + provider.Streaming +
			`,"model":"gpt-oss","messages":[{"role":"system","content":"You are ours."},{"role":"user","content":"go"}]}`)
		if a.Fault.Message == "" || strings.Contains(a.Fault.Message, "send it anew") != want {
			t.Errorf("%d: %+v", status, a.Fault)
		}
	}
}
