package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// What another API answers, as the whole content of a reply, is read; a text that merely holds such
// records stays text. Cut in any way it reads the same.
func TestAnswersOfOtherAPIs(t *testing.T) {
	call := `{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}`
	completion := func(message string) string {
		return `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":` + message + `,"finish_reason":"tool_calls"}],"usage":{"total_tokens":9}}`
	}
	message := `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`
	const a, b = `read{"path":"a"}`, `read{"path":"b"}`
	for name, w := range map[string]struct{ text, calls, shows string }{
		"completion":           {completion(message), a, ""},
		"completion with text": {completion(`{"role":"assistant","content":"I look.","tool_calls":[` + call + `]}`), a, "I look."},
		"completion, no calls": {completion(`{"role":"assistant","content":"Hello"}`), "", completion(`{"role":"assistant","content":"Hello"}`)},
		"completion, another role": {completion(`{"role":"user","content":null,"tool_calls":[` + call + `]}`), "",
			completion(`{"role":"user","content":null,"tool_calls":[` + call + `]}`)},
		"two choices": {`{"choices":[{"message":` + message + `},{"message":` + message + `}]}`, "",
			`{"choices":[{"message":` + message + `},{"message":` + message + `}]}`},
		"an example": {`{"example":` + completion(message) + `}`, "",
			`{"example":` + completion(message) + `}`},
		"a note beside": {`{"note":"x","choices":[{"message":` + message + `}]}`, "",
			`{"note":"x","choices":[{"message":` + message + `}]}`},
		"text behind": {completion(message) + "\n\nThis is what the API answers.", "",
			completion(message) + "\n\nThis is what the API answers."},
		"text in front": {"The API answers:\n" + completion(message), "",
			"The API answers:\n" + completion(message)},
		"a request": {`{"model":"m","messages":[{"role":"user","content":"x"},` + message + `]}`, "",
			`{"model":"m","messages":[{"role":"user","content":"x"},` + message + `]}`},
		"a record": {`[{"role":"assistant","content":"x"},` + message + `]`, "",
			`[{"role":"assistant","content":"x"},` + message + `]`},
		"Bedrock":         {`{"toolUse":{"toolUseId":"t","name":"read","input":{"path":"a"}}}`, a, ""},
		"Bedrock, whole":  {`{"output":{"message":{"role":"assistant","content":[{"text":"I look."},{"toolUse":{"toolUseId":"t","name":"read","input":{"path":"a"}}},{"toolUse":{"toolUseId":"u","name":"read","input":{"path":"b"}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1}}`, a + " " + b, "I look."},
		"Anthropic":       {`{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}}`, a, ""},
		"Anthropic, list": {`[{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}}]`, a, "I look."},
		"Anthropic, message": {`{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{}}`,
			a, ""},
		"Anthropic, with its result": {`[{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}},{"type":"tool_result","tool_use_id":"t","content":"x"}]`, "",
			`[{"type":"tool_use","id":"t","name":"read","input":{"path":"a"}},{"type":"tool_result","tool_use_id":"t","content":"x"}]`},
		"Gemini":        {`{"functionCall":{"name":"read","args":{"path":"a"}}}`, a, ""},
		"Gemini, whole": {`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"x"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{},"modelVersion":"g"}`, a, ""},
		"Responses":     {`{"type":"function_call","id":"f","call_id":"c","name":"read","arguments":"{\"path\":\"a\"}","status":"completed"}`, a, ""},
		"Responses, whole": {`{"id":"r","object":"response","status":"completed","model":"m","error":null,"output":[{"id":"f","type":"function_call","status":"completed","call_id":"c","name":"read","arguments":"{\"path\":\"a\"}"}]}`,
			a, ""},
		"Responses, with a thought": {`{"output":[{"type":"reasoning","summary":[]},{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}"}]}`, a, ""},
		"Ollama":                    {`{"model":"m","created_at":"x","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]},"done":true,"done_reason":"stop","eval_count":1}`, a, ""},
		"LangChain":                 {`{"tool":"read","tool_input":{"path":"a"}}`, a, ""},
		"JSON-RPC":                  {`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}`, a, ""},
		"JSON-RPC, another one":     {`{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"read","arguments":{"path":"a"}}}`, "", `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"read","arguments":{"path":"a"}}}`},
		"nobody's tool":             {`{"toolUse":{"name":"launch","input":{"path":"a"}}}`, "", ""},
		"LM Studio, twice": {`[TOOL_REQUEST]{"name":"read","arguments":{"path":"a"}}[END_TOOL_REQUEST]` + "\n" + `[TOOL_REQUEST]{"name":"read","arguments":{"path":"b"}}[END_TOOL_REQUEST]`,
			a + " " + b, ""},
		"LM Studio, in the answer": {`<|channel|>final<|message|>[TOOL_REQUEST]{"name":"read","arguments":{"path":"a"}}[END_TOOL_REQUEST]<|return|>`, a, ""},
		"LM Studio, quoted":        {"Write `[TOOL_REQUEST]{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}[END_TOOL_REQUEST]`.", "", "Write `[TOOL_REQUEST]{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}[END_TOOL_REQUEST]`."},
		"Python":                   {`ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageToolCall(id='c', function=Function(arguments='{"path":"a"}', name='read'), type='function')])`, a, ""},
		"Python, escaped": {`ChatCompletionMessage(content=None, tool_calls=[ChatCompletionMessageToolCall(id='c', function=Function(arguments='{"path":"a\\"}', name='read'), type='function')])`, "",
			`ChatCompletionMessage(content=None, tool_calls=[ChatCompletionMessageToolCall(id='c', function=Function(arguments='{"path":"a\\"}', name='read'), type='function')])`},
	} {
		s, c := shipped.Strategies(""), offeredForFuzz()
		got := readPieces(s, c, []string{w.text}, "stop")
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != w.calls || w.calls+w.shows != "" &&
			squeeze(strings.ReplaceAll(got.Content, "\u200b", "")) != squeeze(w.shows) {
			t.Errorf("%s: gives %s, shows %q, refused %v", name, calls, got.Content, got.Refused)
		}
		sameReading(t, s, c, name, w.text)
	}
}

