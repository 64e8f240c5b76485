package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

const (
	chunkHead = `{"id":"chatcmpl-5b0f6c1e7d0b4d1f9a3c","object":"chat.completion.chunk","created":1760000000,"model":"openai/gpt-oss-120b","choices":[`
	vllmChunk = chunkHead + `{"index":0,"delta":{"content":" word and more"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`
)

// prose has three escapes in 150 bytes, and some letters that are not ASCII.
func prose(n int) string {
	const s = "The quick check of the directory listing shows \"main.go\" and a file called notes.md;\nwe need to read it first, then call the tool. – Größe: 12 KB. "
	return strings.Repeat(s, n/len(s)+1)[:n/len(s)*len(s)]
}

// body is a whole reply with so many bytes of reasoning and content.
func body(size int) []byte {
	text := prose(size)
	return []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1760000000,"model":"openai/gpt-oss-120b","choices":[{"index":0,"message":{"role":"assistant","content":` +
		string(AppendString(nil, text[:len(text)*2/3])) +
		`,"refusal":null,"tool_calls":[],"reasoning":` + string(AppendString(nil, text[len(text)*2/3:])) +
		`},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484}}`)
}

// schemas is a document that is mostly structure: the tools of a request.
func schemas(n int) []byte {
	tool := `{"type": "function", "function": {"name": "exec", "description": "Run shell; pty for TTY", "parameters": {"type": "object", "required": ["command"], "properties": {"command": {"type": "string"}, "timeoutSeconds": {"type": "number", "minimum": 0}, "pty": {"type": "boolean"}}}}}`
	return []byte(`{"tools":[` + strings.Repeat(tool+",", n-1) + tool + `]}`)
}

func BenchmarkScan(b *testing.B) {
	for name, doc := range map[string][]byte{"chat64k": body(64 << 10), "schemas": schemas(100),
		"chunk": []byte(vllmChunk)} {
		for _, way := range []struct {
			name string
			do   func([]byte) bool
		}{
			{"scan", func(doc []byte) bool {
				s := scanner{Scanner: jsontext.Scanner{Doc: doc}}
				s.Skip()
				return s.End() == nil
			}},
			{"gjson", gjson.ValidBytes},
			{"encoding-json", json.Valid},
		} {
			b.Run(name+"/"+way.name, func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				for b.Loop() {
					if !way.do(doc) {
						b.Fatal("not valid")
					}
				}
			})
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	for name, doc := range map[string]string{
		"content": vllmChunk,
		"first": chunkHead +
			`{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
		"arguments": chunkHead +
			`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" word\":"}}]},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(doc)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var c Completion
			for b.Loop() {
				if err := c.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" again", func(b *testing.B) {
			data := []byte(doc)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var c Chunks
			var texts jsontext.Block
			for b.Loop() {
				if err := c.Parse(data, &texts); err != nil {
					b.Fatal(err)
				}
				c.Release()
			}
		})
	}
}

func BenchmarkCompletion(b *testing.B) {
	for name, size := range map[string]int{"8k": 8 << 10, "64k": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			doc := body(size)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			var c Completion
			for b.Loop() {
				if err := c.Parse(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseRequest(b *testing.B) {
	system := string(AppendString(nil, prose(48<<10)))
	turn := `{"role":"user","content":"[Sat] go on"},{"role":"assistant","content":null,"tool_calls":[{"id":"call30","type":"function","function":{"name":"exec","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","content":` +
		string(AppendString(nil, prose(1<<10))) + `,"tool_call_id":"call30"}`
	doc := []byte(`{"model":"gpt-oss-20b","messages":[{"role":"system","content":` + system +
		`},` + strings.Repeat(turn+",", 9) + turn + `],"stream":true,` + string(schemas(12)[1:]))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseRequest(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := prose(64 << 10)
	dst := make([]byte, 0, 80<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendString(dst[:0], text)
	}
}

func BenchmarkEvents(b *testing.B) {
	stream := bytes.Repeat([]byte("data: "+vllmChunk+"\n\n"), 100)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		e := NewEventReader(bytes.NewReader(stream), 1<<20, 32<<20)
		n := 0
		for {
			if _, err := e.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			n++
		}
		e.Close()
		if n != 100 {
			b.Fatal(n)
		}
	}
}
