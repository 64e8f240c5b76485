package sidecar

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// asking is a request with these members beside the input.
func asking(more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"model":"gpt-oss","input":"go"` + more + `}`
}

// items is a request with this input.
func items(input ...string) string { return `{"input":[` + strings.Join(input, ",") + `]}` }

const (
	userGo    = `{"role":"user","content":"go"}`
	think     = `{"type":"reasoning","id":"rsn_1","summary":[],"content":[{"type":"reasoning_text","text":"A \u003c b."}],"status":"completed"}`
	callA     = `{"type":"function_call","id":"fc_1","call_id":"call_a-1","name":"exec","arguments":"{ \"command\": \"ls\" }","status":"completed"}`
	callB     = `{"type":"function_call","call_id":"b","name":"read","arguments":"{}"}`
	outA      = `{"type":"function_call_output","call_id":"call_a-1","output":"one\ntwo"}`
	outB      = `{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"three"}]}`
	toolCallA = `{"id":"call_a-1","type":"function","function":{"name":"exec","arguments":"{ \"command\": \"ls\" }"}}`
	toolCallB = `{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}`
	readTool  = `{"type":"function","name":"read","strict":false,"description":"Read.","parameters":{"type":"object"}}`
	chatRead  = `{"type":"function","function":{"name":"read","description":"Read.","parameters":{"type":"object"},"strict":false}}`
)

// Each request means one of chat completions: texts, arguments and schemas byte for byte.
func TestChat(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"a text", asking(""), `{"messages":[` + userGo + `],"model":"gpt-oss"}`},
		{"instructions", asking(`"instructions":"Be \u006bind."`), `{"messages":[{"role":"system","content":"Be \u006bind."},` + userGo + `],"model":"gpt-oss"}`},
		{"null is nothing", asking(`"instructions":null,"tools":null,"text":null,"reasoning":null,"tool_choice":null,"previous_response_id":null,"include":null,"background":false`), `{"messages":[` + userGo + `],"model":"gpt-oss"}`},
		{"messages", items(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"Rules."}]}`, `{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`, `{"role":"system","content":"c"}`),
			`{"messages":[{"role":"developer","content":"Rules."},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"system","content":"c"}]}`},
		{"an image", items(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"auto"}]}`),
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA","detail":"auto"}}]}]}`},
		{"an answer", items(userGo, think, `{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"It ","annotations":[]},{"type":"refusal","refusal":"is."}]}`, `{"role":"user","content":"more"}`),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":"It is.","reasoning_content":"A \u003c b."},{"role":"user","content":"more"}]}`},
		{"a call", items(userGo, think, callA, outA), `{"messages":[` + userGo + `,{"role":"assistant","content":null,"reasoning_content":"A \u003c b.","tool_calls":[` + toolCallA + `]},{"role":"tool","tool_call_id":"call_a-1","content":"one\ntwo"}]}`},
		{"calls together", items(userGo, `{"role":"assistant","content":"Both."}`, callA, think, callB, outA, outB),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":"Both.","reasoning_content":"A \u003c b.","tool_calls":[` + toolCallA + `,` + toolCallB + `]},{"role":"tool","tool_call_id":"call_a-1","content":"one\ntwo"},{"role":"tool","tool_call_id":"b","content":"three"}]}`},
		{"calls one by one", items(userGo, think, callA, outA, think, callB, outB),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"reasoning_content":"A \u003c b.","tool_calls":[` + toolCallA + `]},{"role":"tool","tool_call_id":"call_a-1","content":"one\ntwo"},` +
				`{"role":"assistant","content":null,"reasoning_content":"A \u003c b.","tool_calls":[` + toolCallB + `]},{"role":"tool","tool_call_id":"b","content":"three"}]}`},
		{"thoughts that led to nothing", items(userGo, think, userGo), `{"messages":[` + userGo + `,` + userGo + `]}`},
		{"sealed thoughts", items(userGo, `{"type":"reasoning","summary":[],"encrypted_content":"`+seal("Hm <\n")+`"}`, callB), `{"messages":[` + userGo + `,{"role":"assistant","content":null,"reasoning_content":"Hm <\n","tool_calls":[` + toolCallB + `]}]}`},
		{"thoughts of another model", items(userGo, `{"type":"reasoning","summary":[{"type":"summary_text","text":"In short."},{"type":"summary_text","text":"Yes."}],"encrypted_content":"gAAAA"}`, callB),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"reasoning_content":"In short.\n\nYes.","tool_calls":[` + toolCallB + `]}]}`},
		{"what OpenAI's servers did", items(userGo, `{"type":"web_search_call","id":"ws_1","status":"completed"}`, callB), `{"messages":[` + userGo + `,{"role":"assistant","content":null,"tool_calls":[` + toolCallB + `]}]}`},
		{"tools in the input", items(userGo, `{"type":"additional_tools","role":"developer","tools":[`+readTool+`,`+readTool+`]}`), `{"messages":[` + userGo + `],"tools":[` + chatRead + `]}`},
		{"tools in both places", `{"input":[` + userGo + `,{"type":"tool_search_output","call_id":"s","tools":[{"type":"function","name":"exec"}]}],"tools":[` + readTool + `]}`,
			`{"messages":[` + userGo + `],"tools":[` + chatRead +
				`,{"type":"function","function":{"name":"exec"}}]}`},
		{"items that say nothing to a model", items(userGo, `{"type":"compaction_trigger"}`, `{"type":"ghost_snapshot","ghost_commit":{"id":"a"}}`, `{"type":"agent_message","author":"a"}`), `{"messages":[` + userGo + `]}`},
		{"a shell", items(userGo, `{"type":"shell_call","call_id":"s","action":{"commands":["ls"]}}`, `{"type":"shell_call_output","call_id":"s","output":[{"stdout":"a"}]}`),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"tool_calls":[{"id":"s","type":"function","function":{"name":"shell","arguments":"{\"commands\":[\"ls\"]}"}}]},{"role":"tool","tool_call_id":"s","content":"[{\"stdout\":\"a\"}]"}]}`},
		{"a local shell", items(userGo, think, `{"type":"local_shell_call","call_id":"s","action":{"type":"exec","command":["ls"]}}`, `{"type":"function_call_output","call_id":"s","output":"a"}`),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"reasoning_content":"A \u003c b.","tool_calls":[{"id":"s","type":"function","function":{"name":"local_shell","arguments":"{\"type\":\"exec\",\"command\":[\"ls\"]}"}}]},{"role":"tool","tool_call_id":"s","content":"a"}]}`},
		{"a patch", items(userGo, `{"type":"apply_patch_call","call_id":"p","operation":{"type":"delete_file","path":"a"}}`, `{"type":"apply_patch_call_output","call_id":"p","status":"completed","output":"Done."}`),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"tool_calls":[{"id":"p","type":"function","function":{"name":"apply_patch","arguments":"{\"type\":\"delete_file\",\"path\":\"a\"}"}}]},{"role":"tool","tool_call_id":"p","content":"Done."}]}`},
		{"an empty result", items(callB, `{"type":"function_call_output","call_id":"b","output":[]}`), `{"messages":[{"role":"assistant","content":null,"tool_calls":[` + toolCallB + `]},{"role":"tool","tool_call_id":"b","content":""}]}`},

		{"tools", asking(`"tools":[` + readTool + `,{"type":"web_search"}],"tool_choice":"auto","parallel_tool_calls":false`), `{"messages":[` + userGo + `],"tools":[` + chatRead + `],"tool_choice":"auto","model":"gpt-oss","parallel_tool_calls":false}`},
		{"no tools", asking(`"tools":[]`), `{"messages":[` + userGo + `],"tools":[],"model":"gpt-oss"}`},
		{"a namespace", strings.Replace(asking(`"tools":[{"type":"namespace","name":"mcp__fs__","tools":[`+readTool+`]},{"type":"namespace","name":"agents","tools":[{"type":"function","name":"wait"}]}]`),
			`"go"`, `[`+userGo+`,{"type":"function_call","call_id":"b","namespace":"mcp__fs__","name":"read","arguments":"{}"}]`, 1),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"tool_calls":[` + strings.Replace(toolCallB, `"read"`,
				`"mcp__fs__read"`, 1) + `]}],"tools":[` + strings.Replace(chatRead, `"read"`,
				`"mcp__fs__read"`, 1) + `,{"type":"function","function":{"name":"agents__wait"}}],"model":"gpt-oss"}`},
		{"a tool that takes a text", strings.Replace(asking(`"tools":[{"type":"custom","name":"apply_patch","description":"Patch.","format":{"type":"grammar","syntax":"lark","definition":"start: \u0041"}},{"type":"custom","name":"x"}],"tool_choice":{"type":"custom","name":"x"}`),
			`"go"`, `[`+userGo+`,{"type":"custom_tool_call","call_id":"b","name":"x","input":"a\n\"b\""},{"type":"custom_tool_call_output","call_id":"b","output":"ok"}]`, 1),
			`{"messages":[` + userGo +
				`,{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"x","arguments":"{\"input\":\"a\\n\\\"b\\\"\"}"}}]},{"role":"tool","tool_call_id":"b","content":"ok"}],"tools":[` +
				`{"type":"function","function":{"name":"apply_patch","description":"Patch.\n\nstart: \u0041","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}},` +
				`{"type":"function","function":{"name":"x","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}}],"tool_choice":{"type":"function","function":{"name":"x"}},"model":"gpt-oss"}`},
		{"a choice", asking(`"tools":[` + readTool + `],"tool_choice":{"type":"function","name":"read"}`), `{"messages":[` + userGo + `],"tools":[` + chatRead + `],"tool_choice":{"type":"function","function":{"name":"read"}},"model":"gpt-oss"}`},
		{"the same tool twice", asking(`"tools":[` + readTool + `,` + readTool + `]`), `{"messages":[` + userGo + `],"tools":[` + chatRead + `],"model":"gpt-oss"}`},
		{"some may be called", asking(`"tools":[{"type":"function","name":"exec"},` + readTool + `],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"read"}]}`), `{"messages":[` + userGo + `],"tools":[` + chatRead + `],"tool_choice":"required","model":"gpt-oss"}`},

		{"a schema", asking(`"text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type" : "object"}},"verbosity":"low"}`), `{"messages":[` + userGo + `],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type" : "object"},"strict":true}},"model":"gpt-oss"}`},
		{"an object", asking(`"text":{"format":{"type":"json_object"}}`), `{"messages":[` + userGo + `],"response_format":{"type":"json_object"},"model":"gpt-oss"}`},
		{"plain text", asking(`"text":{"format":{"type":"text"}}`), `{"messages":[` + userGo + `],"model":"gpt-oss"}`},
		{"effort and tokens", asking(`"reasoning":{"effort":"high","summary":"auto"},"max_output_tokens":99,"temperature":1.0,"top_p":0.5`), `{"messages":[` + userGo + `],"reasoning_effort":"high","max_completion_tokens":99,"model":"gpt-oss","temperature":1.0,"top_p":0.5}`},
		{"a stream", asking(`"stream":true,"stream_options":{"include_obfuscation":false}`), `{"messages":[` + userGo + `],"stream_options":{"include_usage":true},"model":"gpt-oss","stream":true}`},
		{"who asks", asking(`"user":"u","safety_identifier":"s","prompt_cache_key":"k","metadata":{"a":"b"},"service_tier":"auto"`), `{"messages":[` + userGo + `],"metadata":{"a":"b"},"model":"gpt-oss","prompt_cache_key":"k","safety_identifier":"s","service_tier":"auto","user":"u"}`},
		{"what only Responses have", asking(`"store":true,"truncation":"auto","include":["reasoning.encrypted_content"],"top_logprobs":3,"max_tool_calls":2,"client_metadata":{}`), `{"messages":[` + userGo + `],"model":"gpt-oss"}`},
		{"what nobody knows", asking(`"top_k":40,"chat_template_kwargs":{"a": [1, 2.50]}`), `{"messages":[` + userGo + `],"chat_template_kwargs":{"a": [1, 2.50]},"model":"gpt-oss","top_k":40}`},
		{"what would be said twice", asking(`"messages":[],"n":4,"max_tokens":1,"response_format":{}`), `{"messages":[` + userGo + `],"model":"gpt-oss"}`},
	} {
		chat, _, err := toChat([]byte(row.in))
		if err != nil || string(chat) != row.want {
			t.Errorf("%s: %v\n got %s\nwant %s", row.name, err, chat, row.want)
			continue
		}
		if _, err := openai.ParseRequest(chat); err != nil {
			t.Errorf("%s: %v of %s", row.name, err, chat)
		}
	}
}

