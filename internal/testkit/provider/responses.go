package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// InResponses runs tests again with a caller that translates their requests to the Responses API, and the
// answers back.
func InResponses(t *testing.T, tests map[string]func(*testing.T)) {
	if testing.Short() {
		t.Skip("it repeats tests over the other API")
	}
	t.Setenv(OtherAPI, "yes")
	for name, test := range tests {
		t.Run(name, test)
	}
}

// OtherAPI is the environment variable that makes callers use the Responses API.
const OtherAPI = "GPTOSS_TEST_API"

// inResponses translates a request for a chat completion to the Responses API.
func inResponses(t testing.TB, chat string) string {
	t.Helper()
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(chat), &out); err != nil {
		t.Fatal(err)
	}
	var input []string
	for _, m := range gjson.Get(chat, "messages").Array() {
		input = append(input, itemsOf(m)...)
	}
	out["input"] = json.RawMessage("[" + strings.Join(input, ",") + "]")
	delete(out, "messages")
	if tools := gjson.Get(chat, "tools"); tools.Exists() {
		var flat []string
		for _, tool := range tools.Array() {
			flat = append(flat, `{"type":"function",`+strings.TrimPrefix(tool.Get("function").Raw, "{"))
		}
		out["tools"] = json.RawMessage("[" + strings.Join(flat, ",") + "]")
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := out[name]; ok {
			out["max_output_tokens"] = n
			delete(out, name)
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// itemsOf returns the items of a message.
func itemsOf(m gjson.Result) (out []string) {
	content := cmp.Or(m.Get("content").Raw, `""`)
	if m.Get("content").IsArray() {
		content = strings.ReplaceAll(content, `"type":"text"`, `"type":"input_text"`)
	}
	if m.Get("role").String() == "tool" {
		return []string{fmt.Sprintf(`{"type":"function_call_output","call_id":%s,"output":%s}`,
			cmp.Or(m.Get("tool_call_id").Raw, `"none"`), content)}
	}
	if thought := m.Get("reasoning_content"); thought.Exists() {
		out = append(out, `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":`+
			thought.Raw+`}]}`)
	}
	if content != `""` && content != "null" {
		out = append(out, fmt.Sprintf(`{"type":"message","role":%s,"content":%s}`, m.Get("role").Raw,
			content))
	}
	for _, c := range m.Get("tool_calls").Array() {
		out = append(out, fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`,
			c.Get("id").Raw, c.Get("function.name").Raw, c.Get("function.arguments").Raw))
	}
	return out
}

// ofResponses translates an event of the Responses API, or a whole Response, to a chunk of a chat
// completion; whole means that nothing came before.
func ofResponses(doc gjson.Result) (e chunk, is, done bool) {
	response := doc
	switch kind := doc.Get("type").String(); kind {
	case "response.created":
		e.ID = response.Get("response.id").String()
		e.say(Part{Role: "assistant"}, "")
		return e, true, false
	case "response.output_text.delta":
		e.say(Part{Content: doc.Get("delta").String()}, "")
	case "response.reasoning_text.delta":
		e.say(Part{Thought: doc.Get("delta").String()}, "")
	case "response.output_item.done":
		e.say(partOf(doc.Get("item"), false), "")
	case "response.completed", "response.incomplete", "response.failed":
		response, done = doc.Get("response"), true
		e.say(Part{}, finishOf(response))
	case "":
		if doc.Get("object").String() != "response" {
			return e, false, false
		}
		all := Part{Role: "assistant"}
		for _, item := range doc.Get("output").Array() {
			p := partOf(item, true)
			all.Content, all.Thought, all.ToolCalls = all.Content+p.Content, all.Thought+p.Thought,
				append(all.ToolCalls, p.ToolCalls...)
		}
		e.say(all, finishOf(doc))
	default:
		return e, true, false
	}
	if usage := response.Get("usage.total_tokens"); usage.Exists() {
		e.Usage = &struct {
			Total int `json:"total_tokens"`
		}{int(usage.Int())}
	}
	if f := response.Get("error"); f.IsObject() {
		e.Error = &fault{Message: f.Get("message").String(), Code: f.Get("code").String()}
		if e.Error.Code == "server_error" { // its own is behind the message
			own := e.Error.Message[strings.LastIndexByte(e.Error.Message, '(')+1:]
			e.Error.Code = strings.TrimSuffix(own, ")")
		}
		done = false
	}
	return e, true, done
}

func (c *chunk) say(p Part, finish string) {
	c.Choices = append(c.Choices, choiceSaid{Delta: p, Finish: finish})
}

// partOf translates an item; with its text only if no delta had it.
func partOf(item gjson.Result, whole bool) (p Part) {
	text := item.Get("content.0.text").String()
	switch kind := item.Get("type").String(); {
	case kind == "function_call":
		p.ToolCalls = make([]toolCallSaid, 1)
		p.ToolCalls[0].ID = item.Get("call_id").String()
		p.ToolCalls[0].Function.Name, p.ToolCalls[0].Function.Arguments = item.Get("name").String(),
			item.Get("arguments").String()
	case kind == "message" && whole:
		p.Content = text
	case kind == "reasoning" && whole:
		p.Thought = text
	}
	return p
}

// finishOf translates the end of a Response.
func finishOf(response gjson.Result) string {
	switch {
	case response.Get("incomplete_details.reason").String() == "max_output_tokens":
		return "length"
	case response.Get("status").String() == "incomplete":
		return response.Get("incomplete_details.reason").String()
	case response.Get("output.#(type==function_call)").Exists():
		return "tool_calls"
	}
	return "stop"
}
