package sidecar

import (
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const upstreamKey = "my-own-key-1234"

// What a caller without tools is told about a failing model server. OpenClaw acts on
// status, code and, for an overflow, the words.
func TestStatusMap(t *testing.T) {
	leak := "Incorrect API key provided: " + upstreamKey + " at http://10.0.0.7:8000/v1"
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
		{"vLLM is full", script.VLLM, script.OverflowVLLM(8192, 9000), 400, "context_length_exceeded", window, 0},
		{"old vLLM is full", script.OldVLLM, plain(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)."), 400, "context_length_exceeded", window, 0},
		{"llama.cpp is full", script.LlamaCPP, script.OverflowLlamaCPP(8192, 9000), 400, "context_length_exceeded", window, 0},
		{"SGLang is full", script.SGLang, plain(400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."), 400, "context_length_exceeded", window, 0},
		{"Ollama is full", script.Ollama, plain(400, "the prompt is longer than the context length currently available to the model"), 400, "context_length_exceeded", "maximum context length", 0},
		{"LM Studio is full", script.LMStudio, plain(400, "The number of tokens to keep from the initial prompt is greater than the context length."), 400, "context_length_exceeded", known, 0},
	} {
		for _, mode := range []string{"stream", "whole"} {
			t.Run(row.name+", "+mode, func(t *testing.T) {
				model := script.New(script.Scenario{Steps: []script.Reply{row.reply}, Loop: true})
				model.Dialect = row.server()
				r := start(t, setup{key: upstreamKey}, model)
				a := r.plain(mode)
				if a.status != row.status || a.fault.Code != row.code ||
					!strings.Contains(a.fault.Message, row.says) || a.fault.Type == "" {
					t.Errorf("%d %s", a.status, a.body)
				}
				if got, _ := strconv.Atoi(a.header.Get("Retry-After")); got != row.retry {
					t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
				}
				r.noSecret(a)
			})
		}
	}
}

// noSecret looks for the upstream's key and address in all that is seen.
func (r *rig) noSecret(a *answer) {
	r.t.Helper()
	for _, secret := range []string{upstreamKey, "10.0.0.7"} {
		if strings.Contains(a.body, secret) || secret == upstreamKey && strings.Contains(r.log.String(),
			secret) {
			r.t.Errorf("%q in %s\nlog: %s", secret, a.body, r.log)
		}
	}
}

// An error that comes with status 200 is one all the same.
func TestErrorInside(t *testing.T) {
	body := `{"error":{"message":"bad key ` + upstreamKey + `","type":"auth","code":401}}`
	for _, row := range []struct{ kind, body string }{
		{docu, body},
		{sse, "data: " + body + "\n\n" + doneEvent},
		{sse, "error: {\"code\":401,\"message\":\"bad key " + upstreamKey + "\"}\n\n" + doneEvent},
		{sse, ev(0, `"role":"assistant","content":""`, "null") + "data: " + body + "\n\n" + doneEvent},
	} {
		r := start(t, setup{key: upstreamKey}, says(row.kind, row.body))
		for _, mode := range []string{"stream", "whole"} {
			a := r.plain(mode)
			if a.fault.Code != "upstream_auth" || a.done {
				t.Errorf("%s, %s: %s", row.body, mode, a.body)
			}
			r.noSecret(a)
		}
	}
}

// closedPort is an address where nobody listens.
func closedPort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestUnreachable(t *testing.T) {
	address := closedPort(t)
	r := start(t, setup{url: "http://" + address}, nil)
	for _, mode := range []string{"stream", "whole"} {
		a := r.plain(mode)
		if a.status != http.StatusFailedDependency || a.fault.Code != "upstream_away" ||
			strings.Contains(a.body, address) {
			t.Errorf("%s: %d %v %s", mode, a.status, a.header, a.body)
		}
	}
	ready := r.ask(http.MethodGet, "/readyz", "")
	if ready.status != http.StatusServiceUnavailable ||
		!strings.Contains(ready.body, `"failing":["upstream: it cannot be reached`) ||
		strings.Contains(ready.body, address) {
		t.Errorf("%d %s", ready.status, ready.body)
	}
	if live := r.ask(http.MethodGet, "/healthz", ""); live.status != http.StatusOK {
		t.Errorf("%d %s", live.status, live.body)
	}
}

// What the model server sends may be no answer at all.
func TestNonsense(t *testing.T) {
	for _, row := range []struct{ kind, body string }{
		{docu, `{"choices":[{"message":`},
		{docu, `[]`},
		{docu, `{"choices":[]}`},
		{"text/html", "<html><title>It works</title></html>"},
		{sse, ""},
		{sse, "data: {\"choices\":[{\n\n"},
		{sse, "data: " + strings.Repeat("x", 9<<20) + "\n\n"},
		{sse, doneEvent},
	} {
		r := start(t, setup{key: upstreamKey}, says(row.kind, row.body))
		for _, mode := range []string{"stream", "whole"} {
			a := r.plain(mode)
			// it took so long that the role left first
			inStream := a.status == http.StatusOK && mode == "stream"
			if a.status != http.StatusBadGateway && !inStream || a.fault.Code == "" || a.done {
				t.Errorf("%.40q, %s: %d %.300s", row.body, mode, a.status, a.body)
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
		{"overflow", script.OverflowVLLM(8192, 9000), false, ""},
	} {
		for _, api := range []string{"", "yes"} {
			t.Run(row.name+", responses "+api, func(t *testing.T) {
				t.Setenv(otherAPI, api)
				row.reply.Delay = 200 * time.Millisecond
				r := failing(t, setup{limits: func(l *ruleset.Limits) {
					l.Keepalive = 20 * time.Millisecond
				}}, row.reply)
				a := r.plain("stream")
				if a.status != 200 || a.fault.Message == "" || a.done {
					t.Fatalf("%d %s", a.status, a.body)
				}
				if strings.Contains(a.fault.Message, "you can retry your request") != row.passes ||
					!strings.Contains(a.fault.Message, row.again) {
					t.Errorf("%+v", a.fault)
				}
				if api == "" && strings.Contains(a.body, `"retry_after":7`) != (row.again != "") {
					t.Errorf("%s", a.body)
				}
				said := a.fault.Message // pi looks at no more
				for agent, re := range words {
					if agent == "opencode" {
						said = a.fault.Message + a.fault.Type + a.fault.Code
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
		r := start(t, setup{limits: func(l *ruleset.Limits) {
			l.Keepalive, l.RetryMax, l.Retries = row.keepalive, 2*time.Second, 1
		}},
			script.New(script.Scenario{Steps: []script.Reply{busy}, Loop: true}))
		a := r.plain("stream")
		if n := len(r.model.Requests("")); a.status != 429 || a.header.Get("Retry-After") != "1" ||
			a.fault.Code != "rate_limit_exceeded" || n != row.requests {
			t.Errorf("%d %v after %d requests: %s", a.status, a.header, n, a.body)
		}
	}
}

// An error that passes holds the words by which an agent tries again, as its file has them; another error
// does not.
func TestErrorsInWordsOfAnAgent(t *testing.T) {
	files, err := ruletest.Source(t, "").Read()
	ruletest.Must(t, err)
	files["agents/ours.yaml"] = "version: 1\nknown: [{says: You are ours}]\nretry: send it anew\n"
	set, problems := loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	for status, want := range map[int]bool{503: true, 400: false} {
		reply := script.Fail(status, "no")
		reply.Delay = 200 * time.Millisecond
		r := failing(t, setup{set: set,
			limits: func(l *ruleset.Limits) { l.Keepalive = 20 * time.Millisecond }}, reply)
		a := r.chat(`{` + streaming +
			`,"model":"gpt-oss","messages":[{"role":"system","content":"You are ours."},{"role":"user","content":"go"}]}`)
		if a.fault.Message == "" || strings.Contains(a.fault.Message, "send it anew") != want {
			t.Errorf("%d: %+v", status, a.fault)
		}
	}
}
