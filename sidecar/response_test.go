package sidecar

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// respond is what a caller of the Responses API gets of what a reader tells; want is the members of
// its request beside the input.
func respond(t testing.TB, stream bool, want string, read func(*turn.Reader) error,
	finish func(turn.Sink) error) *httptest.ResponseRecorder {
	t.Helper()
	_, asked, err := toChat([]byte(`{"input":"go"` + want + `}`))
	ruletest.Must(t, err)
	w, set := httptest.NewRecorder(), ruletest.Shipped(t)
	sink := newResponse(w, sinkConfig{Params: asked, Model: "gpt-oss", Stream: stream,
		Keepalive: time.Minute, RoleWait: usualRoleWait, Log: slog.New(slog.DiscardHandler)})
	defer sink.Stop()
	sink.Begin("")
	catalog := tools.NewCatalog(set.Tools, nil, []tools.Tool{{Name: "read"}, {Name: "fs__read"}})
	r := turn.NewReader(func() *parse.Reader { return set.Strategies("").Reader(catalog, parse.Facts{}) },
		sink.Flows(), sink.Take)
	ruletest.Must(t, read(r))
	r.End("")
	ruletest.Must(t, finish(sink))
	return w
}

// heard is a Response that a stream told event by event, as a client has it that believes the deltas
// only. The rules are those of the official SDKs, and more.
func heard(t testing.TB, stream string) (doc gjson.Result, events []string) {
	t.Helper()
	var items []map[string]any // as they have come so far
	var texts []string         // of each, from its deltas
	open := false
	for i, raw := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(raw, "event: "), "\ndata: ")
		e := gjson.Parse(data)
		if !ok || !gjson.Valid(data) || e.Get("type").String() != name ||
			e.Get("sequence_number").Int() != int64(i) || doc.Exists() {
			t.Fatalf("event %d is %s", i, raw)
		}
		if len(events) == 0 || events[len(events)-1] != name {
			events = append(events, name)
		}
		at := e.Get("output_index")
		if at.Exists() && name != "response.output_item.added" && (!open || at.Int() != int64(len(items))-1 ||
			e.Get("item_id").Exists() && e.Get("item_id").String() != items[at.Int()]["id"]) {
			t.Fatalf("event %d is about no item that is open: %s", i, raw)
		}
		switch name {
		case "response.created", "response.in_progress":
			if name == "response.created" != (i == 0) || e.Get("response.status").String() != "in_progress" {
				t.Fatalf("event %d is %s", i, raw)
			}
		case "response.output_item.added":
			if open || at.Int() != int64(len(items)) {
				t.Fatalf("event %d begins an item while one is open, or another one: %s", i, raw)
			}
			open = true
			items, texts = append(items, e.Get("item").Value().(map[string]any)), append(texts, "")
		case "response.content_part.added":
		case "response.output_text.delta", "response.reasoning_text.delta",
			"response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
			texts[at.Int()] += e.Get("delta").String()
		case "response.output_text.done", "response.reasoning_text.done",
			"response.function_call_arguments.done", "response.custom_tool_call_input.done":
			if said := e.Get("text").String() + e.Get("arguments").String() + e.Get("input").String(); said != texts[at.Int()] {
				t.Fatalf("event %d says %q after %q", i, said, texts[at.Int()])
			}
		case "response.content_part.done":
			if said := e.Get("part.text").String(); said != texts[at.Int()] {
				t.Fatalf("event %d says %q after %q", i, said, texts[at.Int()])
			}
		case "response.output_item.done":
			open = false
			item := e.Get("item")
			if said := item.Get("content.0.text").String() + item.Get("arguments").String() + item.Get("input").String(); said != texts[at.Int()] || item.Get("id").String() != items[at.Int()]["id"] {
				t.Fatalf("event %d says %q after %q: %s", i, said, texts[at.Int()], raw)
			}
			items[at.Int()] = item.Value().(map[string]any)
		default:
			doc = e.Get("response")
			if open || name != "response."+doc.Get("status").String() ||
				len(items) != len(doc.Get("output").Array()) || len(items) > 0 &&
				!reflect.DeepEqual(doc.Get("output").Value(), anyOf(items)) {
				t.Fatalf("the last event does not say what the others did: %s\n%v", raw, items)
			}
		}
	}
	if !doc.Exists() {
		t.Fatalf("no end: %s", stream)
	}
	return doc, events
}

func anyOf(items []map[string]any) (out []any) {
	for _, item := range items {
		out = append(out, item)
	}
	return out
}

// alike is a Response without what is never the same.
func alike(doc string) string {
	return madeUp.ReplaceAllString(doc, "…")
}

var madeUp = regexp.MustCompile(`"created_at":\d+|[a-z]+_[A-Z2-7]{26}`)

