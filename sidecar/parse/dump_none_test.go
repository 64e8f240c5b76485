package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// noDumps are answers that look like messages in which a call stands, and call nothing.
var noDumps = []string{
	// Answers in JSON that say more than an API does.
	`{"example":true,"messages":[{"channel":"commentary","recipient":"functions.read","content":"{\"path\":\"a\"}"}]}`,
	`{"description":"A call","message":{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}}`,
	`{"prompt":"read a","chosen":{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"rejected":{"role":"assistant","content":"no"}}`,
	`{"chosen":[{"role":"assistant","channel":"commentary","recipient":"functions.read","content":"{\"path\":\"a\"}"}],"rejected":[]}`,
	`{"input":"read a","expected":[{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}"}]}`,
	`[{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}","comment":"this is how it looks"}]`,
	`[{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"},{"type":"function_call_output","call_id":"c1","output":"text"}]`,
	`{"type":"function_call","name":"read","arguments":"{\"path\":\"a\"}","output":"text"}`,
	`{"choices":[{"message":{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}},"result":"text"}]}}]}`,
	`{"thoughts":{"text":"hm"},"command":{"name":"read","args":{"path":"a"}},"result":"text"}`,
	`{"thoughts":{"text":"hm"},"command":{"name":"read","args":{"path":"a"},"done":true}}`,
	`{"thoughts":{"text":"hm"},"command":"read the docs"}`,
	`{"messages":[{"role":"user","content":"read a"},{"role":"assistant","channel":"commentary","recipient":"functions.read","content":"{\"path\":\"a\"}"}]}`,
	`{"messages":[{"role":"system","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}]}`,
	`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},{"role":"tool","content":"text"}]}`,
	`[{"role":"user","content":"hi"},{"role":"assistant","content":"","recipient":"functions.read"}]`,
	`{"messages":[{"to":"read","subject":"Hello","content":"{\"path\":\"a\"}"}]}`,
	`{"recipient":"read","content":"Dear reader"}`,
	`{"recipient":"Alice","content":"{\"path\":\"a\"}"}`,
	`{"recipient":"all","channel":"final","content":"{\"path\":\"a\"}"}`,
	`{"recipient":"functions.launch","sender":"x","content":"{\"path\":\"a\"}"}`,
	`{"openapi":"3.1.0","paths":{"/read":{"post":{"operationId":"read","parameters":[{"name":"path","in":"query"}]}}}}`,
	`{"name":"read","description":"Reads","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`,
	`{"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]}`,
	`{"type":"object","properties":{"name":{"const":"read"},"arguments":{"type":"object"}}}`,
	`{"test":"calls read","reply":{"tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]}}`,
	`{"id":"x","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hello"}}]}`,
	`{"model":"m","message":{"role":"assistant","content":"Hello"},"done":true}`,
	`{"status":"requires_action","required_action":{"submit_tool_outputs":{"tool_calls":[{"function":{"name":"read","arguments":"{}"},"note":"see docs"}]}}}`,
	`{"tokens":["<|channel|>","commentary"," to=functions.read","<|message|>","{\"path\":\"a\"}","<|call|>"]}`,
	`["<|channel|>","<|message|>","<|call|>","<|end|>"]`,
	`["read","exec","web_search"]`,
	// Lines of JSON.
	`{"id":1,"text":"one"}` + "\n" + `{"id":2,"text":"two"}`,
	`{"role":"user","content":"read a"}` + "\n" +
		`{"role":"assistant","recipient":"functions.read","channel":"commentary","content":"{\"path\":\"a\"}"}`,
	`{"role":"assistant","content":"Hello"}` + "\n" +
		`{"example":1,"role":"assistant","recipient":"functions.read","content":"{\"path\":\"a\"}"}`,
	`{"model":"m","message":{"role":"assistant","content":"a"},"done":false}` + "\nThese lines are a stream.",
	`{"model":"m","message":{"role":"assistant","content":"a"},"done":false}` + "\n" +
		`{"level":"info","msg":"tool","name":"read","arguments":{"path":"a"}}`,
	"data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\ndata: [DONE]",
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}}]}}]}\n\nThis is one event.",
	// Code.
	"Message(role='user', content='read a')",
	"ChatCompletionMessage(content='Hello', role='assistant', tool_calls=None)",
	"AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': path}, 'id': '1'}])",
	"AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}], example=True)",
	"AIMessage(content='', tool_calls=[{'name': 'launch', 'args': {'path': 'a'}, 'id': '1'}])",
	"msg = AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}])",
	"AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}]).pretty_print()",
	"assert result == AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}])",
	"[HumanMessage(content='read a'), AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}])]",
	"[AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}]), ToolMessage(content='text', tool_call_id='1')]",
	"ToolMessage(content='{\"path\":\"a\"}', name='read', tool_call_id='1')",
	"Message(author=Author(role=<Role.TOOL: 'tool'>, name='functions.read'), content=[TextContent(text='{\"path\":\"a\"}')], channel='commentary', recipient='functions.read')",
	"Message(author=Author(role=<Role.USER: 'user'>, name=None), content=[TextContent(text='{\"path\":\"a\"}')], recipient='functions.read')",
	"Message.from_role_and_content(Role.ASSISTANT, '{\"path\":\"a\"}').with_recipient('functions.read')",
	"ToolCall(id='1', function=Function(name='read', arguments='{\"path\":\"a\"}'), result='text')",
	"ToolCall(id='1', function=Function(name='read', arguments='{\"path\":\"a\"}'), description='reads a file')",
	"Function(name='read', arguments=json.dumps({'path': 'a'}))",
	"Point(x=1, y=2)",
	"0hatCompletionMessageToolCall(id=,'funct'",
	"Message { author: Author { role: Tool, name: Some(\"functions.read\") }, recipient: Some(\"functions.read\"), content: [Text(TextContent { text: \"{\\\"path\\\":\\\"a\\\"}\" })] }",
	"Message { role: Role::Assistant, recipient: \"functions.read\".to_string(), content: \"{}\" }",
	"Message {\n    role: String,\n    content: Vec<Content>,\n}",
	"message := Message{Role: \"assistant\", Recipient: \"functions.read\", Content: `{\"path\":\"a\"}`}",
	"content='Hello' role='assistant'",
	"content=\"{'path': 'a'}\"\nrecipient=\"functions.read\"\nprint(content)",
	// Lines of a header, letters, front ends, elements.
	"To: read@example.com\nSubject: notes\n\n{\"paths\":[\"a\"]}",
	"to: read\n\nDear reader, I write to you about the path.",
	"channel: commentary\nrecipient: functions.read\ncontent_type: json\n\nThe body follows here.",
	"Channel: #general\n\nHello team.",
	"role: assistant\nrecipient: functions.launch\n\n{\"path\":\"a\"}",
	"Calling tool: exec\nArguments: {'command': 'make'}",
	"Calling tool: read\nArguments: {'path': 'a'}\nResult: text",
	"Calling tool: a waste of time",
	"<details><summary>More</summary>{\"path\":\"a\"}</details>",
	"<details type=\"tool_calls\" done=\"true\" id=\"1\" name=\"read\" arguments=\"&quot;{}&quot;\" result=\"&quot;text&quot;\">\n<summary>Tool Executed</summary>\n</details>",
	"<message role=\"user\" to=\"functions.read\">{\"path\":\"a\"}</message>",
	"<message role=\"assistant\" to=\"functions.read\" example=\"1\">{\"path\":\"a\"}</message>",
	"<message role=\"assistant\" to=\"functions.read\">{\"path\":\"a\"}</message> is how it is written in XML.",
	// In prose.
	"The log says Message(author=Author(role=<Role.ASSISTANT: 'assistant'>, name=None), content=[TextContent(text='{\"path\":\"a\"}')], recipient='functions.read'), which is odd.",
	"You get AIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}]) back.",
	"```python\nAIMessage(content='', tool_calls=[{'name': 'read', 'args': {'path': 'a'}, 'id': '1'}])\n```",
	"```\nchannel: commentary\nrecipient: functions.read\n\n{\"path\":\"a\"}\n```",
	"> Message { recipient: Some(\"functions.read\"), content: [\"{}\"] }",
}

