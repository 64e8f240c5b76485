package script_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What a model writes as Harmony.
const (
	harmonyThought = "<|channel|>analysis<|message|>Hm. I look.<|end|><|start|>assistant"
	harmonyBefore  = "<|channel|>commentary<|message|>I list the files.<|end|><|start|>assistant"
	harmonyCall    = "<|channel|>commentary to=functions.exec <|constrain|>json<|message|>"
	harmonyFinal   = "<|channel|>final<|message|>"
)

const realTools = `,"tools":[{"type":"function","function":{"name":"exec","description":"Run a command.","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}}}]`

// real is one reply, for a real server and for the imitation.
type real struct {
	name    string
	harmony modelserver.Reply
	reply   script.Reply
	more    string // members of the request
}

func harmony(text string) modelserver.Reply { return modelserver.Reply{Text: text} }

// asOne is a reply each of whose pieces is the same; so many that Ollama gives up.
func asOne(begin string) modelserver.Reply {
	return modelserver.Reply{Pieces: append([]string{begin}, slices.Repeat([]string{"="}, 40)...)}
}

// The imitation writes what a real server writes: status, header, the chunks, their order and members, the
// finish reason, errors. Ids, times and counts differ.
func TestAsOllama(t *testing.T) {
	thought := "Hm. I look."
	ls := script.Native("exec", `{"command":"ls"}`)
	preamble := ls.Thinking(thought)
	preamble.Content = "I list the files."
	two := ls
	two.Calls = append(slices.Clone(ls.Calls), script.Call{"x", "exec", `{"command":"id"}`})
	cut := script.Reply{Reasoning: thought, Calls: ls.Calls, Finish: "length"}
	server := modelserver.Ollama(t)
	for _, c := range []real{
		{"a call", harmony(harmonyThought + harmonyCall + `{"command":"ls"}<|call|>`), ls.Thinking(thought), realTools},
		{"a call with a preamble", harmony(harmonyThought + harmonyBefore + harmonyCall + `{"command":"ls"}<|call|>`), preamble, realTools},
		{"a call only", harmony(harmonyCall + `{"command":"ls"}<|call|>`), ls, realTools},
		{"a call that nobody offered", harmony(strings.Replace(harmonyCall, "exec", "launch", 1) + `{}<|call|>`), script.Native("launch", `{}`), ""},
		{"numbers and order", harmony(harmonyCall + `{"timeout": 1.0, "command": "a <b>", "n": 12345678901234567890, "x": {"b": 1, "a": []}, "command": "c"}<|call|>`),
			script.Native("exec", `{"timeout": 1.0, "command": "a <b>", "n": 12345678901234567890, "x": {"b": 1, "a": []}, "command": "c"}`), realTools},
		{"single quotes", harmony(harmonyCall + `{'command': 'ls'}<|call|>`), script.Native("exec", `{'command': 'ls'}`), realTools},
		{"single quotes behind a thought", harmony(harmonyThought + harmonyCall + `{'command': 'ls'}<|call|>`), script.Native("exec", `{'command': 'ls'}`).Thinking(thought), realTools},
		{"unclosed", harmony(harmonyCall + `{"command":"ls"<|call|>`), script.Native("exec", `{"command":"ls"`), realTools},
		{"no arguments", harmony(harmonyCall + `<|call|>`), script.Native("exec", ``), realTools},
		{"two calls", harmony(harmonyCall + `{"command":"ls"}<|end|><|start|>assistant` + harmonyCall + `{"command":"id"}<|call|>`), two, realTools},
		{"a text", harmony(harmonyFinal + "Hi <there>!<|return|>"), script.Text("Hi <there>!"), ""},
		{"a text behind a thought", harmony(harmonyThought + harmonyFinal + "Done.<|return|>"), script.Text("Done.").Thinking(thought), ""},
		{"nothing", harmony("<|return|>"), script.Empty(), realTools},
		{"only a thought", harmony(harmonyThought), servers.OnlyThought(thought), realTools},
		{"a call cut by length", modelserver.Reply{Text: harmonyThought + harmonyCall + `{"command":"ls -l and more`}, cut, realTools + `,"max_tokens":18`},
		{"an equal piece again and again", asOne("<|channel|>final<|message|>"), script.Text(strings.Repeat("=", 31)).Ending(script.Short), ""},
		{"the same in arguments", asOne(harmonyCall), script.Empty().Ending(script.Short), realTools},
		{"the runner dies", modelserver.Reply{Text: harmonyThought, Die: true},
			script.Fail(500, "an error was encountered while running the model: unexpected EOF").Thinking(thought).Ending(script.Fault), realTools},
		{"the runner dies in the header", modelserver.Reply{Text: "<|channel|>", Die: true},
			script.Fail(500, "an error was encountered while running the model: unexpected EOF").Ending(script.Fault),
			realTools},
		{"the runner dies at once", modelserver.Reply{Die: true},
			script.Fail(500, "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details"), realTools},
		{"an error", modelserver.Reply{Status: 503, Text: "loading"}, script.Fail(503, "loading"), realTools},
	} {
		held(t, c, servers.Ollama(), server, completions)
		c.more = strings.Replace(c.more, `"max_tokens":18`, `"options":{"num_predict":18}`, 1)
		held(t, c, servers.Ollama(), server, chats)
	}
}

