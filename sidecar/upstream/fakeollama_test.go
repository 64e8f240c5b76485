package upstream_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
)

// ollama is a server that answers with what Ollama 0.17.4 sends, byte for byte, one reply for each request.
type ollama struct {
	t       testing.TB
	proxied bool // a proxy in front of it has chat completions alone
	replies []string
	asked   []string // bodies
}

const (
	ollamaThinks = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.780712276Z","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}` + "\n"
	ollamaSays   = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.781744868Z","message":{"role":"assistant","content":"I read the file. "},"done":false}` + "\n"
	ollamaCalls  = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.79623321Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_z5nwol2n","function":{"index":0,"name":"read","arguments":{"path":"a.txt"}}}]},"done":true,"done_reason":"stop","total_duration":3435448,"load_duration":1676455,"prompt_eval_count":144,"prompt_eval_duration":773019,"eval_count":28,"eval_duration":773061}` + "\n"
	ollamaRead   = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.79623321Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_z5nwol2n","function":{"index":0,"name":"exec","arguments":{"command":"ls","timeout":12345678901234567000}}}]},"done":true,"done_reason":"stop","prompt_eval_count":144,"eval_count":28}` + "\n"
	ollamaFault  = `{"error":"error parsing tool call: raw='{'path': 'a.txt'}', err=invalid character '\\'' looking for beginning of object key string"}` + "\n"
	ollamaLost   = `{"error":"error parsing tool call: raw='(((', err=invalid character '(' looking for beginning of value"}` + "\n"
	ollamaDies   = `{"error":"an error was encountered while running the model: unexpected EOF"}` + "\n"
	ollamaBlank  = `data: {"id":"chatcmpl-57","object":"chat.completion.chunk","created":1795893868,"model":"gpt-oss:20b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"I read the file. "},"finish_reason":null}]}` + "\n\n" +
		`data: {"id":"chatcmpl-57","object":"chat.completion.chunk","created":1795893868,"model":"","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
)

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/api/version":
		io.WriteString(w, `{"version":"0.17.4"}`)
	case path == "/v1/models":
		io.WriteString(w, `{"object":"list","data":[{"id":"gpt-oss:20b","object":"model","created":1795893673,"owned_by":"library"}]}`)
	case path == "/api/ps":
		io.WriteString(w, `{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","size":0,"context_length":8192}]}`)
	case path == "/v1/chat/completions" && o.proxied, path == "/api/chat" && !o.proxied:
		body, _ := io.ReadAll(r.Body)
		n := len(o.asked)
		if o.asked = append(o.asked, string(body)); n >= len(o.replies) {
			o.t.Errorf("request %d", n+1)
			return
		}
		reply := o.replies[n]
		switch {
		case strings.HasPrefix(reply, "data:"):
			w.Header().Set("Content-Type", "text/event-stream")
		case strings.HasPrefix(reply, `{"error"`):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
		case gjson.Get(o.asked[n], "stream").Bool():
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		io.WriteString(w, reply)
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// What Ollama makes of a damaged reply, and what the caller gets all the same.
func TestOllama(t *testing.T) {
	const cut = "broke off this reply (without a reason; Ollama does so"
	whole := strings.TrimSuffix(strings.Replace(ollamaCalls, `"content":""`, `"content":"","thinking":"Hm."`,
		1), "\n")
	null := `{"role":"user","content":"go"},{"role":"assistant","content":null,"reasoning_content":"Hm."},{"role":"user","content":"and now"}`
	for _, row := range []struct {
		name, mode string
		proxied    bool
		replies    []string
		messages   string // "": the usual one
		text       string // want: what it contains
		call       string // want
		last       string // want: finish_reason
	}{
		{"a good call", "stream", false, []string{ollamaThinks + ollamaCalls}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"a good call", "whole", false, []string{whole}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"a bad one behind a thought", "stream", false, []string{ollamaThinks + ollamaFault}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"a bad one behind a thought", "whole", false, []string{ollamaFault}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"a bad one behind a text", "stream", false, []string{ollamaThinks + ollamaSays + ollamaFault}, "", "I read the file. ", `{"path":"a.txt"}`, "tool_calls"},
		{"one that cannot be mended behind a text", "stream", false, []string{ollamaThinks + ollamaSays + ollamaLost, ollamaThinks + ollamaCalls}, "", "I read the file. ", `{"path":"a.txt"}`, "tool_calls"},
		{"a bad one in hidden words", "stream", true, []string{ollamaBlank, `data: {"model":"gpt-oss:20b","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"}, "", "I read the file. ", `{"path":"a.txt"}`, "tool_calls"},
		{"a text that it cut", "stream", false, []string{ollamaThinks + ollamaSays}, "", cut, "", "length"},
		{"a text that it cut", "whole", false, []string{`{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28Z","message":{"role":"assistant","content":"I read"},"done":false}`}, "", cut, "", "length"},
		{"nothing", "stream", false, []string{"", ""}, "", "There is no answer, because the model server broke off the reply without a reason; Ollama", "", "stop"},
		{"nothing at first", "whole", false, []string{`{"model":"","created_at":"0001-01-01T00:00:00Z","message":{"role":"","content":""},"done":false}`, whole}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"one that dies early", "stream", false, []string{ollamaDies, ollamaThinks + ollamaCalls}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"one that dies early", "whole", false, []string{ollamaDies, whole}, "", "", `{"path":"a.txt"}`, "tool_calls"},
		{"a history without content", "stream", false, []string{ollamaThinks + ollamaCalls}, null, "", `{"path":"a.txt"}`, "tool_calls"},
		{"a history without content", "whole", false, []string{whole}, null, "", `{"path":"a.txt"}`, "tool_calls"},
		{"an integer that it has rounded twice", "whole", false, []string{ollamaRead, ollamaRead}, "", "keeps no more than 15 digits of an integer, and made 12345678901234567000 of one.", "", "stop"},
		{"an integer that it has rounded", "stream", false, []string{ollamaThinks + ollamaRead, strings.Replace(ollamaRead, "12345678901234567000", `"12345678901234567890"`, 1)}, "", "", `{"command":"ls","timeout":12345678901234567890}`, "tool_calls"},
	} {
		t.Run(row.name+", "+row.mode, func(t *testing.T) {
			model := &ollama{t: t, proxied: row.proxied, replies: row.replies}
			r := provider.Start(t, provider.Setup{}, model)
			messages, stream := row.messages, ""
			if messages == "" {
				messages = `{"role":"user","content":"go"}`
			}
			if row.mode == "stream" {
				stream = provider.Streaming + ","
			}
			a := r.Chat(fmt.Sprintf(`{%s%s,"model":"gpt-oss","messages":[%s]}`, stream, provider.BothTools, messages))
			call := ""
			for _, c := range a.Calls {
				call += c.Args
			}
			if a.Status != 200 || a.Fault.Message != "" || !strings.Contains(a.Text, row.text) ||
				row.text == "" && a.Text != "" || call != row.call || a.Last != row.last ||
				a.Done != (row.mode == "stream") {
				t.Errorf("%d %q, call %q, ended by %q\n%s", a.Status, a.Text, call, a.Last, a.Body)
			}
			if len(model.asked) != len(row.replies) {
				t.Errorf("asked %d times", len(model.asked))
			}
			if row.messages != "" && !strings.Contains(model.asked[0], `"role":"assistant","content":""`) {
				t.Errorf("asked with %s", model.asked[0])
			}
		})
	}
}