// brief is what an answer says, item by item.
func brief(doc gjson.Result) string {
	var out []string
	for _, item := range doc.Get("output").Array() {
		out = append(out, item.Get("type").String()+" "+item.Get("status").String()+
			": "+item.Get("content.0.text").String()+item.Get("namespace").String()+item.Get("name").String()+item.Get("arguments").String()+item.Get("input").String())
	}
	return doc.Get("status").String() + doc.Get("incomplete_details.reason").String() +
		" [" + strings.Join(out, "] [") + "]"
}

const usage = "data: {" + head +
	`,"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}` + "\n\n"

// A reply becomes the same items whether it is streamed or not.
func TestResponse(t *testing.T) {
	thought, text := event(`"role":"assistant","reasoning_content":"Hm"`, "null")+event(`"reasoning":"."`,
		"null"), event(`"content":"Y\u0065s \"<"`, "null")+event(`"content":"1\"."`, "null")
	native := func(name string) string {
		return event(`"tool_calls":[{"index":0,"id":"x","function":{"name":"`+name+
			`","arguments":"{\"path\": \"a\"}"}}]`, "null")
	}
	for _, row := range []struct{ name, want, in, out string }{
		{"text", "", text + event("", `"stop"`) + usage + end, `completed [message completed: Yes "<1".]`},
		{"thoughts and text", "", thought + text + event("", `"stop"`) + usage + end, `completed [reasoning completed: Hm.] [message completed: Yes "<1".]`},
		{"a call", "", thought + native("read") + event("", `"tool_calls"`) + usage + end, `completed [reasoning completed: Hm.] [function_call completed: read{"path": "a"}]`},
		{"white space in front of a call", "", thought + event(`"content":"\n\n"`, "null") + native("read") + event("", `"tool_calls"`) + usage + end, `completed [reasoning completed: Hm.] [function_call completed: read{"path": "a"}]`},
		{"text and a call", "", text + native("read") + event("", `"stop"`) + usage + end, `completed [message completed: Yes "<1".] [function_call completed: read{"path": "a"}]`},
		{"a leaked call", "", event(`"content":"[TOOL:read|path=a]"`, `"stop"`) + usage + end, `completed [function_call completed: read{"path":"a"}]`},
		{"a call in a namespace", `,"tools":[{"type":"namespace","name":"fs","tools":[{"type":"function","name":"read"}]}]`, native("fs__read") + event("", `"tool_calls"`) + usage + end, `completed [function_call completed: fsread{"path": "a"}]`},
		{"a call with a text", `,"tools":[{"type":"custom","name":"read"}]`, event(`"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"input\": \"a\\n<\"}"}}]`, `"tool_calls"`) + usage + end, "completed [custom_tool_call completed: reada\n<]"},
		{"the token limit", "", thought + text + event("", `"length"`) + usage + end, `incompletemax_output_tokens [reasoning completed: Hm.] [message incomplete: Yes "<1".]`},
		{"the token limit in thoughts", "", thought + event("", `"length"`) + usage + end, `incompletemax_output_tokens [reasoning incomplete: Hm.]`},
		{"a content filter", "", text + event("", `"content_filter"`) + usage + end, `incompletecontent_filter [message incomplete: Yes "<1".]`},
		{"a second choice", "", text + strings.Replace(event(`"content":"No."`, "null"), `"index":0`, `"index":1`, 1) + event("", `"stop"`) + usage + end, `completed [message completed: Yes "<1".]`},
		{"a refusal", "", event(`"refusal":"I will "`, "null") + event(`"refusal":"not."`, `"stop"`) + usage + end, `completed [message completed: I will not.]`},
		{"nothing", "", event("", `"stop"`) + usage + end, `completed []`},
	} {
		streaming, whole := respond(t, true, row.want, streamed(row.in), finish), respond(t, false, row.want,
			streamed(row.in), finish)
		doc, _ := heard(t, streaming.Body.String())
		if got := brief(doc); got != row.out {
			t.Errorf("%s: %s\nwant %s", row.name, got, row.out)
		}
		if a, b := alike(doc.Raw), alike(whole.Body.String()); a != b {
			t.Errorf("%s: streamed\n%s\nwhole\n%s", row.name, a, b)
		}
		if got := doc.Get("usage").Raw; got != `{"input_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":8}` {
			t.Errorf("%s: usage %s", row.name, got)
		}
		if kind := streaming.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") ||
			whole.Header().Get("Content-Length") != fmt.Sprint(whole.Body.Len()) {
			t.Errorf("%s: %v, %v", row.name, streaming.Header(), whole.Header())
		}
	}
}