// The pages by which a caller finds out whom it talks to, and errors.
func TestAsOllamaAround(t *testing.T) {
	real := modelserver.Ollama(t)
	imitation := script.New(script.Scenario{Name: "never"})
	imitation.Dialect = servers.Ollama()
	srv := httptest.NewServer(imitation)
	defer srv.Close()
	for _, path := range []string{"/", "/v1/models", "/api/version", "/api/tags", "/api/ps", "/nowhere"} {
		same(t, path, tell(t, http.MethodGet, real.URL+path, ""), tell(t, http.MethodGet, srv.URL+path, ""))
	}
	for _, path := range []string{completions.path, chats.path} {
		same(t, "no JSON", tell(t, http.MethodPost, real.URL+path, "{bad"),
			tell(t, http.MethodPost, srv.URL+path, "{bad"))
	}
	path := completions.path
	tell(t, http.MethodPost, real.URL+path,
		`{"model":"gpt-oss:20b","messages":[{"role":"user","content":"Hi"}]}`)
	tell(t, http.MethodPost, srv.URL+path,
		`{"model":"gpt-oss:20b","messages":[{"role":"user","content":"Hi"}]}`)
	same(t, "/api/ps, loaded", tell(t, http.MethodGet, real.URL+"/api/ps", ""),
		tell(t, http.MethodGet, srv.URL+"/api/ps", ""))
}

// Before a model was pulled, it lists none, and answers no chat.
func TestAsOllamaWithoutModel(t *testing.T) {
	real := modelserver.Config{NoModel: true}.Ollama(t)
	srv := httptest.NewServer(servers.New(servers.Ollama(), servers.Start{NoModel: true}))
	defer srv.Close()
	for _, path := range []string{"/v1/models", "/api/tags", "/api/ps"} {
		same(t, path, tell(t, http.MethodGet, real.URL+path, ""), tell(t, http.MethodGet, srv.URL+path, ""))
	}
	for _, path := range []string{completions.path, chats.path} {
		body := `{"model":"gpt-oss:20b","messages":[{"role":"user","content":"Hi"}]}`
		same(t, path, tell(t, http.MethodPost, real.URL+path, body), tell(t, http.MethodPost, srv.URL+path,
			body))
	}
}

// llamaReplies are those in which llama.cpp's own parser decides.
func llamaReplies() []real {
	thought := "Hm. I look."
	ls := script.Native("exec", `{"command":"ls"}`)
	preamble := ls.Thinking(thought)
	preamble.Content = "I list the files."
	search := `<|channel|>analysis to=browser.search code<|message|>{"query":"x"}`
	return []real{
		{"a call", harmony(harmonyThought + harmonyCall + `{"command":"ls"}<|call|>`), ls.Thinking(thought), realTools},
		{"a call with a preamble", harmony(harmonyThought + harmonyBefore + harmonyCall + `{"command":"ls"}<|call|>`), preamble, realTools},
		{"a call only", harmony(harmonyCall + `{"command":"ls"}<|call|>`), ls, realTools},
		{"a text", harmony(harmonyFinal + "Hi <there>!<|return|>"), script.Text("Hi <there>!"), ""},
		{"a text behind a thought", harmony(harmonyThought + harmonyFinal + "Done.<|return|>"), script.Text("Done.").Thinking(thought), ""},
		{"nothing", harmony("<|return|>"), script.Empty(), realTools},
		{"no header", harmony("Plain text.<|return|>"), servers.LlamaParseError(), realTools},
		{"an unknown channel", harmony("<|channel|>thoughts<|message|>Hi.<|return|>"), servers.LlamaParseError(), realTools},
		{"two finals", harmony(harmonyFinal + "One.<|end|><|start|>assistant" + harmonyFinal + "Two.<|return|>"), script.Text("One."), ""},
		{"a call, and no tools", harmony(harmonyCall + `{"command":"ls"}<|call|>`), ls, ""},
		{"a built-in tool, and no tools", harmony(search + "<|call|>"), script.Text(search), ""},
	}
}

