package sidecar

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// shippedSet loads the rules that are built into the binary.
func shippedSet(t testing.TB) *ruleset.Set {
	t.Helper()
	set, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// completionOf is a reply like vLLM's, of about size bytes.
func completionOf(size int, prefix string) []byte {
	const s = "The quick check of the directory listing shows \"main.go\" and a file called notes.md;\nwe need to read it first, then call the tool. – Größe: 12 KB. "
	fill := strings.Repeat(s, size/len(s)/4+1)
	content := openai.AppendString(nil, prefix+strings.Repeat(fill, 2))
	thought := openai.AppendString(nil, fill)
	return fmt.Appendf(nil, `{"id":"chatcmpl-5b0f","object":"chat.completion","created":1760000000,"model":"gpt-oss","choices":[{"index":0,"message":{"role":"assistant","content":%s,"tool_calls":[],"reasoning":%s,"reasoning_content":%s},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1820,"total_tokens":2304,"completion_tokens":484}}`, content, thought, thought)
}

func benchWhole(b *testing.B, size int, prefix string) {
	set := shippedSet(b)
	s := &Server{thoughts: state.NewThoughts(10), metrics: telemetry.New(), log: slog.New(slog.DiscardHandler)}
	c := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}, {Name: "write"}, {Name: "web_search"}})
	t := &turn{s: s, set: set, catalog: c, strategies: set.Strategies(""), facts: parse.Facts{}}
	doc := completionOf(size, prefix)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		o := &whole{t: t}
		if err := o.doc.ParseSkipping(doc, parse.PlainThought); err != nil {
			b.Fatal(err)
		}
		o.read()
		if out := openai.Apply(doc, o.all()); len(out) < size/2 {
			b.Fatal("lost")
		}
	}
}

func BenchmarkWhole8KBClean(b *testing.B)   { benchWhole(b, 8<<10, "") }
func BenchmarkWhole8KBEdited(b *testing.B)  { benchWhole(b, 8<<10, "Final Answer: ") }
func BenchmarkWhole64KBClean(b *testing.B)  { benchWhole(b, 64<<10, "") }
func BenchmarkWhole64KBEdited(b *testing.B) { benchWhole(b, 64<<10, "Final Answer: ") }
