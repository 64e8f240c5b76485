package upstream

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const hello = `"messages":[{"role":"user","content":"hello"}]`

// prepared is the body that leaves for a server.
func prepared(t testing.TB, body, server string, m ruleset.Model) string {
	t.Helper()
	cot := thoughts{"call1": "I need the list first."}
	out := openai.Apply([]byte(body), Prepare(request(t, body), testSet().Server(server), m,
		Memory{Thoughts: cot}, oneTool{}))
	if !json.Valid(out) {
		t.Fatalf("not JSON: %s", out)
	}
	return string(out)
}

type thoughts map[string]string

func (c thoughts) Get(id string) (string, bool) { text, ok := c[id]; return text, ok }

// oneTool offers exec only.
type oneTool struct{}

func (oneTool) Name(raw string) (tools.Match, *tools.Refusal) {
	if strings.Contains(raw, "exec") {
		return tools.Match{Name: "exec"}, nil
	}
	return tools.Match{}, &tools.Refusal{Code: tools.NotOffered, Name: raw}
}

func TestPrepareFields(t *testing.T) {
	temperature := ruleset.Model{Sampling: map[string]any{"temperature": 0.5, "max_tokens": 100,
		"reasoning_effort": "high"}}
	tests := []struct{ name, server, body, want string }{
		{"nothing to do", "vllm", `{"model":"m", "x" : [1, 2.50],` + hello + `}`, `{"model":"m", "x" : [1, 2.50],` + hello + `}`},
		{"tokens renamed", "ollama", `{"max_completion_tokens":9,` + hello + `}`, `{"max_tokens":9,` + hello + `}`},
		{"tokens in both names", "ollama", `{"max_completion_tokens":9,"max_tokens":8,` + hello + `}`, `{"max_tokens":8,` + hello + `}`},
		{"tokens kept", "vllm", `{"max_completion_tokens":9,` + hello + `}`, `{"max_completion_tokens":9,` + hello + `}`},
		{"no tools", "vllm", `{"tools":[],"tool_choice":"auto",` + hello + `}`, `{` + hello + `}`},
		{"tools null", "vllm", `{"tools":null,` + hello + `}`, `{` + hello + `}`},
		{"choice without tools", "vllm", `{` + hello + `,"tool_choice":"none"}`, `{` + hello + `}`},
		{"choice of a function", "vllm", `{` + hello + tool + `,"tool_choice":{"type":"function","function":{"name":"exec"}}}`, `{` + hello + tool + `,"tool_choice":"auto"}`},
		{"choice required", "vllm", `{` + hello + tool + `,"tool_choice":"required"}`, `{` + hello + tool + `,"tool_choice":"auto"}`},
		{"choice none", "vllm", `{` + hello + tool + `,"tool_choice":"none"}`, `{` + hello + tool + `,"tool_choice":"none"}`},
		{"choice passed", "sglang", `{` + hello + tool + `,"tool_choice":"required"}`, `{` + hello + tool + `,"tool_choice":"required"}`},
		{"choice none of a server that ignores it", "ollama", `{` + hello + tool + `,"tool_choice":"none"}`, `{` + hello + `}`},
		{"choice dropped", "ollama", `{` + hello + tool + `,"tool_choice":"required"}`, `{` + hello + tool + `}`},
		{"effort kept", "vllm", `{"reasoning_effort":"medium",` + hello + `}`, `{"reasoning_effort":"medium",` + hello + `}`},
		{"effort minimal", "vllm", `{"reasoning_effort":"minimal",` + hello + `}`, `{"reasoning_effort":"low",` + hello + `}`},
		{"effort none", "vllm", `{"reasoning_effort":"none",` + hello + `}`, `{` + hello + `}`},
		{"effort unknown", "vllm", `{"reasoning_effort":"huge",` + hello + `}`, `{` + hello + `}`},
		{"effort of OpenRouter", "vllm", `{"reasoning":{"effort":"low"},` + hello + `}`, `{"reasoning_effort":"low","reasoning":{"effort":"low"},` + hello + `}`},
		{"effort left alone", "sglang", `{"reasoning_effort":"huge",` + hello + `}`, `{"reasoning_effort":"huge",` + hello + `}`},
		{"effort of llama.cpp", "llamacpp", `{"reasoning_effort":"low",` + hello + `}`, `{"chat_template_kwargs":{"reasoning_effort":"low"},` + hello + `}`},
		{"effort beside others", "llamacpp", `{"chat_template_kwargs":{"a":1},"reasoning_effort":"low",` + hello + `}`, `{"chat_template_kwargs":{"reasoning_effort":"low","a":1},` + hello + `}`},
		{"effort already there", "llamacpp", `{"chat_template_kwargs":{"reasoning_effort":"high"},"reasoning_effort":"low",` + hello + `}`, `{"chat_template_kwargs":{"reasoning_effort":"high"},` + hello + `}`},
		{"fields dropped", "generic", `{"store":true,` + hello + `,"prompt_cache_key":"k"}`, `{` + hello + `}`},
		{"all fields kept", "vllm", `{"store":true,` + hello + `,"prompt_cache_key":"k","later":{}}`, `{"store":true,` + hello + `,"prompt_cache_key":"k","later":{}}`},
		{"strict dropped", "sglang", `{` + hello + `,"tools":[{"type":"function","function":{"name":"exec","strict":false,"parameters":{}}}]}`, `{` + hello + `,"tools":[{"type":"function","function":{"name":"exec","parameters":{}}}]}`},
		{"schemas in plain words", "generic", `{` + hello + `,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","additionalProperties":true,"properties":{"true":true,"list":{"type":"array"},"items":{"type":"array","items":true},"pair":{"prefixItems":[true,{"type":"array"}],"type":"array"},"any":{"anyOf":[true,{"type":"string","default":true}]},"in":{"type":"object","properties":{"a":{"items":{"type":"array"},"type":"array"}}}},"$defs":{"a":true}}}}]}`,
			`{` + hello + `,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","additionalProperties":true,"properties":{"true":{},"list":{"items":{},"type":"array"},"items":{"type":"array","items":{}},"pair":{"items":{},"prefixItems":[{},{"items":{},"type":"array"}],"type":"array"},"any":{"anyOf":[{},{"type":"string","default":true}]},"in":{"type":"object","properties":{"a":{"items":{"items":{},"type":"array"},"type":"array"}}}},"$defs":{"a":{}}}}}]}`},
		{"schema", "lmstudio", `{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}},` + hello + `}`, `{"json_schema":{"type":"object"},` + hello + `}`},
		{"schema as it is", "vllm", `{"response_format":{"type":"json_object"},` + hello + `}`, `{"response_format":{"type":"json_object"},` + hello + `}`},
	}
	for _, tt := range tests {
		if got := prepared(t, tt.body, tt.server, ruleset.Model{}); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if got, want := prepared(t, `{"model":"gpt-oss",`+hello+`}`, "vllm",
		ruleset.Model{Name: "openai/gpt-oss-20b"}), `{"model":"openai/gpt-oss-20b",`+hello+`}`; got != want {
		t.Errorf("model: got %s, want %s", got, want)
	}
	got := prepared(t, `{"max_completion_tokens":5,`+hello+`}`, "ollama", temperature)
	if want := `{"temperature":0.5,"max_tokens":5,` + hello + `}`; got != want {
		t.Errorf("sampling: got %s, want %s", got, want)
	}
	if got := prepared(t, `{"temperature":1,`+hello+`}`, "vllm", temperature); !strings.Contains(got,
		`"temperature":1,`) || !strings.Contains(got, `"reasoning_effort":"high"`) {
		t.Errorf("sampling over the caller's: %s", got)
	}
}

const tool = `,"tools":[{"type":"function","function":{"name":"exec"}}]`

// A tool is strict where its schema can bind all that it takes, and the others say that they are not: the
// server would bind these, too.
func TestPrepareStrict(t *testing.T) {
	open := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
	for _, row := range []struct{ parameters, more, want string }{
		{`{"type":"object","properties":{}}`, "", `"strict":true,`},
		{open(`{"type":"string","enum":[{"type":"object"}],"default":{"type":"object"},"maxLength":99}`), "", `"strict":true,`},
		{`{"type":"object","properties":{"pattern":{"type":"string"},"not":{"type":"integer"}}}`, "", `"strict":true,`},
		{open(`{"type":"object","additionalProperties":{"type":"string"}}`), "", `"strict":true,`},
		{`{"type":"object"}`, "", `"strict":false,`},
		{open(`{"type":"object"}`), "", `"strict":false,`},
		{open(`{"type":"array","items":{"type":"object"}}`), "", `"strict":false,`},
		{open(`{"anyOf":[{"type":"null"},{"$ref":"#/$defs/b"}]},"b":{"type":"string","pattern":"^(?=a)"}`), "", `"strict":false,`},
		{`{"$defs":{"b":{"not":{}}},"type":"object","properties":{}}`, "", `"strict":false,`},
		{open(`{"type":"string","maxLength":4000}`), "", `"strict":false,`},
		{open(`{"type":"object","patternProperties":{".*":{}},"properties":{}}`), "", `"strict":false,`},
		{`{"type":"object"}`, `,"tool_choice":"auto"`, `"strict":false,`},
		{open(`{}`), `,"tool_choice":"none"`, ""},
	} {
		const body = `{%s,"tools":[{"type":"function","function":{%s"name":"f","parameters":%s}},{"type":"function","function":{"name":"g","strict":false,"parameters":{}}}]%s}`
		q := request(t, fmt.Sprintf(body, hello, "", row.parameters, row.more))
		var strict Memory
		strict.Strict = true
		want := fmt.Sprintf(body, hello, row.want, row.parameters, row.more)
		got := openai.Apply(q.Body, Prepare(q, testSet().Server("vllm"), ruleset.Model{}, strict, nil))
		if string(got) != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestPrepareUntouched(t *testing.T) {
	body := `{ "model": "m", "messages": [ {"role":"system","content":"be kind"}, {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"what?"}]},
	 {"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"a1","type":"function","function":{"name":"exec","arguments":"{\"n\": 1.0}"}}]},
	 {"role":"tool","tool_call_id":"a1","content":"a < b | c > d"} ], "stream" : true , "new":{"a":[ ]} }`
	if edits := Prepare(request(t, body), testSet().Server("vllm"), ruleset.Model{Images: true}, Memory{},
		nil); len(edits) != 0 {
		t.Errorf("edits of a request that needs none: %v", edits)
	}
}

func TestCorrect(t *testing.T) {
	body := []byte(`{"model":"m","messages":[` + asked + ` ],"x":1}`)
	const problem = `{"role":"user","content":"No tool \"x\"."}`
	for _, row := range []struct {
		said      string
		alternate bool
		want      string
	}{
		{"<|call|>", false, `,{"role":"assistant","content":"<` + zeroWidthSpace + `|call|>"},` + problem},
		{"said", true, `,{"role":"assistant","content":"said"},` + problem},
		{"", false, "," + problem},
		{"", true, "," + noAnswer + problem},
	} {
		got := string(Correct(body, row.said, `No tool "x".`, row.alternate))
		if want := `{"model":"m","messages":[` + asked + " " + row.want + `],"x":1}`; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	for _, broken := range []string{``, `[]`, `{"messages":1}`, `{"messages":[`} {
		if got := Correct([]byte(broken), "a", "b", false); string(got) != broken {
			t.Errorf("Correct(%s) = %s", broken, got)
		}
	}
}

func FuzzPrepare(f *testing.F) {
	f.Add(`{"max_completion_tokens":9,"tools":[],"tool_choice":{},"reasoning_effort":"x",` + hello + `}`)
	f.Add(conversation(asked, called, answered, `{"role":"tool","content":[]}`,
		`{"role":"user","content":"`+contextText+`"}`))
	f.Add(conversation(`{"role":"developer","content":null,"reasoning":"","reasoning_content":"x"}`,
		`{"role":"system","content":["<|end|>"]}`))
	f.Add(`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a b","arguments":{}}},{}]}],"chat_template_kwargs":{}}`)
	set := testSet()
	model := ruleset.Model{Name: "n", Sampling: map[string]any{"top_p": 1}}
	f.Fuzz(func(t *testing.T, body string) {
		q, err := openai.ParseRequest([]byte(body))
		if err != nil {
			return
		}
		for i := range set.Servers {
			edits := Prepare(q, &set.Servers[i], model, Memory{Thoughts: thoughts{"call1": "x"},
				Notes: thoughts{"call1": "n"}}, oneTool{})
			out := openai.Apply(q.Body, edits)
			if !json.Valid(out) {
				t.Fatalf("%s made of %q: %q", set.Servers[i].ID.Value, body, out)
			}
			again := openai.Apply(q.Body, Prepare(q, &set.Servers[i], model,
				Memory{Thoughts: thoughts{"call1": "x"}, Notes: thoughts{"call1": "n"}}, oneTool{}))
			turns := Memory{History: ruleset.History{OneCall: true, Alternate: true}}
			if got := openai.Apply(q.Body, Prepare(q, &set.Servers[i], model, turns, nil)); !json.Valid(got) {
				t.Fatalf("%s, in turns: %q", set.Servers[i].ID.Value, got)
			}
			if !reflect.DeepEqual(out, again) {
				t.Fatalf("%s: not the same twice: %q, %q", set.Servers[i].ID.Value, out, again)
			}
			for _, said := range []string{"said", ""} {
				if got := Correct(out, said, "why", true); !json.Valid(got) {
					t.Fatalf("Correct: %q", got)
				}
			}
		}
	})
}

// A gateway's request: a long prompt, twelve turns of tools, and a context to move.
func BenchmarkPrepare(b *testing.B) {
	messages := []string{`{"role":"system","content":"` + strings.Repeat("Be <kind> and | brief. ", 2000) +
		`"}`, asked}
	for range 12 {
		messages = append(messages, strings.Replace(called, "{", `{"reasoning_content":"hm",`, 1),
			`{"role":"tool","tool_call_id":"call1","content":"`+strings.Repeat("line\\n", 100)+`"}`)
	}
	messages = append(messages, `{"role":"user","content":"`+contextText+`"}`)
	q, set := request(b, conversation(messages...)), testSet()
	b.SetBytes(int64(len(q.Body)))
	b.ReportAllocs()
	for b.Loop() {
		openai.Apply(q.Body, Prepare(q, set.Server("vllm"), ruleset.Model{Name: "m"}, Memory{}, oneTool{}))
	}
}
