package openai

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// same fails unless Chunks reads a chunk as Completion does.
func same(t interface{ Fatalf(string, ...any) }, c *Chunks, texts *jsontext.Block, doc string) {
	var want Completion
	wrong := want.Parse([]byte(doc))
	err := c.Parse([]byte(doc), texts)
	if fmt.Sprint(err) != fmt.Sprint(wrong) {
		t.Fatalf("%s: %v; want %v", doc, err, wrong)
	}
	got := c.Last
	want.texts, got.texts = jsontext.Block{}, jsontext.Block{}
	if err == nil && fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Fatalf("%s:\n%+v\nwant\n%+v", doc, got, want)
	}
}

// Chunks that repeat the one before, or nearly do, are read as each of them alone.
func TestChunks(t *testing.T) {
	shapes := []string{
		`{"id":"1","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":{"content":%s},"logprobs":null,"finish_reason":null}]}`,
		`{"choices":[{"delta":{"role":"assistant","content":"","reasoning_content":%s},"index":1}],"id":"1","model":"m"}`,
		`{"choices":[{"delta":{"content":"a","reasoning":%s}}]}`,
		`{"choices":[{"delta":{"reasoning":%s,"reasoning_content":"b"}}]}`,
		`{"choices":[{"delta":{"content":null,"reasoning_details":[{"text":%s}]}}]}`,
		`{"choices":[{"delta":{"content":[{"type":"text","text":%s}]}}]}`,
		`{"choices":[{"delta":{"refusal":%s}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]},"finish_reason":null}],"created":5}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":%s}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"b"}},{"index":1,"function":{"arguments":%s}}]}}]}`,
		`{"choices":[{"delta":{"function_call":{"name":"read","arguments":%s}}}]}`,
		`{"choices":[{"delta":{"content":%s}},{"index":1,"delta":{"content":"b"}}]}`,
		`{"choices":[{"delta":{"content":"b","content":%s},"finish_reason":"stop"}],"usage":{"total_tokens":3},"timings":{"cache_n":1}}`,
		`{"error":{"message":%s}}`,
	}
	values := []string{`"a"`, `"b"`, `" word \n more"`, `""`, `"\""`, `"\u00e9\ud83d\ude00"`, "\"\xff\"", `null`, `{"a":1}`, `"a","x":"b"`, `"`, `"a`,
		`"a"}`, `"\x"`, `"` + strings.Repeat("long ", 100) + `"`}
	rapid.Check(t, func(t *rapid.T) {
		var c Chunks
		var texts jsontext.Block
		shape := ""
		for range rapid.IntRange(1, 12).Draw(t, "chunks") {
			if shape == "" || rapid.IntRange(0, 3).Draw(t, "another") == 0 {
				shape = rapid.SampledFrom(shapes).Draw(t, "shape")
			}
			same(t, &c, &texts, fmt.Sprintf(shape, rapid.SampledFrom(values).Draw(t, "value")))
			if rapid.Bool().Draw(t, "released") {
				c.Release()
			}
		}
	})
}

// What was read of a chunk does not change with the next one.
func TestChunksKeepTexts(t *testing.T) {
	var c Chunks
	var texts jsontext.Block
	var got []string
	for _, word := range []string{"one", "two", "three", "four"} {
		if err := c.Parse([]byte(`{"choices":[{"delta":{"content":"`+word+`"}}]}`), &texts); err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Last.Choices[0].Content.Text)
		c.Release()
		if text := c.Last.Choices[0].Content.Text; text != "" || c.Last.Doc != nil {
			t.Errorf("%q, %s after the release", text, c.Last.Doc)
		}
	}
	if want := []string{"one", "two", "three", "four"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func FuzzChunks(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"\u00e9"}}]}`)
	f.Add(`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"},"b":"a"}}]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		var c Chunks
		var texts jsontext.Block
		for _, doc := range []string{first, second, first, second} {
			same(t, &c, &texts, doc)
			c.Release()
		}
	})
}
