package upstream

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// What Ollama 0.17.4 sends over /api/chat, byte for byte.
const (
	ollamaThought = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.780712276Z","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}` + "\n"
	ollamaText    = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.781744868Z","message":{"role":"assistant","content":"Let"},"done":false}` + "\n"
	ollamaCall    = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.79623321Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_z5nwol2n","function":{"index":0,"name":"read","arguments":{"path":"a.txt"}}}]},"done":true,"done_reason":"stop","total_duration":3435448,"load_duration":1676455,"prompt_eval_count":144,"prompt_eval_duration":773019,"eval_count":28,"eval_duration":773061}` + "\n"
	ollamaEnd     = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:29Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":5,"eval_count":2}` + "\n"
	ollamaFault   = `{"error":"error parsing tool call: raw='{'path': 'a.txt'}', err=invalid character '\\'' looking for beginning of object key string"}` + "\n"
	ollamaWhole   = `{"model":"gpt-oss:20b","created_at":"2026-11-28T19:24:28.837760602Z","message":{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"id":"call_apftr4lc","function":{"index":0,"name":"read","arguments":{"path":"a.txt"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":144,"eval_count":28}`
	ollamaNothing = `{"model":"","created_at":"0001-01-01T00:00:00Z","message":{"role":"","content":""},"done":false}`
)

func TestOllamaReply(t *testing.T) {
	chunk := func(delta, finish string) string {
		return `data: {"id":"ID","object":"chat.completion.chunk","created":TIME,"model":"gpt-oss:20b","choices":[{"index":0,"delta":{"role":"assistant","content":` + delta + `},"finish_reason":` + finish + "}]}\n\n"
	}
	const done = "data: [DONE]\n\n"
	usage := `data: {"id":"ID","object":"chat.completion.chunk","created":TIME,"model":"gpt-oss:20b","choices":[],"usage":{"prompt_tokens":144,"completion_tokens":28,"total_tokens":172}}` + "\n\n"
	calls := func(id string) string {
		return `"tool_calls":[{"index":0,"id":"` + id + `","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]`
	}
	call := `"",` + calls("call_z5nwol2n")
	tests := []struct {
		name, in, want string
		usage          bool
	}{
		{"a thought and a call", ollamaThought + ollamaCall, chunk(`"","reasoning":"Hm"`, "null") + chunk(call, `"tool_calls"`) + done, false},
		{"with its usage", ollamaThought + ollamaCall, chunk(`"","reasoning":"Hm"`, "null") + chunk(call, `"tool_calls"`) + usage + done, true},
		{"cut by length", ollamaText + ollamaEnd, chunk(`"Let"`, "null") + chunk(`""`, `"length"`) + done, false},
		{"an error within it", ollamaText + ollamaFault, chunk(`"Let"`, "null") + "data: " + ollamaFault + "\n", false},
		{"ended without an end", ollamaText, chunk(`"Let"`, "null"), false},
		{"nothing", "", "", false},
		{"no JSON", ollamaText + "<html>\n", chunk(`"Let"`, "null") + "data: <html>\n\n", false},
		{"a document", ollamaWhole, chunk(`"","reasoning":"Hm.",`+calls("call_apftr4lc"), `"tool_calls"`) + done, false},
		{"one that was cut", ollamaNothing, strings.NewReplacer("TIME", "0", "gpt-oss:20b", "").Replace(chunk(`""`, "null")), false},
		{"an error alone", `{"error":"no"}`, `data: {"error":"no"}` + "\n\n", false},
	}
	for _, tt := range tests {
		for _, in := range []io.Reader{strings.NewReader(tt.in),
			iotest.OneByteReader(strings.NewReader(tt.in))} {
			r := newOllamaReply(io.NopCloser(in), true, tt.usage, "")
			got, err := io.ReadAll(r)
			id := gjson.GetBytes(bytes.TrimPrefix(got, []byte("data: ")), "id").Str
			want := strings.NewReplacer("ID", id, "TIME", "1795893868").Replace(tt.want)
			if tt.name == "cut by length" {
				want = want[:strings.LastIndex(want, "1795893868")] +
					"1795893869" + want[strings.LastIndex(want, "1795893868")+10:]
			}
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, got, want)
			}
		}
	}
}