// The ids of our calls come back as they left; those of others stay.
func TestCallIDsOfRequests(t *testing.T) {
	id := openai.NewCallID()
	for sent, want := range map[string]string{
		responseCallID(id): id, id: id, "call_abc-1": "call_abc-1", responseCallID(id) + "A": responseCallID(id) + "A",
		strings.ToLower(responseCallID(id)): strings.ToLower(responseCallID(id)),
	} {
		chat, _, err := toChat([]byte(items(`{"type":"function_call","call_id":"`+sent+`","name":"a"}`,
			`{"type":"function_call_output","call_id":"`+sent+`","output":""}`)))
		if err != nil || strings.Count(string(chat), `id":"`+want+`"`) != 2 {
			t.Errorf("%s: %v, %s", sent, err, chat)
		}
	}
	if responseCallID(id) == id || !strings.HasPrefix(responseCallID(id), "call_") {
		t.Errorf("%s becomes %s", id, responseCallID(id))
	}
}

// What cannot be done is said with its place and what to do.
func TestRefused(t *testing.T) {
	for _, row := range []struct{ in, param, says string }{
		{`{"model":"m"}`, "input", "is missing"},
		{`{"messages":[{"role":"user","content":"go"}]}`, "input", "send a text"},
		{`{"input":7}`, "input", "must be a string or an array of items, not the number 7 (line 1, column 10)"},
		{`{"input":[]}`, "input", "nothing"},
		{items(think), "input", "nothing"},
		{`{"input":["go"]}`, "input[0]", "an object, not a string"},
		{items(userGo, `{"type":"item_reference","id":"msg_1"}`), "input[1]", "send the item itself"},
		{items(`{"type":"compaction","encrypted_content":"x"}`), "input[0]", "begin a new one"},
		{items(`{"type":"poem","role":"user","content":"a"}`), "input[0].type", `"poem"`},
		{items(`{"role":"tool","content":"x"}`), "input[0].role", "must be user, assistant, system or developer"},
		{items(`{"role":"user"}`), "input[0].content", "is missing"},
		{items(`{"role":"user","content":{}}`), "input[0].content", "an array of parts, not an object"},
		{items(`{"role":"user","content":[{"type":"input_text","text":1}]}`), "input[0].content[0].text", "must be a string"},
		{items(`{"role":"user","content":[{"type":"input_file","file_id":"f"}]}`), "input[0].content[0]", "send its text"},
		{items(`{"role":"user","content":[{"type":"input_image","file_id":"f"}]}`), "input[0].content[0].image_url", "data: URL"},
		{items(`{"role":"user","content":[{"type":"input_audio"}]}`), "input[0].content[0].type", "input_audio"},
		{items(`{"type":"function_call","call_id":"a"}`), "input[0].name", "is missing"},
		{items(`{"type":"function_call","name":"a"}`), "input[0].call_id", "is missing"},
		{items(`{"type":"function_call_output","output":"x"}`), "input[0].call_id", "is missing"},
		{items(`{"type":"function_call_output","call_id":"x"}`), "input[0].output", "is missing"},
		{items(`{"type":"reasoning","content":"x"}`, `{"type":"reasoning","content":{}}`), "input[1].content", "must be an array"},
		{asking(`"previous_response_id":"resp_1"`), "previous_response_id", "send the items"},
		{asking(`"conversation":{"id":"c"}`), "conversation", "nothing is stored"},
		{asking(`"prompt":{"id":"p"}`), "prompt", "as instructions"},
		{asking(`"background":true`), "background", "as a stream"},
		{asking(`"instructions":[]`), "instructions", "must be a string"},
		{asking(`"model":7`), "model", "must be a string"},
		{asking(`"stream":"yes"`), "stream", "must be a boolean, not a string"},
		{asking(`"text":"x"`), "text", "must be an object"},
		{asking(`"text":{"format":{"type":"grammar"}}`), "text.format.type", "grammar"},
		{asking(`"tools":{}`), "tools", "must be an array"},
		{asking(`"tools":[{}]`), "tools[0].type", "is missing"},
		{asking(`"tools":[{"type":"function"}]`), "tools[0].name", "is missing"},
		{asking(`"tools":[{"type":"function","name":""}]`), "tools[0].name", "is missing"},
		{asking(`"tools":[{"type":"code_interpreter","container":{}}]`), "tools[0]", "offer functions"},
		{asking(`"tools":[{"type":"custom"}]`), "tools[0].name", "is missing"},
		{asking(`"tools":[{"type":"function","name":"a__b"},{"type":"custom","name":"a\u005f_b"}]`), "tools[1]", "two tools have the name a__b"},
		{asking(`"tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]`), "tools[1].tools[0]", "two tools have the name a__b"},
		{asking(`"tools":[{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]},{"type":"namespace","name":"a__","tools":[{"type":"function","name":"b"}]}]`), "tools[1].tools[0]", "two tools have the name a__b"},
		{asking(`"tools":[` + readTool + `],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"read"},{"type":"function","name":"fax"}]}`), "tool_choice.tools", `names "fax", and no tool`},
		{items(`{"type":"custom_tool_call","call_id":"a","name":"b"}`), "input[0].input", "is missing"},
		{asking(`"tool_choice":{"type":"web_search"}`), "tool_choice", "name a function"},
		{asking(`"tool_choice":7`), "tool_choice", "must be a string"},
		{`[]`, "", "must be a JSON object, not an array"},
		{"{\"input\":\n[{]}", "", "line 2, column 3"},
		{` `, "", "line 1, column 2"},
	} {
		chat, _, err := toChat([]byte(row.in))
		var apiErr *openai.Error
		if !errors.As(err, &apiErr) || apiErr.Status != 400 || apiErr.Param != row.param ||
			!strings.Contains(apiErr.Message, row.says) || !strings.HasPrefix(apiErr.Message, row.param) {
			t.Errorf("%s: %v gives %s\nwant %s: %s", row.in, err, chat, row.param, row.says)
		}
	}
}

