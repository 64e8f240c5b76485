package replay

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

func recordOf(t testing.TB, reasoning, content string) *Record {
	t.Helper()
	doc := openai.AppendString([]byte(`{"reasoning_content":`), reasoning)
	doc = append(openai.AppendString(append(doc, `,"content":`...), content), '}')
	return &Record{Message: doc, Tools: []json.RawMessage{[]byte(`"exec"`), []byte(`"read"`)}}
}

// written is a marked text, each piece behind its first letters.
func written(m []Marked) string {
	var b strings.Builder
	for _, f := range m {
		b.WriteString(string(f.Field) + "|")
		for _, s := range f.Spans {
			b.WriteString(string(s.As) + "(" + f.Text[s.From:s.To] + ")")
		}
	}
	return b.String()
}

// Each piece of a reply is marked as what it was read as.
func TestMark(t *testing.T) {
	set := ruletest.Shipped(t)
	for _, row := range []struct{ reasoning, content, want string }{
		{"", "Hello there.", "content|text(Hello there.)"},
		{"I think.", "Hello.", "reasoning|thought(I think.)content|text(Hello.)"},
		{"", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Done.", "content|header(<|channel|>analysis<|message|>)thought(Hm.)header(<|end|><|start|>assistant<|channel|>final<|message|>)text(Done.)"},
		{"", `<|channel|>commentary to=functions.read <|message|>{"path":"a"}<|call|>`, `content|header(<|channel|>commentary to=)repaired(functions.read)header( <|message|>)call({"path":"a"})header(<|call|>)`},
		{"", `<|channel|>commentary to=read <|message|>{"path":"a",}<|call|>`, `content|header(<|channel|>commentary to=read <|message|>)call({"path":"a")repaired(,)call(})header(<|call|>)`},
		{"", `analysisI look.assistantcommentary to=functions.exec json{"command":"ls"}`, `content|dropped(analysis)thought(I look.)header(assistantcommentary to=)repaired(functions.exec)header( json)call({"command":"ls"})`},
		{"", `<|channel|>commentary to=functions.nosuchtool <|message|>{"a":1}<|call|>`, `content|header(<|channel|>commentary to=functions.nosuchtool <|message|>)refused({"a":1})header(<|call|>)`},
		{"", "🙂 über\u202e", "content|text(🙂 über\u202e)"},
	} {
		got, err := Show(set, guard.World{}, "", recordOf(t, row.reasoning, row.content), 1<<20)
		ruletest.Must(t, err)
		if is := written(got.Marked); is != row.want {
			t.Errorf("%q %q:\n got %s\nwant %s", row.reasoning, row.content, is, row.want)
		}
	}
}

// Whatever a model writes, the spans are all of it, in order, and cut no character.
func FuzzMark(f *testing.F) {
	set := ruletest.Shipped(f)
	for _, name := range []string{"testdata/nothing", "marked_test.go"} {
		if text, err := os.ReadFile(name); err == nil {
			f.Add("", string(text))
		}
	}
	f.Add("think", "<|channel|>commentary to=functions.read <|message|>{'path':'a'}<|call|> and more")
	f.Add("to=functions.exec code{\"command\":\"ls\"}", "")
	f.Add("", "Thought: x\nAction: read\nAction Input: {\"path\": \"a\"}\nObservation: y")
	f.Fuzz(func(t *testing.T, reasoning, content string) {
		got, err := Show(set, guard.World{}, "", recordOf(t, reasoning, content), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got.Marked {
			var all strings.Builder
			for _, s := range m.Spans {
				if s.From >= s.To || s.From != all.Len() {
					t.Fatalf("%q has the span %+v behind %d bytes", m.Text, s, all.Len())
				}
				all.WriteString(m.Text[s.From:s.To])
			}
			if all.String() != m.Text {
				t.Fatalf("%q is marked as %q", m.Text, all.String())
			}
		}
	})
}

// However spans cover each other, each place is marked as the last one that covers it.
func FuzzSpans(f *testing.F) {
	f.Add([]byte{0, 9, 2, 4, 3, 8, 2, 4}, 12)
	f.Add([]byte{5, 6, 5, 6, 0, 12}, 12)
	f.Fuzz(func(t *testing.T, cuts []byte, long int) {
		long = 1 + max(0, long)%200
		l := layer{text: strings.Repeat("x", long)}
		want := make([]string, long)
		for i := range want {
			want[i] = string(AsHeader)
		}
		for i := 0; i+1 < len(cuts); i += 2 {
			from := int(cuts[i]) % long
			to := min(long, from+1+int(cuts[i+1])%20)
			as := As(string(rune('a' + i/2%26)))
			l.over = append(l.over, Span{From: from, To: to, As: as})
			for k := from; k < to; k++ {
				want[k] = string(as)
			}
		}
		var got []string
		for _, s := range l.spans() {
			for range s.To - s.From {
				got = append(got, string(s.As))
			}
		}
		if strings.Join(got, "") != strings.Join(want, "") {
			t.Fatalf("%v: got %v, want %v", cuts, got, want)
		}
	})
}