// What llama.cpp's parser makes of a reply is what the imitation says in its words. How llama-server writes all
// that is in TestAsLlamaServer.
func TestAsLlamaChat(t *testing.T) {
	server := modelserver.LlamaChat(t)
	for _, c := range llamaReplies() {
		server.Say(c.harmony)
		body := `{"messages":[{"role":"user","content":"List the files."}]` + c.more + "}"
		imitation := script.New(script.Scenario{Steps: []script.Reply{c.reply}})
		imitation.Dialect = servers.LlamaCPP()
		srv := httptest.NewServer(imitation)
		_, want, _ := strings.Cut(tell(t, http.MethodPost, srv.URL+"/v1/chat/completions", body), "\n{")
		_, got, _ := strings.Cut(tell(t, http.MethodPost, server.URL, body), "\n{")
		srv.Close()
		if strings.Contains(want, `"content":"\u003c|channel`) || c.reply.End == script.Fault {
			want = `"error":{}}` // the chat layer takes it for refused
		}
		for _, part := range []string{"message.content", "message.reasoning_content",
			"message.tool_calls.#.function", "finish_reason"} {
			if got, want := gjson.Get("{"+got, "choices.0."+part).Raw, gjson.Get("{"+want,
				"choices.0."+part).Raw; got != want {
				t.Errorf("%s: the real %s is %s, that of the imitation %s", c.name, part, got, want)
			}
		}
	}
}

// The same, and how llama-server writes it.
func TestAsLlamaServer(t *testing.T) {
	server := modelserver.LlamaServer(t)
	d := servers.New(servers.LlamaCPP(), servers.Start{Model: modelserver.Model}).Dialect
	cut := func(text string) (modelserver.Reply, string) {
		return harmony(text), fmt.Sprintf(`%s,"max_tokens":%d`, realTools,
			len(regexp.MustCompile(`<\|\w+\|>`).ReplaceAllString(text, "1")))
	}
	rows := llamaReplies()
	for i := range rows {
		rows[i].more += `,"max_tokens":600`
	}
	add := func(name, text string, reply script.Reply) {
		reply.Finish = "length"
		said, more := cut(text)
		rows = append(rows, real{name, said, reply, more})
	}
	add("arguments cut by length", harmonyThought+harmonyCall+`{"command":"ls -l repor`,
		script.Native("exec", `{"command":"ls -l repor`).Thinking("Hm. I look."))
	add("a header cut by length", "<|channel|>commentary to=functions.",
		script.Text("<|channel|>commentary to=functions."))
	add("a text cut by length", harmonyFinal+"One and ", script.Text("One and "))
	rows = append(rows, real{"two calls",
		harmony(harmonyCall + `{"command":"ls"}<|call|><|start|>assistant` + harmonyCall +
			`{"command":"id"}<|call|>`), func() script.Reply {
			two := script.Native("exec", `{"command":"ls"}`)
			two.Calls = append(two.Calls, script.Call{"x", "exec", `{"command":"id"}`})
			return two
		}(), realTools + `,"max_tokens":600`})
	for _, c := range rows {
		held(t, c, d, server, completions)
	}
	imitation := script.New()
	imitation.Dialect = d
	srv := httptest.NewServer(imitation)
	defer srv.Close()
	for _, path := range []string{"/v1/models", "/health", "/nowhere"} {
		same(t, path, tell(t, http.MethodGet, server.URL+path, ""), tell(t, http.MethodGet, srv.URL+path, ""))
	}
}

// api is a path, and the members of a request for each of its modes.
type api struct {
	path  string
	modes map[string]string
}

var (
	completions = api{"/v1/chat/completions", map[string]string{"whole": "", "stream": `,"stream":true`,
		"stream with usage": `,"stream":true,"stream_options":{"include_usage":true}`}}
	chats = api{"/api/chat", map[string]string{"whole": `,"stream":false`, "stream": ""}}
)

