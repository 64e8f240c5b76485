package openai

import (
	"strings"
	"testing"
)

func TestReasoningEdits(t *testing.T) {
	for _, row := range []struct{ from, to string }{
		{`"content":"x"`, `"content":"x"`},
		{`"reasoning":"a\n"`, `"reasoning_content":"a\n"`},
		{`"reasoning":"","content":"x"`, `"reasoning":"","content":"x"`},
		{`"reasoning":null`, `"reasoning":null`},
		{`"thinking":"a"`, `"reasoning_content":"a"`},
		{`"reasoning":"a","reasoning_content":"b"`, `"reasoning":"a","reasoning_content":"b"`},
		{`"reasoning":"a","reasoning_content":null`, `"reasoning":"a","reasoning_content":"a"`},
		{`"reasoning_content":"", "reasoning":"a"`, `"reasoning_content":"a", "reasoning":"a"`},
		{`"reasoning_details":[{"text":"a"}]`, `"reasoning_content":"a","reasoning_details":[{"text":"a"}]`},
		{`"reasoning_content":null,"reasoning_details":[{"text":"a"}]`, `"reasoning_content":"a","reasoning_details":[{"text":"a"}]`},
	} {
		for _, wrap := range []func(string) string{delta, message} {
			c := mustComplete(t, wrap(row.from))
			if got := string(Apply(c.Doc, c.ReasoningEdits(&c.Choices[0]))); got != wrap(row.to) {
				t.Errorf("%s became %s", row.from, got)
			}
		}
	}
	two := `{"choices":[{"delta":{"reasoning":"a"}},{"delta":{"reasoning":"b"}}]}`
	c := mustComplete(t, two)
	if got := string(Apply(c.Doc, c.ReasoningEdits(&c.Choices[1]))); got != strings.ReplaceAll(two,
		`reasoning":"b`, `reasoning_content":"b`) {
		t.Error(got)
	}
}

func TestEdits(t *testing.T) {
	text := func(s string) *string { return &s }
	exec := []Call{{Index: 0, ID: "call1", Name: "exec", Arguments: []byte(`{"a":"b"}`)}}
	const execJSON = `{"id":"call1","type":"function","function":{"name":"exec","arguments":"{\"a\":\"b\"}"}}`
	for _, row := range []struct {
		from string
		w    Rewrite
		to   string
	}{
		{`"content":"x","logprobs":1`, Rewrite{}, `"content":"x","logprobs":1`},
		{`"content":"x","logprobs":1`, Rewrite{Content: text("a\"b")}, `"content":"a\"b","logprobs":1`},
		{`"role":"assistant"`, Rewrite{Content: text("")}, `"content":"","role":"assistant"`},
		{`"content":"x"`, Rewrite{Content: text(""), Calls: exec}, `"tool_calls":[` + execJSON + `],"content":null`},
		{`"content":"x","tool_calls":[]`, Rewrite{Calls: exec}, `"content":"x","tool_calls":[` + execJSON + `]`},
		{`"content":"x","tool_calls":null`, Rewrite{Calls: exec}, `"content":"x","tool_calls":[` + execJSON + `]`},
		{`"tool_calls":[{"id":"x"}]`, Rewrite{Calls: []Call{}}, `"tool_calls":[]`},
		{`"tool_calls":[ {"function":{"arguments":"{\"a\":\u0022b\"}","name":"exec"},"type":"function","id":"x-1","x":1}]`, Rewrite{Calls: exec},
			`"tool_calls":[ {"function":{"arguments":"{\"a\":\u0022b\"}","name":"exec"},"type":"function","id":"call1","x":1}]`},
		{`"tool_calls":[{"id":"x","type":"function","function":{"arguments":{"a":"b"},"name":"exec"}}]`, Rewrite{Calls: exec}, `"tool_calls":[` + execJSON + `]`},
		{`"tool_calls":[{"id":"x","type":"function","function":{"arguments":"{}","name":"exec"}}]`, Rewrite{Calls: exec}, `"tool_calls":[` + execJSON + `]`},
		{`"tool_calls":[{"id":"x","function":{"arguments":"{\"a\":\"b\"}","name":"exec"}}]`, Rewrite{Calls: exec}, `"tool_calls":[` + execJSON + `]`},
		{`"tool_calls":[{"type":"function","function":{"arguments":"{\"a\":\"b\"}","name":"exec"}}]`, Rewrite{Calls: exec}, `"tool_calls":[` + execJSON + `]`},
		{`"content":"x"`, Rewrite{Calls: []Call{}}, `"content":"x"`},
		{`"content":"x","tool_calls":null`, Rewrite{Calls: []Call{}}, `"content":"x","tool_calls":null`},
		{``, Rewrite{Reasoning: text("r")}, `"reasoning_content":"r"`},
		{`"reasoning":"x"`, Rewrite{Reasoning: text("r")}, `"reasoning_content":"r","reasoning":"r"`},
		{`"reasoning_content":"x","thinking":"x","reasoning_details":[{"text":"x"}]`, Rewrite{Reasoning: text("")}, `"reasoning_content":null,"thinking":null,"reasoning_details":[]`},
	} {
		c := mustComplete(t, message(row.from))
		if got := string(Apply(c.Doc, c.Edits(0, row.w))); got != message(row.to) {
			t.Errorf("%s became %s", row.from, got)
		}
	}
	c := mustComplete(t, `{"choices":[{"delta":{"content":"x"}},{"delta":{},"finish_reason":null}]}`)
	edits := append(c.Edits(0, Rewrite{Calls: exec, Finish: "tool_calls"}),
		c.Edits(1, Rewrite{Finish: "stop"})...)
	want := `{"choices":[{"finish_reason":"tool_calls","delta":{"tool_calls":[{"index":0,` + execJSON[1:] +
		`],"content":"x"}},{"delta":{},"finish_reason":"stop"}]}`
	if got := string(Apply(c.Doc, edits)); got != want {
		t.Error(got)
	}
	if c := mustComplete(t, `{"choices":[{"text":"x"}]}`); c.Edits(0, Rewrite{Finish: "stop"}) != nil {
		t.Error("a choice without a message is edited")
	}
}