// A document of the model server becomes the same, though nobody decodes plain reasoning for it.
func TestResponseOfDocument(t *testing.T) {
	for message, want := range map[string]string{
		`"content":"Yes.","reasoning":"Hm \u0041."`: `completed [reasoning completed: Hm A.] [message completed: Yes.]`,
		`"content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"x","function":{"name":"read","arguments":"{\"path\":1}"}}]`:    `completed [reasoning completed: Hm.] [function_call completed: read{"path":1}]`,
		`"content":"","reasoning_content":"<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":1}<|call|>"`: `completed [function_call completed: read{"path":1}]`,
	} {
		for _, stream := range []bool{true, false} {
			w := respond(t, stream, "",
				document(`{"choices":[{"index":0,"message":{`+message+
					`},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`), finish)
			doc := gjson.Parse(w.Body.String())
			if stream {
				doc, _ = heard(t, w.Body.String())
			}
			if got := brief(doc); got != want || doc.Get("usage.input_tokens").Int() != 1 {
				t.Errorf("%s, stream %v: %s\nwant %s", message, stream, got, want)
			}
		}
	}
}

// However a reply is cut into events, its answer is the same, streamed or whole.
func TestResponseOfAnyChunking(t *testing.T) {
	replies := []struct{ thought, text string }{
		{"I need the file <|a|>.", "Größe: \U0001F600 < 3 \"x\"\n"},
		{"Look.", "First.\n<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\":\"a\"}<|call|>"},
		{"", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis<|message|>More.<|end|><|start|>assistant<|channel|>final<|message|>It is.<|return|>"},
		{"a", "  \n "},
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := replies[rapid.IntRange(0, len(replies)-1).Draw(rt, "reply")]
		whole := event(`"reasoning":`+string(openai.AppendString(nil, r.thought)),
			"null") + event(`"content":`+string(openai.AppendString(nil, r.text)), "null") + event("",
			`"stop"`) + end
		cut := ""
		for _, field := range []struct{ name, text string }{{"reasoning", r.thought}, {"content", r.text}} {
			for runes := []rune(field.text); len(runes) > 0; {
				n := rapid.IntRange(1, len(runes)).Draw(rt, "n")
				cut += event(`"`+field.name+`":`+string(openai.AppendString(nil, string(runes[:n]))), "null")
				runes = runes[n:]
			}
		}
		cut += event("", `"stop"`) + end
		want := alike(respond(t, false, sealing, streamed(whole), finish).Body.String())
		doc, _ := heard(t, respond(t, true, sealing, streamed(cut), finish).Body.String())
		if got := alike(doc.Raw); got != want {
			rt.Fatalf("%s\nin pieces %s", want, got)
		}
		if got := alike(respond(t, false, sealing, streamed(cut), finish).Body.String()); got != want {
			rt.Fatalf("%s\nin pieces, whole %s", want, got)
		}
		for _, item := range doc.Get("output").Array() {
			sealed, _ := strings.CutPrefix(item.Get("encrypted_content").String(), "gpt-oss.")
			thought, err := base64.StdEncoding.DecodeString(sealed)
			if item.Get("type").String() == "reasoning" && (err != nil || len(thought) == 0 ||
				string(thought) != item.Get("content.0.text").String()) {
				rt.Fatalf("%s: %v, %q", item, err, thought)
			}
		}
	})
}

const sealing = `,"include":["reasoning.encrypted_content"]`

// The events of an answer come in the order that the official SDKs expect.
func TestResponseEvents(t *testing.T) {
	in := event(`"reasoning_content":"Hm."`, "null") + event(`"content":"Yes."`,
		"null") + event(`"content":" No.","tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}]`, `"tool_calls"`) + end
	_, events := heard(t, respond(t, true, "", streamed(in), finish).Body.String())
	item := func(kind string) []string {
		return []string{"response.output_item.added", "response.content_part.added",
			"response." + kind + ".delta", "response." + kind + ".done", "response.content_part.done",
			"response.output_item.done"}
	}
	want := slices.Concat([]string{"response.created", "response.in_progress"}, item("reasoning_text"),
		item("output_text"),
		[]string{"response.output_item.added", "response.function_call_arguments.delta",
			"response.function_call_arguments.done", "response.output_item.done", "response.completed"})
	if !slices.Equal(events, want) {
		t.Errorf("%q\nwant %q", events, want)
	}
}