// held asks a real server and the imitation for the same reply, in each mode of an API.
func held(t *testing.T, c real, d script.Dialect, server *modelserver.Server, at api) {
	for mode, members := range at.modes {
		t.Run(c.name+", "+at.path+", "+mode, func(t *testing.T) {
			body := `{"model":"` + modelserver.Model +
				`","messages":[{"role":"user","content":"List the files."}]` + c.more + members + "}"
			server.Say(c.harmony)
			imitation := script.New(script.Scenario{Steps: []script.Reply{c.reply}})
			imitation.Dialect = d
			srv := httptest.NewServer(imitation)
			defer srv.Close()
			same(t, c.name, tell(t, http.MethodPost, server.URL+at.path, body),
				tell(t, http.MethodPost, srv.URL+at.path, body))
		})
	}
}

func same(t *testing.T, name, real, imitation string) {
	t.Helper()
	if real != imitation {
		t.Errorf("%s: the real server writes\n%s\nthe imitation\n%s", name, real, imitation)
	}
}

// tell asks, and writes down the answer without what differs from one to the next.
func tell(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", res.StatusCode, strings.TrimSuffix(res.Header.Get("Content-Type"),
		"; charset=utf-8"))
	for _, name := range []string{"Server", "X-Accel-Buffering", "Retry-After"} {
		if value := res.Header.Get(name); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	var values []any
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimSpace(line)
		data, _ := strings.CutPrefix(line, "data: ")
		var value any
		switch err := json.Unmarshal([]byte(data), &value); {
		case line == "":
		case err != nil:
			values = append(values, line)
		default:
			normal(value)
			if last := len(values) - 1; last < 0 || !join(values[last], value) {
				values = append(values, value)
			}
		}
	}
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

// free are members whose value says nothing about the kind of the server; of numbers only 0 does.
var free = []string{"id", "created", "system_fingerprint", "modified_at", "expires_at", "digest",
	"parameter_size", "quantization_level",
	"size", "size_vram", "created_at", "cached_tokens", "cache_n", "predicted_per_second",
	"predicted_per_token_ms", "ftype", "vocab_type"}

// normal replaces what differs from one answer to the next.
func normal(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			normal(element)
		}
	case map[string]any:
		for name, member := range v {
			number, ok := member.(float64)
			switch {
			case ok && number <= 0 && name == "created", name == "code",
				name == "index": // they tell something
			case slices.Contains(free, name) && v["owned_by"] == nil, name == "created":
				v[name] = "*"
			case ok && number != 0:
				v[name] = 1
			default:
				normal(member)
			}
		}
	}
}

// join adds the text of a chunk to the one before, if it goes on with the same: servers cut texts as they
// like.
func join(before, after any) bool {
	a, b := delta(before), delta(after)
	if a == nil || b == nil || len(b) == 0 {
		return false
	}
	if calls, ok := b["tool_calls"].([]any); ok {
		begun, ok := a["tool_calls"].([]any)
		call := calls[0].(map[string]any)
		more, _ := call["function"].(map[string]any)
		if !ok || len(b) != 1 || len(call) != 2 || len(more) != 1 {
			return false
		}
		function := begun[0].(map[string]any)["function"].(map[string]any)
		function["arguments"] = fmt.Sprint(function["arguments"], more["arguments"])
		return true
	}
	if !slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) {
		return false
	}
	for _, name := range []string{"content", "reasoning", "reasoning_content", "thinking"} {
		if text, ok := b[name].(string); ok {
			a[name] = fmt.Sprint(a[name], text)
		}
	}
	return true
}

// delta is that of a chunk which does not end the reply.
func delta(chunk any) map[string]any {
	object, _ := chunk.(map[string]any)
	if object["done"] == false {
		message, _ := object["message"].(map[string]any)
		for _, name := range []string{"content", "thinking"} {
			if message[name] == "" {
				delete(message, name) // so that texts of one kind have the same members
			}
		}
		return message
	}
	choices, _ := object["choices"].([]any)
	if len(choices) != 1 || object["model"] == "" {
		return nil
	}
	choice := choices[0].(map[string]any)
	if choice["finish_reason"] != nil {
		return nil
	}
	out, _ := choice["delta"].(map[string]any)
	return out
}
