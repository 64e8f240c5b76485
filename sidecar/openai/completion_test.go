package openai

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

func mustComplete(t *testing.T, doc string) *Completion {
	t.Helper()
	var c Completion
	if err := c.Parse([]byte(doc)); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return &c
}

// delta and message wrap the inside of a delta or message as servers send it.
func delta(inside string) string {
	return chunkHead + `{"index":0,"delta":{` + inside +
		`},"logprobs":null,"finish_reason":null,"token_ids":null}]}`
}

func message(inside string) string {
	return `{"id":"c1","choices":[{"index":0,"message":{` + inside +
		`},"finish_reason":"stop"}],"usage":{"total_tokens":9},"timings":{"predicted_n":3}}`
}

func TestParseChunk(t *testing.T) {
	for _, row := range []struct{ doc, role, content, reasoning, finish string }{
		{delta(`"content":" w\u00e9"`), "", " wé", "", ""},
		{delta(`"role":"assistant","content":"","reasoning_content":null`), "assistant", "", "", ""},
		{delta(`"reasoning":"a"`), "", "", "a", ""},
		{delta(`"reasoning_content":"a","reasoning":"a"`), "", "", "a", ""},
		{delta(`"reasoning_content":null,"reasoning":"a"`), "", "", "a", ""},
		{delta(`"reasoning":"a","reasoning_content":""`), "", "", "a", ""},
		{delta(`"thinking":"a\"b"`), "", "", `a"b`, ""},
		{delta(`"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"x"},{"text":"b"}]`), "", "", "ab", ""},
		{delta(`"content":["a",{"type":"text","text":"b"},7,{"type":"image"},{"type":"thinking","thinking":"c"}],"reasoning":{}`), "", "ab", "c", ""},
		{delta(`"content":{"text":"none"}`), "", "", "", ""},
		{delta(`"content":"a","content":"b"`), "", "b", "", ""},
		{delta(`"refusal":"a","content":null`), "", "a", "", ""},
		{delta(`"content":"b","refusal":"a"`), "", "b", "", ""},
		{delta(``), "", "", "", ""},
		{`{"choices":[{"delta":{"content":"x"},"delta":{"role":"tool"}}]}`, "tool", "", "", ""},
		{`{"choices":[{"delta":{"content":"x"},"finish_reason":"length","delta":null}]}`, "", "", "", "length"},
		{`{"choices":[{"finish_reason":"tool_calls","index":0,"delta":null}]}`, "", "", "", "tool_calls"},
		{` { "choices" : [ { "message" : { "content" : "x" } , "finish_reason" : "odd" } ] } `, "", "x", "", "odd"},
	} {
		ch := mustComplete(t, row.doc).Choices[0]
		got := []string{ch.Role, ch.Content.Text, ch.Reasoning.Text, ch.Finish}
		if diff := cmp.Diff([]string{row.role, row.content, row.reasoning, row.finish}, got); diff != "" {
			t.Errorf("%s\n%s", row.doc, diff)
		}
	}
}