// What an answer says of its request, and that nothing is stored.
func TestResponseEcho(t *testing.T) {
	in := event(`"reasoning":"Hm <."`, "null") + event(`"content":"Yes."`, `"stop"`) + end
	doc := gjson.Parse(respond(t, false,
		sealing+`,"store":true,"temperature":0.5,"metadata":{"a":"b"},"max_output_tokens":7,"tool_choice":"none","truncation":null,"instructions":"x"`, streamed(in), finish).Body.String())
	for path, want := range map[string]string{
		"object": `"response"`, "model": `"gpt-oss"`, "store": "false", "temperature": "0.5",
		"metadata": `{"a":"b"}`, "max_output_tokens": "7", "tool_choice": `"none"`,
		"truncation": `"disabled"`, "parallel_tool_calls": "true", "text": `{"format":{"type":"text"}}`,
		"tools": "[]", "error": "null", "incomplete_details": "null", "usage": "null",
		"output.1.role": `"assistant"`, "output.1.content.0.annotations": "[]", "output.0.summary": "[]",
		"previous_response_id": "null",
	} {
		if got := doc.Get(path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	// A client that keeps nothing but what is encrypted gives the thought back all the same.
	item := fmt.Sprintf(`{"type":"reasoning","summary":[],"encrypted_content":%s}`,
		doc.Get("output.0.encrypted_content").Raw)
	chat, _, err := toChat([]byte(`{"input":[` + item + `,{"role":"assistant","content":"Yes."}]}`))
	ruletest.Must(t, err)
	if got := gjson.GetBytes(chat, "messages.0.reasoning_content").String(); got != "Hm <." {
		t.Errorf("%q came back in %s", got, chat)
	}
}

// A sentence of ours stands where there is nothing, and on a line of its own behind text.
func TestResponseSay(t *testing.T) {
	said := func(s turn.Sink) error { s.Say("No answer."); return s.Finish() }
	again := func(s turn.Sink) error { s.Begin(""); return said(s) }
	const refused = `,"tool_calls":[{"id":"a","type":"function","function":{"name":"launch","arguments":"{}"}}]`
	for _, row := range []struct {
		message       string
		finish        func(turn.Sink) error
		streamed, one string
	}{
		{`"content":""`, said, "[message completed: No answer.]", ""},
		{`"content":"Yes."` + refused, said, "[message completed: Yes.\n\nNo answer.]", ""},
		{`"content":""` + refused, said, "[message completed: No answer.]", ""},
		{`"content":"So it"`, again, "[message completed: So it] [message completed: \n\nNo answer.]", "[message completed: No answer.]"},
	} {
		for _, stream := range []bool{true, false} {
			want := row.streamed
			if !stream && row.one != "" {
				want = row.one
			}
			w := respond(t, stream, "",
				document(`{"choices":[{"index":0,"message":{`+row.message+
					`},"finish_reason":"content_filter"}]}`), row.finish)
			doc := gjson.Parse(w.Body.String())
			if stream {
				doc, _ = heard(t, w.Body.String())
			}
			if got := brief(doc); got != "completed "+want {
				t.Errorf("stream %v, %s: %q, want %q", stream, row.message, got, want)
			}
		}
	}
}

// An error is one of HTTP while nothing has left, and the last event after.
func TestResponseFail(t *testing.T) {
	e := openai.RateLimited(time.Second)
	fails := func(want bool) func(turn.Sink) error {
		return func(s turn.Sink) error {
			if err := s.Fail(e); errors.Is(err, e) != want {
				t.Errorf("%v, want the error: %v", err, want)
			}
			return nil
		}
	}
	nothing := func(*turn.Reader) error { return nil }
	respond(t, false, "", nothing, fails(true))
	respond(t, true, "", nothing, fails(true))
	doc, _ := heard(t, respond(t, true, "", streamed(event(`"content":"So"`, `"stop"`)),
		fails(false)).Body.String())
	if got := brief(doc); got != "failed [message incomplete: So]" ||
		doc.Get("error.code").String() != "rate_limit_exceeded" || doc.Get("error.message").String() == "" {
		t.Errorf("%s: %s", got, doc.Get("error"))
	}
}

// A fault of a server has the code after which agents try again, and its own in what it says.
func TestResponseFault(t *testing.T) {
	e := openai.UpstreamFailed("It broke off.", "")
	w := respond(t, true, "", streamed(event(`"content":"So"`, `"stop"`)),
		func(s turn.Sink) error { return s.Fail(e) })
	doc, _ := heard(t, w.Body.String())
	if got := doc.Get("error").Raw; got != `{"code":"server_error","message":"It broke off. (502 server error: you can retry your request) (upstream_error)"}` {
		t.Error(got)
	}
}

// A caller is never left without an event for long, and what it gets then is data.
func TestResponseKeepalive(t *testing.T) {
	_, asked, err := toChat([]byte(`{"input":"go"}`))
	ruletest.Must(t, err)
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		sink := newResponse(w, sinkConfig{Params: asked, Model: "gpt-oss", Stream: true,
			Keepalive: 20 * time.Millisecond, RoleWait: usualRoleWait, Log: slog.New(slog.DiscardHandler)})
		time.Sleep(150 * time.Millisecond)
		sink.Stop()
		if n := strings.Count(w.Body.String(), "event: response.in_progress\ndata: {"); n < 3 ||
			strings.Count(w.Body.String(), "response.created\"") != 1 {
			t.Errorf("%d in\n%s", n, w.Body)
		}
	})
}