func TestOllamaRequest(t *testing.T) {
	head := func(more string) string {
		return `{"model":"m",` + more + `"stream":true,"truncate":false,"shift":false`
	}
	const hi, options = `"messages":[{"role":"user","content":"hi"}]`, `"options":{"temperature":1,"top_p":1}`
	tests := []struct{ name, in, want string }{
		{"plain", hi, head("") + `,` + options + `,` + hi + `}`},
		{"options", `"max_tokens":5,"stop":"x","temperature":0.5,"seed":null,"num_ctx":65536,"other":1,` + hi, head("") + `,"options":{"num_predict":5,"stop":["x"],"temperature":0.5,"top_p":1,"num_ctx":65536},` + hi + `}`},
		{"effort and logprobs", `"reasoning_effort":"low","logprobs":true,"top_logprobs":2,"keep_alive":"1h",` + hi, head(`"keep_alive":"1h","logprobs":true,"top_logprobs":2,`) + `,"think":"low",` + options + `,` + hi + `}`},
		{"no thinking", `"reasoning_effort":"none",` + hi, head("") + `,"think":false,` + options + `,` + hi + `}`},
		{"a schema", `"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}},` + hi, head("") + `,"format":{"type":"object"},` + options + `,` + hi + `}`},
		{"JSON", `"response_format":{"type":"json_object"},` + hi, head("") + `,"format":"json",` + options + `,` + hi + `}`},
		{"tools, a call and its results", `"tools":[{"type":"function"}],"messages":[{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"n\":1}"}}]},` +
			`{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","name":"exec","content":[{"type":"text","text":"y"},{"type":"text","text":"z"}]}]`,
			head("") + `,"tools":[{"type":"function"}],` + options +
				`,"messages":[{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"a","function":{"index":0,"name":"read","arguments":{"n":1}}}]},` +
				`{"role":"tool","content":"x","tool_call_id":"a","tool_name":"read"},{"role":"tool","content":"y\nz","tool_call_id":"b","tool_name":"exec"}]}`},
	}
	for _, tt := range tests {
		if got := string(ollamaRequest([]byte(`{"model":"m","stream":true,`+tt.in+`}`), true)); got != tt.want || !gjson.Valid(got) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// Ollama is asked over its own API; what stands in front of it may have chat completions alone.
func TestOllamaAPI(t *testing.T) {
	set := testSet()
	for i := range set.Servers {
		if set.Servers[i].ID.Value == "ollama" {
			set.Servers[i].API = ruleset.OllamaAPI
		}
	}
	const open, shut = "/api/chat ", "/api/chat /v1/chat/completions /v1/chat/completions "
	for _, row := range []struct {
		status      int
		says, asked string
	}{
		{404, `{"error":"model 'x' not found"}`, open + open},
		{403, `{"error":"this model is not yours"}`, open + open},
		{404, "404 page not found", shut},
		{404, `{"error":{"message":"no such path"}}`, shut},
		{405, `{"detail":"Method Not Allowed"}`, shut},
		{403, "<html>403 Forbidden", shut},
		{501, "", shut},
	} {
		asked := ""
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if asked += r.URL.Path + " "; r.URL.Path == "/v1/chat/completions" {
				io.WriteString(w, `{"choices":[]}`)
				return
			}
			w.WriteHeader(row.status)
			io.WriteString(w, row.says)
		}, func(cfg *Config) { cfg.Server = "ollama" })
		for range 2 {
			text, _, f := ask(t, c, set)
			if (f == nil) != (row.asked == shut) || f == nil && text != `{"choices":[]}` {
				t.Errorf("%d %s: %q %+v", row.status, row.says, text, f)
			}
		}
		if asked != row.asked {
			t.Errorf("%d %s: asked %s, want %s", row.status, row.says, asked, row.asked)
		}
	}
}
