package parse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// dumps are messages of APIs and libraries that stand in place of the call in them. ASK: a tool that
// executes is asked about. The text of a row has NAME and ARGS, which is an object, or TEXT, a JSON text of
// it, or BARE, the same without its quotes.
var dumps = map[string]struct {
	text     string
	json     bool // of an API: all tools may be called
	thoughts string
	says     string
}{
	"Responses, items":         {`[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"I look."}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"NAME","arguments":TEXT,"status":"completed"}]`, true, "I look.", ""},
	"Responses, and a message": {`[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One moment.","annotations":[]}]},{"type":"function_call","call_id":"c1","name":"NAME","arguments":TEXT}]`, true, "", "One moment."},
	"Assistants":               {`{"id":"run_1","object":"thread.run","status":"requires_action","required_action":{"type":"submit_tool_outputs","submit_tool_outputs":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"NAME","arguments":TEXT}}]}}}`, true, "", ""},
	"Ollama, lines":            {`{"model":"gpt-oss:20b","created_at":"x","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}` + "\n" + `{"model":"gpt-oss:20b","created_at":"x","message":{"role":"assistant","content":"","thinking":"m."},"done":false}` + "\n" + `{"model":"gpt-oss:20b","created_at":"x","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"NAME","arguments":ARGS}}]},"done":false}` + "\n" + `{"model":"gpt-oss:20b","created_at":"x","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":9}` + "\n", true, "Hmm.", ""},
	"messages":                 {`{"messages":[{"channel":"analysis","content":"I look."},{"channel":"commentary","recipient":"functions.NAME","content":TEXT}]}`, true, "I look.", ""},
	"Harmony, a dict":          {`{"role":"assistant","content":[{"type":"text","text":TEXT}],"channel":"commentary","recipient":"functions.NAME","content_type":"<|constrain|>json"}`, true, "", ""},
	"Harmony, dicts":           {`{"role":"assistant","content":[{"type":"text","text":"I look."}],"channel":"analysis"}` + "\n" + `{"role":"assistant","content":[{"type":"text","text":TEXT}],"channel":"commentary","recipient":"functions.NAME","content_type":"<|constrain|>json"}`, true, "I look.", ""},
	"AutoGPT":                  {`{"thoughts":{"text":"I look.","plan":"- look"},"command":{"name":"NAME","args":ARGS}}`, true, "I look.\n- look", ""},
	"lc":                       {`{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"NAME","args":ARGS,"id":"c1","type":"tool_call"}]}}`, true, "", ""},
	"events":                   {`data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"NAME","arguments":""}}]}}]}` + "\n\n" + `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":TEXT}}]}}]}` + "\n\n" + `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n", true, "", ""},
	"logprobs":                 {`{"content":[{"token":"<|channel|>","logprob":-0.1},{"token":"comment","logprob":-0.1},{"token":"ary to=functions.","logprob":0},{"token":"NAME","logprob":0},{"token":"<|message|>","logprob":0},{"token":TEXT,"logprob":0},{"token":"<|call|>","logprob":0}]}`, true, "", ""},
	"tokens":                   {`["<|channel|>","comment","ary"," to=functions.","NAME","<|message|>",TEXT,"<|call|>"]`, true, "", ""},

	"tokens, Python":  {`['<|channel|>', 'comment', 'ary', ' to=functions.', 'NAME', '<|message|>', 'BARE', '<|call|>']`, false, "", ""},
	"Harmony, repr":   {`Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='BARE')], channel='commentary', recipient='functions.NAME', content_type='<|constrain|>json')`, false, "", ""},
	"Harmony, reprs":  {`[Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='I look.')], channel='analysis', recipient=None, content_type=None), Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='BARE')], channel='commentary', recipient='functions.NAME', content_type='json')]`, false, "I look.", ""},
	"LangChain":       {`AIMessage(content='', additional_kwargs={}, response_metadata={'model': 'm'}, id='run-1', tool_calls=[{'name': 'NAME', 'args': ARGS, 'id': 'c1', 'type': 'tool_call'}], usage_metadata={'input_tokens': 1})`, false, "", ""},
	"LangChain, str":  {`content='' additional_kwargs={} response_metadata={} id='run-1' tool_calls=[{'name': 'NAME', 'args': ARGS, 'id': 'c1', 'type': 'tool_call'}]`, false, "", ""},
	"openai, call":    {`ChatCompletionMessageToolCall(id='c1', function=Function(arguments='BARE', name='NAME'), type='function')`, false, "", ""},
	"openai, message": {`ChatCompletionMessage(content=None, refusal=None, role='assistant', annotations=None, audio=None, function_call=None, tool_calls=[ChatCompletionMessageToolCall(id='c1', function=Function(arguments='BARE', name='NAME'), type='function')], reasoning_content='I look.')`, false, "I look.", ""},
	"openai, choice":  {`Choice(finish_reason='tool_calls', index=0, logprobs=None, message=ChatCompletionMessage(content='', role='assistant', tool_calls=[ChatCompletionMessageFunctionToolCall(id='c1', function=Function(arguments='BARE', name='NAME'), type='function')]))`, false, "", ""},
	"Responses, repr": {`[ResponseReasoningItem(id='rs_1', summary=[], type='reasoning', content=[Content(text='I look.', type='reasoning_text')]), ResponseFunctionToolCall(arguments='BARE', call_id='c1', name='NAME', type='function_call', id='fc_1', status='completed')]`, false, "I look.", ""},
	"Rust":            {`Message { author: Author { role: Assistant, name: None }, recipient: Some("functions.NAME"), content: [Text(TextContent { text: TEXT })], channel: Some("commentary"), content_type: Some("<|constrain|>json") }`, false, "", ""},
	"Rust, pretty":    {"Message {\n    author: Author {\n        role: Assistant,\n        name: None,\n    },\n    recipient: Some(\n        \"functions.NAME\",\n    ),\n    content: [\n        Text(\n            TextContent {\n                text: TEXT,\n            },\n        ),\n    ],\n    channel: Some(\n        \"commentary\",\n    ),\n    content_type: None,\n}", false, "", ""},
}

// filled is the text of a row, with a call in it.
func filled(text, name, args string) string {
	quoted, _ := json.Marshal(args)
	return strings.NewReplacer("NAME", name, "ARGS", args, "TEXT", string(quoted), "BARE", args).Replace(text)
}

func TestDumps(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	for name, row := range dumps {
		for _, call := range []struct{ name, args string }{{"read", `{"path":"a"}`},
			{"exec", `{"command":"make all"}`}} {
			text := filled(row.text, call.name, call.args)
			want := call.name + call.args
			if call.name == "exec" && !row.json {
				want = ""
			}
			got := readPieces(s, c, []string{text}, "stop")
			calls := strings.TrimSpace(showCalls(got.Calls))
			if calls != want || strings.TrimSpace(got.Content) != row.says ||
				strings.TrimSpace(got.Reasoning) != row.thoughts {
				t.Errorf("%s: %s\ngives %s, shows %q, thinks %q\nwant %s, %q, %q; refused %v", name, text,
					calls, got.Content, got.Reasoning, want, row.says, row.thoughts, got.Refused)
			}
			if asked := len(got.Refused) == 1 && got.Refused[0].Code == tools.Unsure; asked != (want == "") {
				t.Errorf("%s: %s: refused %v", name, call.name, got.Refused)
			}
			sameReading(t, s, c, name, text)
		}
	}
}

// In the thoughts, where the content is empty, and behind a sentence that makes the call, a dump is read
// too.
func TestDumpsElsewhere(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	for name, row := range dumps {
		text := filled(row.text, "read", `{"path":"a"}`)
		got, _ := readDeltas(s, "stop", parse.Delta{Reasoning: text})
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != `read{"path":"a"}` && row.says == "" {
			t.Errorf("%s: in the thoughts: %s; refused %v", name, calls, got.Refused)
		}
		if strings.HasPrefix(text, `["<|`) || strings.HasPrefix(text, `{"content"`) ||
			strings.HasPrefix(text, "['<|") || strings.Contains(text, "}\n{") {
			continue // tokens are all of a reply, and so are lines
		}
		got = readPieces(s, c, []string{"I will read the file now.\n" + text}, "stop")
		if calls := strings.TrimSpace(showCalls(got.Calls)); calls != `read{"path":"a"}` {
			t.Errorf("%s: behind a sentence: %s, shows %q; refused %v", name, calls, got.Content, got.Refused)
		}
		for _, front := range []string{"This is what the SDK printed yesterday:\n",
			"For example, the log looks like this:\n", "Never send this:\n"} {
			if got = readPieces(s, c, []string{front + text}, "stop"); len(got.Calls) > 0 {
				t.Errorf("%s: behind %q: %v; refused %v", name, front, got.Calls, got.Refused)
			}
		}
		for _, behind := range []string{"\nThis is what the SDK prints.",
			"\n\nReplace the path with yours."} {
			if got = readPieces(s, c, []string{text + behind}, "stop"); !row.json &&
				len(got.Calls)+len(got.Refused) > 0 {
				t.Errorf("%s: in front of %q: %v; refused %v", name, behind, got.Calls, got.Refused)
			}
		}
	}
}