func TestUsageFromTimings(t *testing.T) {
	for _, row := range []struct{ timings, want string }{
		{`{"cache_n":236,"prompt_n":4,"prompt_ms":30.9,"predicted_n":35}`, `{"prompt_tokens":240,"completion_tokens":35,"total_tokens":275,` +
			`"prompt_tokens_details":{"cached_tokens":236},"completion_tokens_details":{"reasoning_tokens":0}}`},
		{`{"predicted_n":"35","prompt_n":null,"cache_n":1.5}`, `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,` +
			`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}`},
		{`{"prompt_n":4}`, ""},
		{``, ""},
	} {
		doc := []byte(row.timings)
		if got := UsageFromTimings(doc, Span{To: len(doc)}); string(got) != row.want {
			t.Errorf("%s: %s", row.timings, got)
		}
	}
}

func TestReadFault(t *testing.T) {
	for _, row := range []struct {
		doc  string
		want Fault
		ok   bool
	}{
		{`{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, Fault{"m", "t", "c", "p"}, true},
		{`{"error":{"message":"m","type":"BadRequestError","param":null,"code":400,"n_ctx":4096}}`, Fault{"m", "BadRequestError", "400", ""}, true},
		{`{"object":"error","message":"m","type":"t","param":null,"code":400}`, Fault{"m", "t", "400", ""}, true},
		{`{"code":50005,"message":"m"}`, Fault{"m", "", "50005", ""}, true},
		{`{"error":"model not found"}`, Fault{Message: "model not found"}, true},
		{`{"detail":"Not Found"}`, Fault{Message: "Not Found"}, true},
		{`{"detail":[{"loc":["body"]}]}`, Fault{Message: `[{"loc":["body"]}]`}, true},
		{`{"error":{}}`, Fault{}, true},
		{`{"error":null,"choices":[]}`, Fault{}, false},
		{`{"object":"chat.completion","message":"x"}`, Fault{Message: "x"}, false},
		{`<html>`, Fault{}, false},
		{``, Fault{}, false},
		{`[]`, Fault{}, false},
	} {
		if got, ok := ReadFault([]byte(row.doc)); ok != row.ok || ok && got != row.want {
			t.Errorf("%s: %+v, %v", row.doc, got, ok)
		}
	}
}
