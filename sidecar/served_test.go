package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Every request has an id, and leaves one line in the log.
func TestServed(t *testing.T) {
	r := provider.Play(t, script.Native("exec", `{"command":"ls"}`), script.Text("ok"), script.Fail(400, "no"))
	a := r.Chat(provider.Body(provider.Streaming+","+provider.BothTools), "X-Request-Id", "my-id.1", "session_id", "s1")
	if a.Header.Get("X-Request-Id") != "my-id.1" {
		t.Errorf("the id of the caller is %q", a.Header.Get("X-Request-Id"))
	}
	b := r.Chat(provider.Body(provider.BothTools), "X-Request-Id", "two words")
	c := r.Chat(provider.Body(""))
	for _, id := range []string{b.Header.Get("X-Request-Id"), c.Header.Get("X-Request-Id")} {
		if !strings.HasPrefix(id, "req") || len(id) < 20 {
			t.Errorf("a request without an id of its own gets %q", id)
		}
	}
	var lines []string
	for line := range strings.Lines(r.Log.String()) {
		if strings.Contains(line, "event=request_served") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines of 3 requests:\n%s", len(lines), r.Log)
	}
	for i, want := range [][]string{
		{"request=my-id.1", "session=s1", "model=gpt-oss", "status=200", "stream=true", "turns=1", "strategies=native", "calls=1", "refused=0"},
		{"status=200", "stream=false", "calls=0"}, {"status=400"},
	} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("%q does not say %s", lines[i], part)
			}
		}
	}
	if !strings.Contains(lines[0], "prompt_tokens=") || strings.Contains(lines[0], "prompt_tokens=0 ") {
		t.Errorf("%q has no tokens", lines[0])
	}
}

// Tokens are counted by kind, and those of thoughts apart: the server says how many they are. Fewer than none
// count as none.
func TestTokens(t *testing.T) {
	r := provider.Play(t, script.Reply{Reasoning: strings.Repeat("hmm ", 10), Content: "Yes.", Prompt: 7},
		script.Reply{Reasoning: strings.Repeat("hmm ", 5), Content: "No.", Prompt: -5})
	r.Chat(provider.Body(provider.Streaming + "," + provider.BothTools))
	r.Chat(provider.Body(provider.BothTools))
	for kind, want := range map[string]string{"prompt": "7", "reasoning": "15", "completion": "22"} {
		if m := r.Scrape(); !strings.Contains(m, `gptoss_executor_tokens_total{kind="`+kind+
			`",model="gpt-oss"} `+want+"\n") {
			t.Errorf("%s is not %s:\n%s", kind, want, m)
		}
	}
	for _, want := range []string{"reasoning_tokens=10", "reasoning_tokens=5"} {
		if !strings.Contains(r.Log.String(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
}

// What is refused leaves one line and one count, whoever refused it.
func TestRefusedIsTold(t *testing.T) {
	r := provider.Start(t, provider.Setup{Token: "s3cret",
		Limits: func(l *ruleset.Limits) { l.Session = web.Pace{AtOnce: 1, PerMinute: 2} }},
		script.New(script.Scenario{}))
	const chat, mine = "/v1/chat/completions", "Bearer s3cret"
	for i, row := range []struct {
		method, path, body string
		header             []string
		status             int
		says               string
	}{
		{"POST", chat, provider.Body(""), []string{"Authorization", "Bearer wrong"}, 401, "code=invalid_api_key"},
		{"POST", chat, "{", []string{"Authorization", mine, "session_id", "s"}, 400, "not valid JSON"},
		{"POST", chat, `{"model":"gpt-4","messages":[{"role":"user","content":"x"}]}`, []string{"Authorization", mine, "session_id", "s"}, 404, "code=model_not_found"},
		{"POST", chat, provider.Body(""), []string{"Authorization", mine, "session_id", "s"}, 429, "session=s"},
		{"GET", "/" + strings.Repeat("x", 999), "", []string{"Authorization", mine}, 404, "path=/" + strings.Repeat("x", 255) + " "},
		{"GET", "/v1/models", "", []string{"Origin", "https://evil.example"}, 403, "code=forbidden"},
	} {
		if a := r.Ask(row.method, row.path, row.body, row.header...); a.Status != row.status {
			t.Errorf("%s %.30s: %d", row.method, row.path, a.Status)
		}
		lines := r.Log.Lines("request_refused")
		if len(lines) != i+1 || !strings.Contains(lines[i], fmt.Sprint("status=", row.status)) ||
			!strings.Contains(lines[i], row.says) {
			t.Fatalf("%s %.30s: %v", row.method, row.path, lines)
		}
	}
	if m := r.Scrape(); !strings.Contains(m, `requests_refused_total{status="404"} 2`) ||
		!strings.Contains(m, `requests_refused_total{status="401"} 1`) || r.Log.Count("request_served") > 0 {
		t.Error(m)
	}
}
