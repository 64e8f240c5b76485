package modelserver

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// ask posts a chat, and gives back the response with its whole body.
func ask(t *testing.T, s *Server, body string) (*http.Response, string) {
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
	return res, string(got)
}

const question = `{"model":"gpt-oss:20b","messages":[{"role":"user","content":"List the files."}],"tools":[{"type":"function","function":{"name":"exec","description":"Run","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}]`

func TestOllama(t *testing.T) {
	s := Ollama(t, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{\"command\":\"ls\"}<|call|>")
	_, body := ask(t, s, question+"}")
	m := gjson.Get(body, "choices.0.message")
	if m.Get("reasoning").Str != "Hm." || m.Get("tool_calls.0.function.arguments").Str != `{"command":"ls"}` {
		t.Error(body)
	}
	if p := s.Prompts(); len(p) != 1 || !strings.Contains(p[0].Text, "type exec") || p[0].Window != 8192 || gjson.Get(body, "usage.prompt_tokens").Int() != int64(p[0].Tokens) {
		t.Errorf("%+v %s", p, body)
	}
}