// What is no dump of a call stays as it is, and calls and asks nothing.
func TestNoDumps(t *testing.T) {
	s, c := shipped.Strategies(""), offeredForFuzz()
	if len(noDumps) < 60 {
		t.Errorf("%d answers: too few", len(noDumps))
	}
	for _, text := range noDumps {
		got := readPieces(s, c, []string{text}, "stop")
		shown := strings.ReplaceAll(got.Content, "\u200b", "")
		if len(got.Calls)+len(got.Refused) > 0 || shown != text {
			t.Errorf("%s\ncalls %v, refuses %v, shows %q", text, got.Calls, got.Refused, got.Content)
		}
		sameReading(t, s, c, "no dump", text)
		// which is a header
		if got, _ = readDeltas(s, "stop",
			parse.Delta{Reasoning: text}); len(got.Calls)+len(got.Refused) > 0 &&
			!strings.Contains(text, `to="`) {
			t.Errorf("%s\nin the thoughts: calls %v, refuses %v", text, got.Calls, got.Refused)
		}
	}
}

// Where the user writes about calls, what a program prints of one is what they asked for.
func TestDumpsAskedFor(t *testing.T) {
	for name, row := range dumps {
		if row.json {
			continue
		}
		r := shipped.Strategies("").Reader(offeredForFuzz(), parse.Facts{Topic: []string{"tool call"},
			User: "What does the SDK print of this tool call?"})
		r.Feed(parse.Delta{Content: filled(row.text, "read", `{"path":"a"}`)})
		if got, _ := r.Close("stop"); len(got.Calls) > 0 {
			t.Errorf("%s: %v", name, got.Calls)
		}
	}
}

func FuzzDumps(f *testing.F) {
	var seeds []string
	for _, row := range dumps {
		seeds = append(seeds, filled(row.text, "read", `{"path":"a"}`))
	}
	fuzzReading(f, shipped.Strategies(""), append(seeds, noDumps...)...)
}
