package upstream

import (
	"os"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// shipped is the rule set that the program embeds.
func shipped(t testing.TB) *ruleset.Set {
	t.Helper()
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	set, problems := ruletest.Loader().Load(files)
	if set == nil {
		t.Fatal(problems)
	}
	return set
}

// The shipped dialects know the servers by what they answer.
func TestShippedDetection(t *testing.T) {
	set := shipped(t)
	for want, answers := range map[string]map[string]string{
		"vllm":     {"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"vllm","max_model_len":7}]}`, "/version": `{"version":"0.19.1"}`},
		"vllm_old": {"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"vllm","max_model_len":7}]}`, "/version": `{"version":"0.11.2"}`},
		"sglang":   {"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"sglang","max_model_len":7}]}`, "/get_server_info": `{"reasoning_parser":"gpt-oss"}`},
		"ollama": {"/v1/models": `{"object":"list","data":[{"id":"gpt-oss:20b","owned_by":"library"}]}`,
			"/api/version": `{"version":"0.12.3"}`, "/api/ps": `{"models":[{"model":"x:latest","context_length":2},{"model":"m:latest","context_length":7}]}`},
		"llamacpp": {"/v1/models": `{"models":[],"object":"list","data":[{"id":"m","owned_by":"llamacpp"}]}`, "/props": `{"default_generation_settings":{"n_ctx":7},"total_slots":1}`},
		"lmstudio": {"/v1/models": `{"data":[{"id":"m","object":"model","owned_by":"organization_owner"}]}`, "/api/v0/models": `{"object":"list","data":[{"id":"embed","max_context_length":2},{"id":"m","max_context_length":9,"loaded_context_length":7}]}`},
		"generic":  {"/v1/models": `{"object":"list","data":[{"id":"m","owned_by":"somebody","context_length":7}]}`},
	} {
		got := map[string][]byte{}
		for path, body := range answers {
			got[path] = []byte(body)
		}
		srv := detect(set.Servers, got)
		if srv.ID.Value != want {
			t.Errorf("%s recognised as %s", want, srv.ID.Value)
		}
		if n := smallestWindow(srv, "m", got); n != 7 {
			t.Errorf("%s: window %d", want, n)
		}
	}
}

// Every shipped dialect understands the errors of all servers: one often stands
// behind another.
func TestShippedErrors(t *testing.T) {
	set := shipped(t)
	tests := []struct {
		body  string
		fault ruleset.Fault
	}{
		{`{"object":"error","message":"This model's maximum context length is 100 tokens. However, you requested 130 tokens (90 in the messages, 40 in the completion).","code":400}`, ruleset.Overflow},
		{`{"error":{"message":"You passed 90 input tokens and requested 40 output tokens. However, the model's context length is only 100 tokens, resulting in a maximum input length of 60 tokens.","code":400}}`, ruleset.Overflow},
		{`{"error":{"message":"request (90 tokens) exceeds the available context size (70 tokens), try increasing it","type":"exceed_context_size_error"}}`, ruleset.Overflow},
		{`{"error":{"message":"the prompt is longer than the context length currently available to the model; shorten it"}}`, ruleset.Overflow},
		{`{"object":"error","message":"The input (90 tokens) is longer than the model's context length (70 tokens)."}`, ruleset.Overflow},
		{`{"error":"The number of tokens to keep from the initial prompt is greater than the context length"}`, ruleset.Overflow},
		{`{"error":{"message":"Unexpected token 12606 while expecting start token 200006"}}`, ruleset.HarmonyError},
		{`{"error":{"message":"unexpected tokens remaining in message header: Some(\"analysis\")"}}`, ruleset.HarmonyError},
		{`{"error":{"message":"error parsing tool call: raw='x', err=y"}}`, ruleset.HarmonyError},
		{`{"error":{"message":"temperature must be non-negative"}}`, ruleset.Rejected},
	}
	for i := range set.Servers {
		srv := &set.Servers[i]
		for _, tt := range tests {
			f := Classify(set, srv, Answer{Status: 400, Body: []byte(tt.body)})
			if f.Fault != tt.fault {
				t.Errorf("%s: %s: %s", srv.ID.Value, tt.body, f.Fault)
			}
		}
		if _, ok := Recover(srv, []byte(groq(`{"name":"a","arguments":{}}`))); !ok {
			t.Errorf("%s: Groq's generation is lost", srv.ID.Value)
		}
	}
	f := Classify(set, set.Server("vllm"),
		Answer{Status: 400, Body: []byte(`'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8000 tokens and your request has 100 input tokens (9000 > 8000 - 100).`)})
	if f.fits != 7900 {
		t.Errorf("max_tokens that fits: %d", f.fits)
	}
}

// Every shipped dialect makes a valid request of a conversation with everything
// in it, and the same one each time.
func TestShippedPrepare(t *testing.T) {
	set := shipped(t)
	body := conversation(`{"role":"system","content":"s"}`, asked, called,
		`{"role":"tool","tool_call_id":"call1","content":"<|end|>"}`,
		answered, `{"role":"developer","content":[{"type":"text","text":"d"}]}`, called,
		`{"role":"tool","tool_call_id":"call1","content":"o"}`, `{"role":"user","content":"`+contextText+`"}`)
	body = body[:len(body)-1] +
		`,"max_completion_tokens":9,"reasoning_effort":"xhigh","tools":[],"tool_choice":"required"}`
	for i := range set.Servers {
		srv := &set.Servers[i]
		q := request(t, body)
		out := openai.Apply(q.Body, Prepare(q, srv, ruleset.Model{Name: "m"},
			Memory{Thoughts: thoughts{"call1": "t"}}, oneTool{}))
		again, err := openai.ParseRequest(out)
		if err != nil {
			t.Errorf("%s: %v", srv.ID.Value, err)
			continue
		}
		if last := again.Messages[len(again.Messages)-1]; last.Role != "tool" {
			t.Errorf("%s: the conversation ends with %s", srv.ID.Value, last.Role)
		}
		if last := again.Messages[len(again.Messages)-2]; again.Model != "m" || last.ReasoningIn == "" {
			t.Errorf("%s: %s", srv.ID.Value, out)
		}
		if twice := openai.Apply(out, Prepare(again, srv, ruleset.Model{Name: "m"}, Memory{},
			oneTool{})); string(twice) != string(out) {
			t.Errorf("%s: prepared twice:\n%s\n%s", srv.ID.Value, out, twice)
		}
	}
}
