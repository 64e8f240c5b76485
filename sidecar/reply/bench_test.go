package reply

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/ruletest"
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

func benchWhole(b *testing.B, size int, prefix string) {
	set, m := ruletest.Shipped(b), telemetry.New()
	c := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}, {Name: "write"}, {Name: "web_search"}})
	doc := completionOf(size, prefix)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		o := NewWhole(nowhere{http.Header{}}, "gpt-oss", m)
		r := turn.NewReader(func() *parse.Reader { return set.Strategies("").Reader(c, parse.Facts{}) }, false, o.Take)
		if err := r.Document(doc); err != nil {
			b.Fatal(err)
		}
		r.End("")
		if err := o.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWhole8KBClean(b *testing.B)   { benchWhole(b, 8<<10, "") }
func BenchmarkWhole8KBEdited(b *testing.B)  { benchWhole(b, 8<<10, "Final Answer: ") }
func BenchmarkWhole64KBClean(b *testing.B)  { benchWhole(b, 64<<10, "") }
func BenchmarkWhole64KBEdited(b *testing.B) { benchWhole(b, 64<<10, "Final Answer: ") }
