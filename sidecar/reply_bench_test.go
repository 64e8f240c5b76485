package sidecar

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// completionOf is a reply like vLLM's, of about size bytes.
func completionOf(size int, prefix string) []byte {
	const s = "The quick check of the directory listing shows \"main.go\" and a file called notes.md;\nwe need to read it first, then call the tool. – Größe: 12 KB. "
	fill := strings.Repeat(s, size/len(s)/4+1)
	content := openai.AppendString(nil, prefix+strings.Repeat(fill, 2))
	thought := openai.AppendString(nil, fill)
	return fmt.Appendf(nil, `{"id":"chatcmpl-5b0f","object":"chat.completion","created":1760000000,"model":"gpt-oss","choices":[{"index":0,"message":{"role":"assistant","content":%s,"tool_calls":[],"reasoning":%s,"reasoning_content":%s},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484}}`, content, thought, thought)
}

// nowhere takes what is written.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// sinks are those that answer callers, each as one is made.
var sinks = map[string]func(stream bool, m *telemetry.Metrics) (turn.Sink, func()){
	"chat": func(stream bool, m *telemetry.Metrics) (turn.Sink, func()) {
		if !stream {
			o := NewWhole(nowhere{http.Header{}}, "gpt-oss", time.Minute, m)
			return o, o.Stop
		}
		o := newStream(nowhere{http.Header{}}, sinkConfig{Model: "gpt-oss", Usage: true,
			Keepalive: time.Minute, RoleWait: time.Minute, Metrics: m, Log: slog.New(slog.DiscardHandler)})
		return o, o.Stop
	},
	"responses": func(stream bool, _ *telemetry.Metrics) (turn.Sink, func()) {
		o := newResponse(nowhere{http.Header{}}, sinkConfig{Params: &responseParams{}, Model: "gpt-oss",
			Stream: stream, Keepalive: time.Minute, RoleWait: time.Minute,
			Log: slog.New(slog.DiscardHandler)})
		return o, o.Stop
	},
}

// bench answers the same reply over and over, over each API.
func bench(b *testing.B, stream bool, size int, read func(*turn.Reader) error) {
	set, m := ruletest.Shipped(b), telemetry.New()
	c := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}, {Name: "write"}, {Name: "web_search"}})
	for _, api := range []string{"chat", "responses"} {
		b.Run(api, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				o, stop := sinks[api](stream, m)
				o.Begin("")
				r := turn.NewReader(func() *parse.Reader {
					return set.Strategies("").Reader(c, parse.Facts{})
				}, o.Flows(), o.Take)
				if err := read(r); err != nil {
					b.Fatal(err)
				}
				r.End("")
				if err := o.Finish(); err != nil {
					b.Fatal(err)
				}
				stop()
			}
		})
	}
}

func benchWhole(b *testing.B, size int, prefix string) {
	doc := completionOf(size, prefix)
	bench(b, false, len(doc), func(r *turn.Reader) error { return r.Document(doc) })
}

func BenchmarkWhole8KBClean(b *testing.B)   { benchWhole(b, 8<<10, "") }
func BenchmarkWhole8KBEdited(b *testing.B)  { benchWhole(b, 8<<10, "Final Answer: ") }
func BenchmarkWhole64KBClean(b *testing.B)  { benchWhole(b, 64<<10, "") }
func BenchmarkWhole64KBEdited(b *testing.B) { benchWhole(b, 64<<10, "Final Answer: ") }

// A reply as gpt-oss gives it: a hundred tokens of thought, four hundred of text.
func BenchmarkStream500Tokens(b *testing.B) {
	body := strings.Repeat(event(`"reasoning_content":" thought"`, "null"),
		100) + strings.Repeat(event(`"content":" token"`, "null"), 400) + event("", `"stop"`) + end
	bench(b, true, len(body), streamed(body))
}