func TestParseCalls(t *testing.T) {
	c := mustComplete(t, delta(`"tool_calls":[{"index":1,"id":"c1","type":"function","function":{"name":"exec","arguments":"{\"a\""}},{"function":{"arguments":{"a":1}}},7,{"index":"x","id":null}]`))
	calls := c.Choices[0].Calls
	got := make([]Call, len(calls))
	for i, call := range calls {
		got[i] = Call{call.Index, call.ID, call.Name, call.Arguments}
	}
	want := []Call{{1, "c1", "exec", []byte(`{"a"`)}, {1, "", "", []byte(`{"a":1}`)}, {2, "", "", nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if of := string(calls[0].NameSpan.Of(c.Doc)) + string(calls[0].ArgsSpan.Of(c.Doc)) + string(calls[0].IDSpan.Of(c.Doc)); of != `"exec""{\"a\"""c1"` {
		t.Error(of)
	}
}

// Calls that stand where they should not, or in another form.
func TestParseForeignCalls(t *testing.T) {
	want := []Call{{0, "", "read", []byte(`{"path":"a"}`)}}
	for _, said := range []string{
		`"function_call":{"name":"read","arguments":"{\"path\":\"a\"}"}`,
		`"content":[{"type":"text","text":"I look."},{"type":"tool_use","name":"read","input":{"path":"a"}}]`,
		`"tool_calls":[{"type":"function","name":"read","arguments":"{\"path\":\"a\"}"}]`,
		`"tool_calls":[{"type":"function","function":{"name":"read","input":{"path":"a"}}}]`,
		`"tool_calls":[{"type":"function","function":{"name":"read","parameters":{"path":"a"}}}]`,
		`"content":[{"type":"tool_use","name":"b","input":{}}],"tool_calls":[{"function":{"name":"read","input":{"a":1},"arguments":{"path":"a"}}}]`,
	} {
		c := mustComplete(t, message(said))
		ch := &c.Choices[0]
		var got []Call
		for _, call := range ch.Calls {
			got = append(got, Call{call.Index, call.ID, call.Name, call.Arguments})
		}
		if diff := cmp.Diff(want, got); diff != "" || !ch.Foreign {
			t.Errorf("%s: foreign %v\n%s", said, ch.Foreign, diff)
		}
		text := ch.Content.Text
		out := Apply(c.Doc, append(c.Edits(0, Rewrite{Content: &text, Calls: want}), c.ReasoningEdits(ch)...))
		again := mustComplete(t, string(out))
		if ch := &again.Choices[0]; ch.Foreign || len(ch.Calls) != 1 || ch.Calls[0].Name != "read" ||
			ch.Content.Text != text {
			t.Errorf("%s is rewritten as %s", said, out)
		}
	}
}

func TestParseSeveralChoicesAndAgain(t *testing.T) {
	c := mustComplete(t, `{"choices":[{"index":1,"delta":{"content":"b","tool_calls":[{"id":"x"}]}},{"index":0,"delta":{"content":"a"}},null]}`)
	if len(c.Choices) != 2 || c.Choices[0].Index != 1 || c.Choices[1].Index != 0 ||
		c.Choices[1].Content.Text != "a" {
		t.Errorf("%+v", c.Choices)
	}
	if err := c.Parse([]byte(vllmChunk)); err != nil {
		t.Fatal(err)
	}
	fresh := mustComplete(t, vllmChunk)
	if len(c.Choices[0].Calls) != 0 || c.Choices[0].Content != fresh.Choices[0].Content ||
		c.Choices[0].FinishSpan != fresh.Choices[0].FinishSpan {
		t.Errorf("the chunk before shows through: %+v", c.Choices[0])
	}
}

func TestParseRest(t *testing.T) {
	c := mustComplete(t, message(`"content":null`))
	of := func(s Span) string { return string(s.Of(c.Doc)) }
	if of(c.Usage) != `{"total_tokens":9}` || of(c.Timings) != `{"predicted_n":3}` || of(c.ID) != `"c1"` ||
		of(c.Root) != string(c.Doc) {
		t.Errorf("%+v", c)
	}
	for _, row := range []struct{ doc, err string }{
		{`{"error":{"message":"m"}}`, `{"message":"m"}`},
		{`{"object":"error","message":"m","code":400}`, `{"object":"error","message":"m","code":400}`},
		{`{"choices":[],"error":null,"usage":null}`, ``},
		{`{"choices":[],"error":""}`, ``},
		{`{"choices":[],"error":false}`, ``},
		{`{"error":"m"}`, `"m"`},
	} {
		if c := mustComplete(t, row.doc); string(c.Err.Of(c.Doc)) != row.err || c.Usage.Present() {
			t.Errorf("%s: the error is %s", row.doc, c.Err.Of(c.Doc))
		}
	}
	for _, doc := range []string{``, `[DONE]`, `{"choices":[{"delta":{"content":"a`, `{"choices":[}`,
		"{\"choices\":[{\"delta\":{\"content\":\"a\nb\"}}]}"} {
		if err := new(Completion).Parse([]byte(doc)); err == nil {
			t.Errorf("%s: no error", doc)
		}
	}
	for _, doc := range []string{`null`, `7`, `[]`, `{"choices":{}}`, `{"choices":[1,"a"]}`} {
		if c := mustComplete(t, doc); len(c.Choices) != 0 {
			t.Errorf("%s: %+v", doc, c.Choices)
		}
	}
}

func TestChunkAllocatesSeldom(t *testing.T) {
	var c Completion
	doc := []byte(vllmChunk)
	if n := testing.AllocsPerRun(100, func() {
		if err := c.Parse(doc); err != nil {
			t.Fatal(err)
		}
	}); n > 0 { // one for very many
		t.Errorf("%v allocations", n)
	}
}

// FuzzChunk: what is read is what encoding/json reads there.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(vllmChunk))
	f.Add([]byte(delta(`"reasoning":"a","tool_calls":[{"id":"c1","function":{"name":"exec","arguments":"{\"a\":1}"}}]`)))
	f.Add([]byte(message(`"content":"\ud83d\ude00","reasoning_content":null,"reasoning":"x","content":1`)))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var c Completion
		err := c.Parse(doc)
		if (err == nil) != json.Valid(doc) && !strings.Contains(err.Error(), jsontext.TooDeep) {
			t.Fatalf("%q: %v", doc, err)
		}
		if err != nil {
			return
		}
		var root any
		if err := json.Unmarshal(doc, &root); err != nil {
			t.Skip("a number that Go cannot hold")
		}
		object, _ := root.(map[string]any)
		choices, _ := object["choices"].([]any)
		choices = slices.DeleteFunc(choices, func(v any) bool { _, ok := v.(map[string]any); return !ok })
		if len(choices) != len(c.Choices) {
			t.Fatalf("%q: %d choices, want %d", doc, len(c.Choices), len(choices))
		}
		for i := range c.Choices {
			checkChoice(t, doc, &c.Choices[i], choices[i].(map[string]any))
		}
		var again any
		var edits []Edit
		for i := range c.Choices {
			edits = append(edits, c.ReasoningEdits(&c.Choices[i])...)
		}
		if err := json.Unmarshal(Apply(doc, edits), &again); err != nil {
			t.Fatalf("%q: the reasoning moved is no JSON: %v", doc, err)
		}
	})
}

func checkChoice(t *testing.T, doc []byte, ch *Choice, want map[string]any) {
	checkValue(t, doc, ch.Span, want)
	if !ch.Body.Present() {
		return
	}
	key := "message"
	if ch.Streamed {
		key = "delta"
	}
	checkValue(t, doc, ch.Body, want[key])
	body := want[key].(map[string]any)
	role, _ := body["role"].(string)
	content, _ := body["content"].(string)
	if refusal, _ := body["refusal"].(string); content == "" {
		content = refusal
	}
	finish, _ := want["finish_reason"].(string)
	if ch.Role != role || ch.Content.Text != content || ch.Finish != finish {
		t.Fatalf("%q: %q %q %q", doc, ch.Role, ch.Content.Text, ch.Finish)
	}
	if key, ok := Text(doc, ch.Reasoning.Key); ok && key != "reasoning_details" {
		if reasoning, _ := body[key].(string); ch.Reasoning.Text != reasoning {
			t.Fatalf("%q: reasoning %q, want %q", doc, ch.Reasoning.Text, reasoning)
		}
	}
}
