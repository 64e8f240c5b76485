package upstream

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// conversation is messages in a request, one a line.
func conversation(messages ...string) string {
	return `{"messages":[` + strings.Join(messages, ",") + `]}`
}

const (
	asked    = `{"role":"user","content":"list it"}`
	called   = `{"role":"assistant","content":null,"tool_calls":[{"id":"call1","type":"function","function":{"name":"exec","arguments":"{}"}}]}`
	answered = `{"role":"assistant","content":"done","reasoning_content":"old thoughts"}`
)

func TestPrepareReasoning(t *testing.T) {
	with := func(fields string) string {
		return strings.Replace(called, `"content":null,`, `"content":null,`+fields, 1)
	}
	const restored = `"reasoning":"I need the list first.",`
	tests := []struct{ name, server, in, want string }{
		{"renamed", "vllm", with(`"reasoning_content":"a \"b\"",`), strings.Replace(called, "{", `{"reasoning":"a \"b\"",`, 1)},
		{"own name", "vllm", with(`"reasoning":"a",`), with(`"reasoning":"a",`)},
		{"both where unknown", "generic", with(`"reasoning_content":"a",`), strings.Replace(called, "{", `{"reasoning":"a","reasoning_content":"a",`, 1)},
		{"one of two", "vllm", with(`"reasoning_content":"a","reasoning":"a",`), strings.Replace(called, "{", `{"reasoning":"a",`, 1)},
		{"restored", "vllm", called, strings.Replace(called, "{", "{"+restored, 1)},
		{"restored over nothing", "vllm", with(`"reasoning":"",`), strings.Replace(called, "{", "{"+restored, 1)},
		{"restored by cleaned id", "vllm", strings.Replace(called, "call1", "call_1", 1), strings.Replace(strings.Replace(called, "call1", "call_1", 1), "{", "{"+restored, 1)},
		{"unknown call", "vllm", strings.Replace(called, "call1", "call2", 1), strings.Replace(called, "call1", "call2", 1)},
		{"not before a final answer", "vllm", called + "," + answered, called + `,{"role":"assistant","content":"done"}`},
		{"nor sent there", "vllm", with(`"reasoning":"a",`) + "," + answered, called + `,{"role":"assistant","content":"done"}`},
		{"again after it", "vllm", answered + "," + asked + "," + called, `{"role":"assistant","content":"done"},` + asked + "," + strings.Replace(called, "{", "{"+restored, 1)},
		{"servers without a name", "lmstudio", with(`"reasoning_content":"a",`), with(`"reasoning_content":"a",`)},
	}
	for _, tt := range tests {
		if got, want := prepared(t, conversation(asked, tt.in), tt.server,
			ruleset.Model{}), conversation(asked, tt.want); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
}

func TestPrepareCalls(t *testing.T) {
	call := func(name, args string) string {
		return conversation(asked,
			`{"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"`+name+`"`+args+
				`}}]}`)
	}
	tests := []struct{ name, in, inArgs, want, wantArgs string }{
		{"sound", "exec", `,"arguments":"{\"a\":1}"`, "exec", `,"arguments":"{\"a\":1}"`},
		{"sound and unknown", "no_longer-offered", `,"arguments":" {} "`, "no_longer-offered", `,"arguments":" {} "`},
		{"channel behind", "exec<|channel|>commentary", `,"arguments":"{}"`, "exec", `,"arguments":"{}"`},
		{"namespace", "functions.exec", `,"arguments":"{}"`, "exec", `,"arguments":"{}"`},
		{"not offered", "functions.rm<|constrain|>json", `,"arguments":"{}"`, "rm", `,"arguments":"{}"`},
		{"nothing left", "<|channel|>", `,"arguments":"{}"`, "unknown", `,"arguments":"{}"`},
		{"cut off", "exec", `,"arguments":"{\"a\":1"`, "exec", `,"arguments":"{\"a\":1}"`},
		{"two objects", "exec", `,"arguments":"{\"a\":1}{\"a\":2}"`, "exec", `,"arguments":"{\"a\":1}"`},
		{"no object", "exec", `,"arguments":"[\"ls\"]"`, "exec", `,"arguments":"{\"arguments\":[\"ls\"]}"`},
		{"text", "exec", `,"arguments":"ls -l"`, "exec", `,"arguments":"{\"arguments\":\"ls -l\"}"`},
		{"empty", "exec", `,"arguments":""`, "exec", `,"arguments":"{}"`},
		{"null", "exec", `,"arguments":null`, "exec", `,"arguments":"{}"`},
		{"missing", "exec", ``, "exec", `,"arguments":"{}"`},
		{"an object", "exec", `,"arguments":{"a":"\n"}`, "exec", `,"arguments":"{\"a\":\"\\n\"}"`},
	}
	for _, tt := range tests {
		if got, want := prepared(t, call(tt.in, tt.inArgs), "lmstudio", ruleset.Model{}), call(tt.want,
			tt.wantArgs); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
	result := conversation(asked, called,
		`{"role":"tool","tool_call_id":"call1","name":"functions.exec","content":"x"}`)
	if got := prepared(t, result, "lmstudio", ruleset.Model{}); !strings.Contains(got,
		`"name":"exec","content":"x"`) {
		t.Errorf("name of a result: %s", got)
	}
}

func TestPrepareControlTokens(t *testing.T) {
	z := zeroWidthSpace
	tests := []struct{ in, want string }{
		{`"a<|start|>b<|end|>"`, `"a<` + z + `|start|>b<` + z + `|end|>"`},
		{`"\u003c|call|\u003e"`, `"\u003c` + z + `|call|\u003e"`},
		{`"\u003C\u007creturn\u007C>"`, `"\u003C` + z + `\u007creturn\u007C>"`},
		{`"<|other|> <|start> |channel|>"`, `"<|other|> <|start> |channel|>"`},
		{`[{"type":"text","text":"<|message|>"},{"type":"x","y":"<|message|>"}]`, `[{"type":"text","text":"<` + z + `|message|>"},{"type":"x","y":"<|message|>"}]`},
	}
	for _, tt := range tests {
		for _, role := range []string{"user", "tool", "assistant", "system"} {
			in := conversation(strings.Replace(called, "call1", "call2", 1),
				`{"role":"`+role+`","tool_call_id":"call2","content":`+tt.in+`}`)
			want := conversation(strings.Replace(called, "call1", "call2", 1),
				`{"role":"`+role+`","tool_call_id":"call2","content":`+tt.want+`}`)
			if got := prepared(t, in, "llamacpp", ruleset.Model{Images: true}); got != want {
				t.Errorf("%s:\n got %s\nwant %s", tt.in, got, want)
			}
		}
	}
	for _, name := range []string{"reasoning", "reasoning_content"} {
		in := conversation(asked, strings.Replace(called, "{", `{"`+name+`":"<|channel|>x",`, 1))
		if got := prepared(t, in, "llamacpp", ruleset.Model{}); !strings.Contains(got,
			`"reasoning_content":"<`+z+`|channel|>x"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

const contextText = `<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nno sessions\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>`

func TestPrepareRuntimeContext(t *testing.T) {
	context := `{"role":"user","content":"` + contextText + `"}`
	parts := `{"role":"user","content":[{"type":"text","text":"` + contextText + `"}]}`
	result := func(content string) string {
		return `{"role":"tool","tool_call_id":"call1","content":` + content + `}`
	}
	before := strings.Replace(called, "{", `{"reasoning_content":"hm",`, 1)
	tests := []struct{ name, server, in, want string }{
		{"to a string", "llamacpp", result(`"out"`) + "," + parts, result(`"out\n\n` + contextText + `"`)},
		{"as a string", "llamacpp", result(`"out"`) + "," + context, result(`"out\n\n` + contextText + `"`)},
		{"to parts", "llamacpp", result(`[{"type":"text","text":"out"}]`) + "," + context, result(`[{"type":"text","text":"out"},{"type":"text","text":"\n\n` + contextText + `"}]`)},
		{"to no parts", "llamacpp", result(`[]`) + "," + context, result(`[{"type":"text","text":"\n\n` + contextText + `"}]`)},
		{"to flattened parts", "ollama", result(`[{"type":"text","text":"out"}]`) + "," + parts, result(`"out\n\n` + contextText + `"`)},
		{"to null", "llamacpp", result(`null`) + "," + context, result(`"\n\n` + contextText + `"`)},
		{"another user message", "llamacpp", result(`"out"`) + "," + asked, result(`"out"`) + "," + asked},
		{"not behind a result", "llamacpp", result(`"out"`) + "," + asked + "," + context, result(`"out"`) + "," + asked + "," + context},
	}
	for _, tt := range tests {
		had := before
		if tt.server == "ollama" {
			had = strings.Replace(before, "reasoning_content", "reasoning", 1)
		}
		if got, want := prepared(t, conversation(asked, had, tt.in), tt.server,
			ruleset.Model{}), conversation(asked, had, tt.want); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
}

func TestPrepareSystem(t *testing.T) {
	sys := func(role, content string) string { return `{"role":"` + role + `","content":` + content + `}` }
	tests := []struct{ name, in, want string }{
		{"one", sys("system", `"a"`) + "," + asked, sys("system", `"a"`) + "," + asked},
		{"developer", sys("developer", `"a"`) + "," + asked, sys("system", `"a"`) + "," + asked},
		{"two", sys("system", `"a"`) + "," + sys("developer", `"b"`) + "," + asked + "," + sys("system", `[{"type":"text","text":"c"}]`), sys("system", `"a\n\nb\n\nc"`) + "," + asked},
		{"none leads", asked + "," + sys("system", `"b<|end|>"`), sys("system", `"b<`+zeroWidthSpace+`|end|>"`) + "," + asked},
	}
	for _, tt := range tests {
		if got, want := prepared(t, conversation(tt.in), "lmstudio",
			ruleset.Model{}), conversation(tt.want); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
}

func TestPrepareFlattensParts(t *testing.T) {
	in := conversation(`{"role":"user","content":[{"type":"text","text":"a"},"b<|end|>"]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"c"}]}`)
	want := conversation(`{"role":"user","content":"a\nb<`+zeroWidthSpace+`|end|>"}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{}},{"type":"text","text":"c"}]}`)
	if got := prepared(t, in, "ollama", ruleset.Model{Images: true}); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What a server or the model cannot read stands in the history in a form that they can.
func TestPrepareUnreadable(t *testing.T) {
	const image, saw = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`, "[An image stands here. You cannot see it.]"
	said := func(role, fields string) string { return `{"role":"` + role + `",` + fields + `}` }
	result := func(content string) string { return said("tool", `"tool_call_id":"call2","content":`+content) }
	called := strings.Replace(called, "call1", "call2", 1)
	live := func(fields string) string { return strings.Replace(called, "{", "{"+fields+",", 1) }
	tests := []struct{ name, server, in, want string }{
		{"an image of the user", "vllm", said("user", `"content":[`+image+`,{"type":"text","text":"what?"}]`), said("user", `"content":[{"type":"text","text":"`+saw+`"},{"type":"text","text":"what?"}]`)},
		{"as one text", "ollama", said("user", `"content":[{"type":"text","text":"what?"},`+image+`]`), said("user", `"content":"what?\n`+saw+`"`)},
		{"in a result", "ollama", called + "," + result(`[{"type":"text","text":"x.png"},`+image+`]`), called + "," + result(`"x.png\n`+saw+`"`)},
		{"another result alone", "llamacpp", called + "," + result(`[`+image+`]`), called + "," + result(`[{"type":"text","text":"`+saw+`"}]`)},
		{"sound", "ollama", said("user", `"content":[{"type":"input_audio","input_audio":{}}]`), said("user", `"content":"[Sound stands here. You cannot hear it.]"`)},
		{"a file", "ollama", said("user", `"content":[{"type":"file","file":{}}]`), said("user", `"content":"[Something stands here that is no text. You cannot read it.]"`)},
		{"a refusal", "ollama", said("assistant", `"content":[{"type":"refusal","refusal":"no"}]`), said("assistant", `"content":"no"`)},
		{"in a system message", "lmstudio", said("system", `"content":[`+image+`]`), said("system", `"content":"`+saw+`"`) + "," + asked},
		{"no content", "ollama", said("assistant", `"content":null`), said("assistant", `"content":""`)},
		{"no member content", "vllm", said("assistant", `"refusal":null`), `{"content":"","role":"assistant","refusal":null}`},
		{"no content beside calls", "ollama", called, called},
		{"no content in a result", "llamacpp", called + `,{"role":"tool","tool_call_id":"call2"}`, called + `,{"content":"","role":"tool","tool_call_id":"call2"}`},
		{"nor a text", "ollama", called + "," + result("null"), called + "," + result(`""`)},
		{"a result without its call", "llamacpp", said("tool", `"tool_call_id":"gone","name":"exec","content":"out"`), said("user", `"content":"This is the result of an earlier call of exec, which is no longer part of this conversation:\n\nout"`)},
		{"one in parts", "llamacpp", said("tool", `"tool_call_id":"gone","content":[{"type":"text","text":"out"}]`), said("user", `"content":[{"type":"text","text":"This is the result of an earlier call of a tool, which is no longer part of this conversation:\n\n"},{"type":"text","text":"out"}]`)},
		{"one that comes too early", "llamacpp", result(`"out"`) + "," + called, said("user", `"content":"This is the result of an earlier call of a tool, which is no longer part of this conversation:\n\nout"`) + "," + called},
		{"reasoning_text", "vllm", live(`"reasoning_text":"hm"`), live(`"reasoning":"hm"`)},
		{"reasoning_details", "vllm", live(`"reasoning_details":[{"type":"reasoning.text","text":"h"},{"text":"m"}]`), live(`"reasoning":"hm"`)},
		{"a text and its details", "vllm", live(`"reasoning_details":[{"text":"other"}],"reasoning_content":"hm"`), live(`"reasoning":"hm"`)},
		{"details without text", "vllm", live(`"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]`), live(`"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]`)},
	}
	for _, tt := range tests {
		want := conversation(asked, tt.want)
		if strings.HasPrefix(tt.name, "in a system") {
			want = conversation(tt.want)
		}
		if got := prepared(t, conversation(asked, tt.in), tt.server, ruleset.Model{}); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
}

// A conversation that grows must leave with the same beginning, or the server
// computes it all again.
func TestPrepareKeepsThePrefix(t *testing.T) {
	result := `{"role":"tool","tool_call_id":"call1","content":"<|start|>"}`
	args, err := policy.WithAsk("exec", []byte(`{"command":"ls"}`), "why", func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	asks := strings.Replace(called, `"{}"`, string(openai.AppendString(nil, string(args))), 1)
	if asks == called {
		t.Fatal(called)
	}
	short := conversation(`{"role":"system","content":"s"}`, asked, asks, result)
	long := conversation(`{"role":"system","content":"s"}`, asked, asks, result,
		strings.Replace(called, "call1", "call2", 1), result)
	for _, srv := range testSet().Servers {
		a, b := prepared(t, short, srv.ID.Value, ruleset.Model{}), prepared(t, long, srv.ID.Value,
			ruleset.Model{})
		if !strings.HasPrefix(b, strings.TrimSuffix(a, "]}")) {
			t.Errorf("%s: prefix changes:\n%s\n%s", srv.ID.Value, a, b)
		}
	}
}

// Templates of gpt-oss and GigaChat show the first call of a message only, and Llama's refuses two.
func TestPrepareOneCall(t *testing.T) {
	call := func(id string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"functions.exec","arguments":"{}"}}`
	}
	made := func(calls ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"text"}` }
	sound := func(s string) string { return strings.ReplaceAll(s, "functions.", "") }
	for name, row := range map[string]struct{ in, want string }{
		"two": {made(call("a"), call("b")) + "," + result("a") + "," + result("b"),
			made(call("a")) + "," + result("a") + "," + made(call("b")) + "," + result("b")},
		"three, and more behind": {made(call("a"), call("b"), call("c")) + "," + result("a") + "," + result("b") + "," +
			result("c") + "," + asked, made(call("a")) + "," + result("a") + "," + made(call("b")) + "," + result("b") + "," +
			made(call("c")) + "," + result("c") + "," + asked},
		"one":                   {made(call("a")) + "," + result("a"), made(call("a")) + "," + result("a")},
		"a result is not there": {made(call("a"), call("b")) + "," + result("a"), made(call("a"), call("b")) + "," + result("a")},
		"another order": {made(call("a"), call("b")) + "," + result("b") + "," + result("a"),
			made(call("a"), call("b")) + "," + result("b") + "," + result("a")},
	} {
		q := request(t, conversation(asked, row.in))
		edits := Prepare(q, testSet().Server("vllm"), ruleset.Model{}, Memory{History: ruleset.History{OneCall: true}}, nil)
		if got, want := string(openai.Apply(q.Body, edits)), conversation(asked, sound(row.want)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// The template of Mistral raises where the user or the model speaks twice, also around calls and results.
func TestPrepareAlternate(t *testing.T) {
	user := func(text string) string { return `{"role":"user","content":"` + text + `"}` }
	model := func(text string) string { return `{"role":"assistant","content":"` + text + `"}` }
	const result = `{"role":"tool","tool_call_id":"call1","content":"text"}`
	none, before := strings.TrimSuffix(noAnswer, ","), strings.TrimSuffix(noQuestion, ",")
	for name, row := range map[string]struct{ in, want []string }{
		"in turns":     {[]string{user("a"), called, result, model("b"), user("c")}, nil},
		"user twice":   {[]string{user("a"), user("b"), user("c")}, []string{user(`a\n\nb\n\nc`)}},
		"model twice":  {[]string{user("a"), model("b"), model("c"), user("d")}, []string{user("a"), model(`b\n\nc`), user("d")}},
		"no answer":    {[]string{user("a"), called, result, user("b")}, []string{user("a"), called, result, none, user("b")}},
		"no result":    {[]string{user("a"), called, user("b")}, []string{user("a"), called, none, user("b")}},
		"no question":  {[]string{model("a"), user("b")}, []string{before, model("a"), user("b")}},
		"twice around": {[]string{user("a"), model("b"), user("c"), called, result, model("d")}, nil},
		"answer in front of calls": {[]string{user("a"), model("b"), called, result, model("c")},
			[]string{user("a"), strings.Replace(called, "null", `"b"`, 1), result, model("c")}},
		"an answer, calls, an answer": {[]string{user("a"), called, result, model("b"), called, result, model("c")},
			[]string{user("a"), called, result, strings.Replace(called, "null", `"b"`, 1), result, model("c")}},
		"images": {[]string{user("a"), `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}`},
			[]string{user("a"), none, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}]}`}},
	} {
		if row.want == nil {
			row.want = row.in
		}
		q := request(t, conversation(row.in...))
		edits := Prepare(q, testSet().Server("vllm"), ruleset.Model{Images: true},
			Memory{History: ruleset.History{Alternate: true}}, nil)
		if got, want := string(openai.Apply(q.Body, edits)), conversation(row.want...); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}
