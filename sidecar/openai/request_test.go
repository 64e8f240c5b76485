package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// agentTurn has the shape of an OpenClaw request after a tool has run.
const agentTurn = `{
 "model": "gpt-oss-20b",
 "messages": [
  {"role":"system","content":"You are an assistant.\n## Tools"},
  {"role":"user","content":"[Sat] list the \"src\" folder"},
  {"role":"assistant","content":null,"reasoning_content":"We need ls.","tool_calls":[{"id":"call30","type":"function","function":{"name":"exec","arguments":"{\"command\":\"ls src\"}"}}]},
  {"role":"tool","content":"a.go\nb.go","tool_call_id":"call30","name":"exec"},
  {"role":"user","content":[{"type":"text","text":"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnone\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"}]}
 ],
 "stream": true, "stream_options": {"include_usage": true},
 "tools": [{"type":"function","function":{"name":"exec","description":"Run","parameters":{"type":"object"}}},{"type":"web_search"},{"function":{"name":"now","parameters":null}}],
 "tool_choice": "auto", "max_completion_tokens": 8192, "x_sidecar": {"keep": [1, 2]}
}`

func mustParse(t *testing.T, body string) *Request {
	t.Helper()
	q, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestParseRequest(t *testing.T) {
	q := mustParse(t, agentTurn)
	if q.Model != "gpt-oss-20b" || !q.Stream || !q.UsageWanted || q.ToolChoice != "auto" || q.N != 1 {
		t.Errorf("%+v", q)
	}
	if q.LastUser != `[Sat] list the "src" folder` {
		t.Errorf("the last user message is %q", q.LastUser)
	}
	want := []tools.Tool{{Name: "exec", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "now"}}
	if diff := cmp.Diff(want, q.Tools); diff != "" {
		t.Error(diff)
	}
	of := func(s Span) string { return string(s.Of(q.Body)) }
	call := q.Messages[2].Calls[0]
	var names []string
	for _, f := range q.fields {
		names = append(names, string(f.name))
	}
	for _, row := range []struct{ got, want string }{
		{of(q.Root), agentTurn},
		{of(q.ToolsSpan)[:1], `[`},
		{of(q.Messages[1].Span), `{"role":"user","content":"[Sat] list the \"src\" folder"}`},
		{of(q.Messages[2].Content), `null`},
		{q.Messages[2].ReasoningIn, "reasoning_content"},
		{of(q.Messages[2].ReasoningKey), `"reasoning_content"`},
		{of(q.Messages[2].Reasoning), `"We need ls."`},
		{call.ID + " " + call.Name, "call30 exec"},
		{of(call.NameSpan), `"exec"`},
		{of(call.ArgsSpan), `"{\"command\":\"ls src\"}"`},
		{q.Messages[3].Role + " " + q.Messages[3].CallID + " " + q.Messages[3].Name, "tool call30 exec"},
		{of(q.Messages[4].Content)[:2], `[{`},
		{strings.Join(names, " "), "model messages stream stream_options tools tool_choice max_completion_tokens x_sidecar"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
	if at, ok := q.Field("x_sidecar"); !ok || of(at) != `{"keep": [1, 2]}` {
		t.Errorf("x_sidecar is %s", of(at))
	}
	if _, ok := q.Field("temperature"); ok {
		t.Error("there is no temperature")
	}
}

func TestParseRequestAccepts(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	for _, row := range []struct {
		about, body string
		ok          func(q *Request) bool
	}{
		{"no model", `{` + hi + `}`, func(q *Request) bool { return q.Model == "" }},
		{"last duplicate", `{"model":"a",` + hi + `,"model":"b"}`, func(q *Request) bool { return q.Model == "b" }},
		{"duplicate messages", `{"messages":[{"role":"user","content":"a"}],` + hi + `}`, func(q *Request) bool { return len(q.Messages) == 1 && q.LastUser == "hi" }},
		{"escaped key", `{"mod\u0065l":"a",` + hi + `}`, func(q *Request) bool { return q.Model == "a" }},
		{"developer", `{"messages":[{"role":"developer","content":"x"}]}`, func(q *Request) bool { return q.Messages[0].Role == "developer" }},
		{"no content", `{"messages":[{"role":"assistant"}]}`, func(q *Request) bool { return !q.Messages[0].Content.Present() }},
		{"null everywhere", `{"model":null,"stream":null,"n":null,"tools":null,"functions":[],"tool_choice":null,"stream_options":null,"messages":[{"role":"user","content":null,"name":null,"tool_calls":null}]}`, func(q *Request) bool { return q.N == 1 && !q.Stream && q.Tools == nil }},
		{"empty tools", `{"tools":[],` + hi + `}`, func(q *Request) bool { return q.ToolsSpan.Present() && len(q.Tools) == 0 }},
		{"n", `{"n":3,` + hi + `}`, func(q *Request) bool { return q.N == 3 }},
		{"named tool", `{"tool_choice":{"type":"function","function":{"name":"exec"}},` + hi + `}`, func(q *Request) bool { return q.ToolChoice == "function" && q.ToolName == "exec" }},
		{"allowed tools", `{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}},` + hi + `}`, func(q *Request) bool { return q.ToolChoice == "allowed_tools" }},
		{"no usage", `{"stream_options":{"include_usage":false},` + hi + `}`, func(q *Request) bool { return !q.UsageWanted }},
		{"reasoning", `{"messages":[{"role":"assistant","reasoning":"a"}]}`, func(q *Request) bool { return q.Messages[0].ReasoningIn == "reasoning" }},
		{"both reasonings", `{"messages":[{"role":"assistant","reasoning_content":"b","reasoning":"a"}]}`, func(q *Request) bool { return q.Messages[0].ReasoningIn == "reasoning_content" }},
		{"empty reasoning", `{"messages":[{"role":"assistant","reasoning_content":null,"reasoning":""}]}`, func(q *Request) bool { return q.Messages[0].ReasoningIn == "" }},
		{"arguments as an object", `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":{}}}]}]}`, func(q *Request) bool { return string(q.Messages[0].Calls[0].ArgsSpan.Of(q.Body)) == "{}" }},
		{"custom call", `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"a"}}]}]}`, func(q *Request) bool { return q.Messages[0].Calls[0].ID == "c" && q.Messages[0].Calls[0].Name == "" }},
		{"an answer in JSON", `{"response_format":{"type":"json_object"},` + hi + `}`, (*Request).Formatted},
		{"an answer in words", `{"response_format":{"type":"text"},` + hi + `}`, func(q *Request) bool { return !q.Formatted() }},
		{"any answer", `{` + hi + `}`, func(q *Request) bool { return !q.Formatted() }},
		{"text parts", `{"messages":[{"role":"user","content":[{"type":"text","text":"a\n"},{"type":"image_url","image_url":{"url":"data:"}},{"text":"b","type":"text"}]}]}`, func(q *Request) bool { return q.LastUser == "a\n\nb" }},
		{"a picture alone", `{"messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"image_url"}]}]}`, func(q *Request) bool { return q.LastUser == "x" }},
		{"long text", `{"messages":[{"role":"user","content":"` + strings.Repeat("é", 1<<20) + `"}]}`, func(q *Request) bool { return q.LastUser == strings.Repeat("é", 2<<10) }},
		{"long escapes", `{"messages":[{"role":"user","content":"x` + strings.Repeat(`\u20ac`, 1<<16) + `"}]}`, func(q *Request) bool { return q.LastUser == "x"+strings.Repeat("€", 4095/3) }},
	} {
		if q := mustParse(t, row.body); !row.ok(q) {
			t.Errorf("%s: %+v", row.about, q)
		}
	}
}

func TestParseRequestRefuses(t *testing.T) {
	const hi = `"messages":[{"role":"user","content":"hi"}]`
	for _, row := range []struct{ body, param, message string }{
		{``, "", "The request body is not valid JSON: line 1, column 1: unexpected end of JSON input"},
		{"{\n \"model\": 'x'}", "", `The request body is not valid JSON: line 2, column 11: invalid character '\'' looking for beginning of value`},
		{`{` + hi + `} x`, "", "The request body is not valid JSON: line 1, column 47: invalid character 'x' after top-level value"},
		{`{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "", "The request body is nested deeper than 256 levels, more than is read (line 1, column 261)."},
		{`[1]`, "", "The request body must be a JSON object, not an array."},
		{`{}`, "messages", "messages must hold at least one message."},
		{`{"messages":[]}`, "messages", "messages must hold at least one message."},
		{`{"messages":{}}`, "messages", "messages must be an array, not an object (line 1, column 13)."},
		{`{"messages":["hi"]}`, "messages[0]", "messages[0] must be an object, not a string (line 1, column 14)."},
		{`{"messages":[{"content":"hi"}]}`, "messages[0].role", "messages[0].role is missing (line 1, column 14)."},
		{`{"messages":[{"role":1}]}`, "messages[0].role", "messages[0].role must be a string, not the number 1 (line 1, column 22)."},
		{"{\"messages\":[{\"role\":\"user\"},\n{\"role\":\"user\",\"content\":true}]}", "messages[1].content", "messages[1].content must be a string, null or an array of parts, not a boolean (line 2, column 26)."},
		{`{"messages":[{"role":"user","content":[{},2]}]}`, "messages[0].content[1]", "messages[0].content[1] must be an object, not the number 2 (line 1, column 43)."},
		{`{"messages":[{"role":"assistant","tool_calls":{}}]}`, "messages[0].tool_calls", "messages[0].tool_calls must be an array, not an object (line 1, column 47)."},
		{`{"messages":[{"role":"assistant","tool_calls":[{},7]}]}`, "messages[0].tool_calls[1]", "messages[0].tool_calls[1] must be an object, not the number 7 (line 1, column 51)."},
		{`{"messages":[{"role":"assistant","tool_calls":[{"id":7}]}]}`, "messages[0].tool_calls[0].id", "messages[0].tool_calls[0].id must be a string, not the number 7 (line 1, column 54)."},
		{`{"messages":[{"role":"tool","tool_call_id":[]}]}`, "messages[0].tool_call_id", "messages[0].tool_call_id must be a string, not an array (line 1, column 44)."},
		{`{"model":5,` + hi + `}`, "model", "model must be a string, not the number 5 (line 1, column 10)."},
		{`{"stream":"yes",` + hi + `}`, "stream", "stream must be a boolean, not a string (line 1, column 11)."},
		{`{"n":0,` + hi + `}`, "n", "n must be a whole number of at least 1, not the number 0 (line 1, column 6)."},
		{`{"tools":{},` + hi + `}`, "tools", "tools must be an array, not an object (line 1, column 10)."},
		{`{"tools":[{"type":"function"}],` + hi + `}`, "tools[0].function", "tools[0].function is missing (line 1, column 11)."},
		{`{"tools":[{"function":{}}],` + hi + `}`, "tools[0].function.name", "tools[0].function.name is missing (line 1, column 11)."},
		{`{"tools":[{"function":{"name":{}}}],` + hi + `}`, "tools[0].function.name", "tools[0].function.name must be a string, not an object (line 1, column 31)."},
		{`{"functions":[{"name":"exec"}],` + hi + `}`, "functions", "functions is the form of before tools and is not read; send tools (line 1, column 14)."},
		{`{"tool_choice":1,` + hi + `}`, "tool_choice", "tool_choice must be a string, not the number 1 (line 1, column 16)."},
	} {
		_, err := ParseRequest([]byte(row.body))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.80s: accepted", row.body)
			continue
		}
		if e.Status != 400 || e.Type != "invalid_request_error" || e.Param != row.param ||
			e.Message != row.message {
			t.Errorf("%.80s:\n got %q %s\nwant %q %s", row.body, e.Param, e.Message, row.param, row.message)
		}
	}
}

func TestRequestSet(t *testing.T) {
	q := mustParse(t, `{"model":"a","messages":[{"role":"user","content":"hi"}],"model":"b"}`)
	edits := []Edit{q.Set("model", []byte(`"c"`)), q.Set("stream", []byte("true"))}
	if got, want := string(Apply(q.Body,
		edits)), `{"stream":true,"model":"a","messages":[{"role":"user","content":"hi"}],"model":"c"}`; got != want {
		t.Error(got)
	}
	key, ok := q.FieldKey("messages")
	if !ok || string(key.Of(q.Body)) != `"messages"` {
		t.Errorf("the key is %s", key.Of(q.Body))
	}
}

// FuzzParseRequest: what is accepted is what encoding/json reads, and what is
// refused has a status.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(agentTurn))
	f.Add([]byte(`{"model":"a","messages":[{"role":"user","content":[{"type":"text","text":"x"}],"role":"tool"}],"model":"b","n":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := ParseRequest(body)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Status != 400 || e.Message == "") {
			t.Fatalf("%q: %v", body, err)
		}
		if err != nil {
			return
		}
		var want struct{ root map[string]any }
		if err := json.Unmarshal(body, &want.root); err != nil {
			t.Fatalf("%q: accepted, but %v", body, err)
		}
		for _, f := range q.fields {
			name := string(f.name)
			if strings.Contains(string([]rune(name)), "\ufffd") {
				continue // encoding/json takes keys for one that we tell apart
			}
			at, _ := q.Field(name)
			checkValue(t, body, at, want.root[name])
		}
		if model, _ := want.root["model"].(string); q.Model != model {
			t.Fatalf("%q: model %q, want %q", body, q.Model, model)
		}
		messages, _ := want.root["messages"].([]any)
		if len(messages) != len(q.Messages) {
			t.Fatalf("%q: %d messages, want %d", body, len(q.Messages), len(messages))
		}
		for i, m := range q.Messages {
			checkValue(t, body, m.Span, messages[i])
			object := messages[i].(map[string]any)
			if m.Role != object["role"] {
				t.Fatalf("%q: role %q, want %v", body, m.Role, object["role"])
			}
			if m.Content.Present() {
				checkValue(t, body, m.Content, object["content"])
			}
		}
	})
}

// checkValue compares the value at a span with what encoding/json read there.
func checkValue(t *testing.T, doc []byte, at Span, want any) {
	t.Helper()
	var got any
	if err := json.Unmarshal(at.Of(doc), &got); err != nil {
		t.Fatalf("%q is no value: %v", at.Of(doc), err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q: %s", doc, diff)
	}
}
