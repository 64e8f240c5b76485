package sidecar_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// sentence is what replies are made of.
const sentence = "The folder holds \"main.go\" and notes.md;\nfirst read both – the larger has 12 KB, größer als erwartet. "

// BenchmarkRequest is one request through the whole sidecar, with a model server that costs little. Beside it
// stands a proxy that does nothing. Allocations count, more than times: they are the same on every machine.
func BenchmarkRequest(b *testing.B) {
	arguments := strconv.Quote(`{"path":"notes.md","content":` + strconv.Quote(strings.Repeat(sentence, 74)) + `}`)
	call := func(arguments string) string {
		return `"tool_calls":[{"index":0,"id":"chatcmpl-tool-4f1d0a","type":"function","function":{"name":"write","arguments":` + arguments + `}}]`
	}
	var streamed []string
	for i, arguments := 0, []rune(arguments[1:len(arguments)-1]); i < len(arguments); i += 16 {
		streamed = append(streamed, string(arguments[i:min(i+16, len(arguments))]))
	}
	streamed = whole(streamed)
	for i, piece := range streamed {
		if i == 0 {
			streamed[i] = call(`""`)
		} else {
			streamed[i] = `"tool_calls":[{"index":0,"function":{"arguments":"` + piece + `"}}]`
		}
	}
	words := strings.SplitAfter(strings.Repeat("word ", 64), " ")
	for i, word := range words {
		words[i] = `"content":"` + word + `"`
	}
	for _, cell := range []struct{ name, request, reply string }{
		{"text", asked("", 3, 0), document(`"content":`+strconv.Quote(strings.Repeat(sentence, 74)), "stop")},
		{"call", asked("", 3, 0), document(`"content":null,`+call(arguments), "tool_calls")},
		{"streamed call", asked(provider.Streaming+",", 3, 0), events(streamed, "tool_calls")},
		{"events", asked(provider.Streaming+",", 3, 0), events(words, "stop")},
		{"gateway", asked(provider.Streaming+",", 50, 40), events(words, "stop")},
	} {
		model := serve(b, cell.reply)
		at, err := url.Parse(model)
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []struct {
			name    string
			handler http.Handler
		}{
			{"proxy", httputil.NewSingleHostReverseProxy(at)},
			{"sidecar", provider.Start(b, provider.Setup{URL: model + "/v1", Server: "vllm", Level: slog.LevelWarn,
				World: guard.NewWorld(guard.Machine{})}, nil).Sidecar.Handler()},
		} {
			b.Run(cell.name+"/"+way.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					r := httptest.NewRequest(http.MethodPost, model+"/v1/chat/completions",
						strings.NewReader(cell.request))
					way.handler.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}

// whole joins pieces that were cut within an escape.
func whole(pieces []string) (joined []string) {
	joined = []string{""}
	for _, piece := range pieces {
		for strings.HasSuffix(joined[len(joined)-1], `\`) && piece != "" {
			joined[len(joined)-1] += piece[:1]
			piece = piece[1:]
		}
		joined = append(joined, piece)
	}
	return joined
}

// asked is a request with so many tools and earlier messages.
func asked(more string, tools, messages int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"gpt-oss",%s"temperature":0.2,"max_tokens":700,"messages":[{"role":"system","content":%s}`,
		more, strconv.Quote("You are a careful assistant. "+strings.Repeat(sentence, 40)))
	for i := range messages {
		id := strings.Repeat("A", 25) + string(rune('A'+i/2)) // as openai.NewCallID makes them
		if i%2 == 1 {
			fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call%s","content":%s}`, id,
				strconv.Quote(strings.Repeat(sentence, 20)))
			continue
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call%s","type":"function","function":{"name":"read","arguments":"{\"path\":\"file%d\"}"}}]}`, id, i)
	}
	b.WriteString(`,{"role":"user","content":"Write a short note about the folder.\nRuntime: agent=main | session=agent:main:main | channel=webchat"}],"tools":[`)
	for i := range tools {
		name := []string{"write", "read", "web_search"}[i%3]
		if i > 2 {
			name += strconv.Itoa(i)
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":%q,"description":%s,"parameters":{"type":"object","properties":{"path":{"type":"string","description":"Where the file lies"},"content":{"type":"string"},"offset":{"type":"integer"},"mode":{"enum":["a","b"]}},"required":["path"]}}},`,
			name, strconv.Quote(strings.Repeat(sentence, tools/10)))
	}
	return strings.TrimSuffix(b.String(), ",") + `],"tool_choice":"auto"}`
}

// document and events are replies of vLLM, as they go over the wire.
func document(message, finish string) string {
	body := `{"id":"chatcmpl-5b0f6c1e7d0b4d1f9a3c","object":"chat.completion","created":1760000000,"model":"openai/gpt-oss-120b","choices":[{"index":0,"message":{"role":"assistant",` +
		message + `,"refusal":null,"reasoning":"We write it.","reasoning_content":"We write it."},"logprobs":null,"finish_reason":"` +
		finish + `","stop_reason":null}],"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484}}`
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
}

func events(deltas []string, finish string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
	add := func(choice string) {
		event := `data: {"id":"chatcmpl-5b0f6c1e7d0b4d1f9a3c","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-120b","choices":[` +
			choice + `],"usage":null}` + "\n\n"
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(event), event)
	}
	add(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`)
	for _, delta := range deltas {
		add(`{"index":0,"delta":{` + delta + `},"logprobs":null,"finish_reason":null}`)
	}
	add(`{"index":0,"delta":{},"logprobs":null,"finish_reason":"` + finish + `","stop_reason":null}`)
	return b.String() + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
}

// serve is a model server that gives this reply to every POST.
func serve(b *testing.B, reply string) (url string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	models := `{"object":"list","data":[{"id":"gpt-oss","object":"model","created":1760000000,"owned_by":"vllm","max_model_len":131072}]}`
	models = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(models), models)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				defer conn.Close()
				for in := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					says := models
					if r.Method == http.MethodPost {
						says = reply
					}
					if _, err := io.WriteString(conn, says); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}