// However a server's own call comes in pieces, it is the same.
func TestPiecesOfServerCalls(t *testing.T) {
	for _, own := range [][]parse.CallDelta{
		{{Index: 0, ID: "a", Name: "read", Arguments: []byte(`{"path":"no`)}, {Index: 1, Arguments: []byte(`tes.md"}`)}},
		{{Index: 0, ID: "a", Name: "read", Arguments: []byte(`{"path":"a"}<|call|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{"path":"b"}`)}},
		{{Index: 0, ID: "a", Name: "read", Arguments: []byte(`{"path":"a`)}, {Index: 1, ID: "b", Name: "read", Arguments: []byte(`{"path":"b"}`)}},
		{{Index: 0, ID: "a", Name: "", Arguments: []byte(`functions.read <|constrain|>json<|message|>{"path":"a"}`)}},
	} {
		var whole []parse.Delta
		var pieces []parse.Delta
		for _, c := range own {
			whole = append(whole, parse.Delta{Calls: []parse.CallDelta{c}})
			pieces = append(pieces, parse.Delta{Calls: []parse.CallDelta{{Index: c.Index, ID: c.ID,
				Name: c.Name}}})
			for i := range c.Arguments {
				pieces = append(pieces, parse.Delta{Calls: []parse.CallDelta{{Index: c.Index,
					Arguments: c.Arguments[i : i+1]}}})
			}
		}
		want, _ := readDeltas(shipped.Strategies(""), "tool_calls", whole...)
		got, _ := readDeltas(shipped.Strategies(""), "tool_calls", pieces...)
		if diff := differ(want, got); diff != "" || len(want.Calls) == 0 {
			t.Errorf("%s: %v\n%s", own[0].Arguments, want.Calls, diff)
		}
	}
}

// The text and the server's own field give the same calls: each is made once, also one that reads, in front of
// one that changes something.
func TestBothFieldsHaveTheCalls(t *testing.T) {
	const read, exec = `{"path":"a"}`, `{"command":"ls"}`
	got, _ := readDeltas(shipped.Strategies(""), "tool_calls", parse.Delta{Content: `<|start|>assistant<|channel|>commentary to=functions.read<|message|>` + read +
		`<|call|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>` + exec + `<|call|>`},
		piece(0, "a", "read", read), piece(1, "b", "exec", exec))
	if calls := strings.TrimSpace(showCalls(got.Calls)); calls != "read"+read+" exec"+exec || got.Repeated != 2 {
		t.Errorf("%s, %d repeated", calls, got.Repeated)
	}
}
