package modelserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/tidwall/gjson"
)

// ask posts a chat, and gives back the whole body of the answer.
func ask(t *testing.T, s *Server, body string) string {
	t.Helper()
	res, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

const (
	question = `{"model":"gpt-oss:20b","max_tokens":400,"messages":[{"role":"user","content":"List the files."}],"tools":[{"type":"function","function":{"name":"exec","description":"Run","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]}`
	call     = `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls"}<|call|>`
)

// Each server reads the thought and the call that the model writes, and gives the model the tools.
func TestServers(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *Server{"Ollama": Ollama,
		"LlamaChat": LlamaChat, "LlamaServer": LlamaServer} {
		t.Run(name, func(t *testing.T) {
			s := start(t, call)
			s.Say(Reply{Text: "<|channel|>final<|message|>Done.<|return|>"})
			first, second := ask(t, s, question), ask(t, s, question)
			m := gjson.Get(first, "choices.0.message")
			if m.Get("reasoning").Str+m.Get("reasoning_content").Str != "Hm." ||
				m.Get("tool_calls.0.function.arguments").Str != `{"command":"ls"}` {
				t.Error(first)
			}
			if gjson.Get(second, "choices.0.message.content").Str != "Done." {
				t.Error(second)
			}
			if prompts := s.Prompts(); len(prompts) != 2 || name != "LlamaServer" &&
				!strings.Contains(prompts[0].Text, "type exec") {
				t.Errorf("%+v", prompts)
			}
		})
	}
}

func TestOllamaPrompt(t *testing.T) {
	s := Config{Window: 300}.Ollama(t)
	body := strings.Replace(question, `"max_tokens":400`, `"max_tokens":5,"stop":["x"]`, 1)
	answer := ask(t, s, body)
	p := s.Prompts()[0]
	if p.Window != 300 || p.MaxTokens != 5 || len(p.Stop) != 1 ||
		int64(p.Tokens) != gjson.Get(answer, "usage.prompt_tokens").Int() {
		t.Errorf("%+v\n%s", p, answer)
	}
}

func TestOllamaWithoutModel(t *testing.T) {
	if answer := ask(t, Config{NoModel: true}.Ollama(t), question); !strings.Contains(answer, "not found") {
		t.Error(answer)
	}
}

// A caller who leaves ends the reply of the model.
func TestOllamaLeft(t *testing.T) {
	s := Ollama(t)
	s.Say(Reply{Text: "<|channel|>final<|message|>" + strings.Repeat("word ", 1000),
		Pause: 10 * time.Millisecond})
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions",
		strings.NewReader(strings.Replace(question, "{", `{"stream":true,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	leave()
	ruletest.Soon(t, "it is aborted", func() bool { return s.Aborted() > 0 })
}

// The runner samples as Ollama's does.
func TestSample(t *testing.T) {
	for _, c := range []struct {
		text   string
		limit  int
		room   int
		stops  []string
		want   string
		reason int
	}{
		{"Hi there.<|return|>Lost", 0, 99, nil, "Hi| there|.", endStop},
		{"Hi there all.", 2, 99, nil, "Hi| there", endLength},
		{"Hi there all.", 0, 2, nil, "Hi| there", endLength},
		{"Hi there all.", 0, 99, []string{" there a"}, "Hi", endStop},
		{"Hi there me.", 0, 99, []string{" there a"}, "Hi| there me|.", endStop},
	} {
		var said []string
		reason, _, here := sample(t.Context(), Reply{Text: c.text}, c.limit, c.room, c.stops,
			func(text string) { said = append(said, text) })
		if got := strings.Join(said, "|"); got != c.want || reason != c.reason || !here {
			t.Errorf("%q: %q %d", c.text, got, reason)
		}
	}
}
