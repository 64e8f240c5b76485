package upstream_test

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// What a real Ollama makes of damaged replies, streamed and whole, over its own API and where a proxy passes
// its chat completions alone: the call comes, and what was said before it stays.
func TestRealOllama(t *testing.T) {
	const (
		thinks   = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
		preamble = "<|channel|>commentary<|message|>Let me look at this now, please wait.<|end|><|start|>assistant"
		calls    = "<|channel|>commentary to=functions.read <|constrain|>json<|message|>"
		good     = thinks + calls + `{"path":"a.txt"}<|call|>`
		bad      = thinks + calls + `{'path': 'a.txt'}<|call|>`
		null     = `{"role":"user","content":"go"},{"role":"assistant","content":null,"reasoning_content":"Hm."},`
	)
	rows := []string{"<|channel|>", "final", "<|message|>", "A", " row:"}
	for range 40 {
		rows = append(rows, "=")
	}
	say := func(texts ...string) (out []modelserver.Reply) {
		for _, text := range texts {
			out = append(out, modelserver.Reply{Text: text})
		}
		return out
	}
	for _, row := range []struct {
		name    string
		says    []modelserver.Reply
		history string
		text    string // that the user reads of a stream
		call    bool
		last    string
		asked   int // at most; behind a proxy once more
	}{
		{"a good call", say(good), "", "", true, "tool_calls", 1},
		{"a bad call behind a thought", say(bad, bad), "", "", true, "tool_calls", 1},
		{"a bad call behind a preamble", say(thinks+preamble+calls+`{'path': 'a.txt'}<|call|>`, bad), "", "Let me look at this now", true, "tool_calls", 1},
		{"a row of equal pieces", []modelserver.Reply{{Pieces: rows}}, "", "broke off this reply (without a reason", false, "length", 1},
		{"null in the history", say(good), null, "", true, "tool_calls", 1},
	} {
		for _, mode := range []string{"stream", "whole"} {
			for _, proxied := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, proxied %v", row.name, mode, proxied), func(t *testing.T) {
					server := modelserver.Ollama(t)
					server.Say(row.says...)
					at, err := url.Parse(server.URL)
					ruletest.Must(t, err)
					behind := httputil.NewSingleHostReverseProxy(at)
					behind.FlushInterval = -1
					r := provider.Start(t, provider.Setup{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if proxied && r.URL.Path == "/api/chat" {
							http.NotFound(w, r)
							return
						}
						behind.ServeHTTP(w, r)
					}))
					stream := ""
					if mode == "stream" {
						stream = provider.Streaming + ","
					}
					a := r.Chat(fmt.Sprintf(`{%s%s,"model":"gpt-oss","messages":[%s{"role":"user","content":"go"}]}`, stream, provider.BothTools, row.history))
					called := len(a.Calls) == 1 && a.Calls[0].Name == "read" &&
						a.Calls[0].Args == `{"path":"a.txt"}`
					if a.Status != 200 || a.Fault.Message != "" || called != row.call || a.Last != row.last {
						t.Errorf("%d, %+v, ended by %q\n%s", a.Status, a.Calls, a.Last, a.Body)
					}
					if mode == "stream" && !strings.Contains(a.Text, row.text) {
						t.Errorf("the user reads %q", a.Text)
					}
					most := row.asked
					if proxied {
						most++
					}
					if n := len(server.Prompts()); n > most {
						t.Errorf("asked %d times", n)
					}
				})
			}
		}
	}
}
