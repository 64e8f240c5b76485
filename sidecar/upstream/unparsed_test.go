package upstream_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// submatches is a sidecar whose first model has this name at its server.
func submatches(t *testing.T, name string, cfg provider.Setup, model http.Handler) *provider.Server {
	set := *ruletest.Shipped(t, provider.Sections()...)
	set.Models = append(set.Models[:0:0], set.Models...)
	set.Models[0].Name = name
	cfg.Set = &set
	return provider.Start(t, cfg, model)
}

// What a real Ollama would lose is read from the model's own words: the thought that its prompt has begun, and
// a call that its parser cannot read. No level of thinking is in its way.
func TestUnparsedOllama(t *testing.T) {
	server := modelserver.Config{Format: &modelserver.Format{Model: "qwen3.5", Renderer: "qwen3.5", Parser: "qwen3.5",
		Template: plainTemplate}}.Ollama(t)
	server.Say(modelserver.Reply{Always: true, Text: "I need ä file.\n</think>\n\nI look.\n<tool_call>\n<function=read>\n" +
		"<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"})
	r := submatches(t, "qwen3.5", provider.Setup{URL: server.URL}, nil)
	for _, more := range []string{"", provider.Streaming + ","} {
		a := r.Chat(`{"model":"gpt-oss","reasoning_effort":"high",` + more + provider.BothTools +
			`,"messages":[{"role":"user","content":"go"}]}`)
		if len(a.Calls) != 1 || a.Calls[0].Args != `{"path":"a.txt"}` || strings.TrimSpace(a.Text) != "I look." ||
			strings.TrimSpace(a.Thought) != "I need ä file." || a.Last != "tool_calls" {
			t.Errorf("%q: %v %q %q\n%s", more, a.Calls, a.Text, a.Thought, a.Body)
		}
	}
	if n := len(server.Prompts()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// An Ollama that does not tell its prompt has answered the chat.
func TestUnparsedOldOllama(t *testing.T) {
	model := script.New(script.Scenario{Steps: []script.Reply{script.Text("Hello."), script.Text("Hello.")}})
	model.Dialect = servers.Ollama()
	r := submatches(t, "qwen3:8b", provider.Setup{}, model)
	for _, more := range []string{"", provider.Streaming + ","} {
		a := r.Chat(`{"model":"gpt-oss",` + more + provider.BothTools + `,"messages":[{"role":"user","content":"go"}]}`)
		if a.Text != "Hello." || a.Status != http.StatusOK {
			t.Errorf("%q: %d %s", more, a.Status, a.Body)
		}
	}
}

// llama.cpp is asked for the model's own words once its parser has refused a reply, in a stream, too.
func TestUnparsedLlama(t *testing.T) {
	var mu sync.Mutex // probes of the server come beside the request
	asked := map[string]int{}
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		say := func(text string) { _, _ = w.Write([]byte(text)) }
		switch r.URL.Path {
		case "/v1/chat/completions":
			w.WriteHeader(http.StatusInternalServerError)
			say(`{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format"}}`)
		case "/apply-template":
			say(`{"prompt":"<|im_start|>assistant\n<think>\n"}`)
		case "/v1/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			for _, text := range []string{"Hm.</th", "ink>I look.", `<tool_call>{"name":"read","arguments":{"path":"a"}}`, "</tool_call>"} {
				say(`data: {"choices":[{"index":0,"text":` + string(quotedAt(text)) + `,"finish_reason":null}],"object":"text_completion"}` + "\n\n")
			}
			say(`data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}],"object":"text_completion"}` + "\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	})
	r := submatches(t, "Qwen3-8B", provider.Setup{Server: "llamacpp"}, server)
	a := r.Chat(`{"model":"gpt-oss",` + provider.Streaming + `,` + provider.BothTools +
		`,"messages":[{"role":"user","content":"go"}]}`)
	if len(a.Calls) != 1 || a.Calls[0].Args != `{"path":"a"}` || strings.TrimSpace(a.Text) != "I look." || a.Thought != "Hm." {
		t.Errorf("%v %q %q\n%s", a.Calls, a.Text, a.Thought, a.Body)
	}
	mu.Lock()
	defer mu.Unlock()
	if asked["/v1/chat/completions"] != 1 || asked["/apply-template"] != 1 || asked["/v1/completions"] != 1 {
		t.Errorf("asked %v", asked)
	}
}

func quotedAt(s string) []byte {
	doc, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return doc
}