// Whatever a caller sends: no panic, and what is let pass is a request for a chat completion that
// holds the same texts.
func FuzzChat(f *testing.F) {
	for _, seed := range []string{
		asking(`"tools":[` + readTool + `,{"type":"namespace","name":"a","tools":[` + readTool +
			`]}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"name":"read"}]}`),
		items(userGo, think, callA, outA, callB, outB, think,
			`{"type":"custom_tool_call","call_id":"c","name":"x","input":"a"}`),
		asking(`"tools":[{"type":"custom","name":"x","format":{"definition":"y"}}]`),
		asking(`"text":{"format":{"type":"json_schema","schema":{}}},"stream":true,"include":["reasoning.encrypted_content"]`),
		items(`{"role":"user","content":[{"type":"input_image","image_url":"x","detail":null},{"type":"text","text":"\ud800"}]}`, `{"role":"assistant","content":[]}`),
		`{"input":"a","input":["b"]}`, ` [] `, `{"input":null}`, `{"input":[{"role":"assistant"}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		chat, asked, err := toChat([]byte(body))
		if err != nil {
			var apiErr *openai.Error
			if !errors.As(err, &apiErr) || apiErr.Status != 400 || apiErr.Message == "" {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if !json.Valid(chat) || !json.Valid([]byte("{"+strings.TrimPrefix(string(asked.echo), ",")+"}")) {
			t.Fatalf("%q becomes %q, %q", body, chat, asked.echo)
		}
		if strings.Count(body, "[")+strings.Count(body, "{") > 100 {
			return // a chat completion is deeper by one or two
		}
		if _, err := openai.ParseRequest(chat); err != nil {
			t.Fatalf("%q becomes %q: %v", body, chat, err)
		}
		again, _, err := toChat([]byte(body))
		ruletest.Must(t, err)
		if string(again) != string(chat) {
			t.Fatalf("%q becomes %q and %q", body, chat, again)
		}
	})
}
