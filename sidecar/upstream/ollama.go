package upstream

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// Paths of Ollama's API for a chat and for a prompt.
const (
	ollamaPath   = "/api/chat"
	ollamaPrompt = "/api/generate"
)

// ollamaOptions are the members that Ollama takes as options, with their names there.
// Source: https://github.com/ollama/ollama, api/types.go, Options.
var ollamaOptions = [][2]string{
	{"max_tokens", "num_predict"}, {"stop", "stop"}, {"seed", "seed"}, {"temperature", "temperature"}, {"top_p", "top_p"}, {"top_k", "top_k"},
	{"min_p", "min_p"}, {"typical_p", "typical_p"}, {"frequency_penalty", "frequency_penalty"}, {"presence_penalty", "presence_penalty"},
	{"repeat_penalty", "repeat_penalty"}, {"repeat_last_n", "repeat_last_n"}, {"num_ctx", "num_ctx"}, {"num_keep", "num_keep"},
	{"num_batch", "num_batch"}, {"num_gpu", "num_gpu"}, {"main_gpu", "main_gpu"}, {"use_mmap", "use_mmap"}, {"num_thread", "num_thread"},
}

// renderRequest asks for the prompt of a chat. Versions of Ollama without this debug option answer the
// chat.
func renderRequest(chat []byte) []byte {
	return append(chat[:len(chat)-1:len(chat)-1], `,"_debug_render_only":true}`...)
}

// ollamaRaw asks for the continuation of a prompt in place of a chat, all of it as text.
func ollamaRaw(chat []byte, prompt string) []byte {
	q := gjson.ParseBytes(chat)
	var out jsonObject
	for _, name := range []string{"model", "keep_alive", "logprobs", "top_logprobs", "stream", "truncate",
		"shift", "format", "options"} {
		if v := q.Get(name); v.Exists() {
			out.add(name, v.Raw)
		}
	}
	out.add("prompt", string(openai.AppendString(nil, prompt)))
	out.add("raw", "true")
	out.add("think", "false") // it would part the thoughts from the text by itself
	return []byte(out.end())
}

// jsonObject is a JSON object written member by member.
type jsonObject []byte

func (o *jsonObject) add(name, raw string) {
	sep := byte(',')
	if len(*o) == 0 {
		sep = '{'
	}
	*o = append(*o, sep, '"')
	*o = append(append(append(*o, name...), `":`...), raw...)
}

func (o jsonObject) end() string {
	if len(o) == 0 {
		return "{}"
	}
	return string(o) + "}"
}

// ollamaRequest translates a chat completion request for Ollama's own API. A prompt longer than the context
// is an error, so that Ollama drops no message.
func ollamaRequest(body []byte, stream bool) []byte {
	q := gjson.ParseBytes(body)
	var out jsonObject
	for _, name := range []string{"model", "keep_alive", "logprobs", "top_logprobs"} {
		if v := q.Get(name); v.Exists() && v.Type != gjson.Null {
			out.add(name, v.Raw)
		}
	}
	out.add("stream", strconv.FormatBool(stream))
	out.add("truncate", "false")
	out.add("shift", "false")
	if tools := q.Get("tools"); tools.IsArray() {
		out.add("tools", tools.Raw)
	}
	switch format := q.Get("response_format"); format.Get("type").Str {
	case "json_object":
		out.add("format", `"json"`)
	case "json_schema":
		if schema := format.Get("json_schema.schema"); schema.Exists() {
			out.add("format", schema.Raw)
		}
	}
	switch effort := q.Get("reasoning_effort"); effort.Str {
	case "":
	case "none":
		out.add("think", "false")
	default:
		out.add("think", effort.Raw)
	}
	out.add("options", ollamaOptionsOf(q))
	out.add("messages", ollamaMessages(q.Get("messages").Array()))
	return []byte(out.end())
}

// ollamaOptionsOf returns the options of a request. Ollama's chat completions default both of OpenAI's
// members to 1; its own API has other defaults.
func ollamaOptionsOf(q gjson.Result) string {
	var out jsonObject
	for _, name := range ollamaOptions {
		switch v := q.Get(name[0]); {
		case v.Type != gjson.Null && name[0] == "stop" && !v.IsArray():
			out.add(name[1], "["+v.Raw+"]")
		case v.Type != gjson.Null:
			out.add(name[1], v.Raw)
		case name[0] == "temperature", name[0] == "top_p":
			out.add(name[1], "1")
		}
	}
	return out.end()
}

func ollamaMessages(messages []gjson.Result) string {
	names := make(map[string]string) // of tools, as JSON, by the ids of their calls
	list := make([]string, len(messages))
	for i, m := range messages {
		var out jsonObject
		out.add("role", m.Get("role").Raw)
		out.add("content", ollamaContent(m.Get("content")))
		if v := m.Get("reasoning"); v.Type == gjson.String {
			out.add("thinking", v.Raw)
		}
		if calls := m.Get("tool_calls").Array(); len(calls) > 0 {
			made := make([]string, len(calls))
			for j, c := range calls {
				f := c.Get("function")
				args := f.Get("arguments").String()
				if !isObject(args) {
					args = "{}"
				}
				var fn, call jsonObject
				fn.add("index", strconv.Itoa(j))
				fn.add("name", f.Get("name").Raw)
				fn.add("arguments", args)
				if id := c.Get("id"); id.Type == gjson.String {
					call.add("id", id.Raw)
					names[id.Str] = f.Get("name").Raw
				}
				call.add("function", fn.end())
				made[j] = call.end()
			}
			out.add("tool_calls", "["+strings.Join(made, ",")+"]")
		}
		if id := m.Get("tool_call_id"); id.Type == gjson.String {
			out.add("tool_call_id", id.Raw)
			if name := m.Get("name"); name.Type == gjson.String {
				out.add("tool_name", name.Raw)
			} else if name := names[id.Str]; name != "" {
				out.add("tool_name", name)
			}
		}
		list[i] = out.end()
	}
	return "[" + strings.Join(list, ",") + "]"
}

// ollamaContent returns a content as one JSON string. Prepare has joined its parts.
func ollamaContent(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Raw
	}
	var texts []string
	for _, part := range content.Array() {
		texts = append(texts, part.Get("text").String())
	}
	return string(openai.AppendString(nil, strings.Join(texts, "\n")))
}

// ollamaReply translates replies of Ollama's API into chat completions: lines of a stream into events, a
// document into one. Errors stay as they are. A stream that ends early ends without an end mark.
type ollamaReply struct {
	body   string // delta, or message in a document
	usage  bool   // the caller wants a usage
	id     string
	prefix string // start of the reply that is part of the prompt, until it was read
	called bool
	buf    []byte // the last line
}

func newOllamaReply(body io.ReadCloser, stream, usage bool, begun string) io.ReadCloser {
	r := &ollamaReply{body: "delta", usage: usage, prefix: begun, id: "chatcmpl-" + rand.Text()}
	if !stream {
		r.body = "message"
	}
	return translateLines(body, r.line)
}

// line translates a line of a stream; nil for one that is cut.
func (r *ollamaReply) line(line []byte) []byte {
	doc := bytes.TrimSpace(line)
	if len(doc) == 0 || line[len(line)-1] != '\n' && !gjson.ValidBytes(doc) {
		return nil
	}
	if r.buf = r.event(r.buf[:0], doc); r.body == "message" {
		data, _, _ := bytes.Cut(r.buf, []byte("\n\n"))
		return bytes.TrimPrefix(data, []byte("data: "))
	}
	return r.buf
}

// event appends the events of a line. Errors and other text stay as they are.
func (r *ollamaReply) event(dst, line []byte) []byte {
	doc := gjson.ParseBytes(line)
	if !gjson.ValidBytes(line) || !doc.IsObject() || doc.Get("error").Exists() {
		return slices.Concat(dst, []byte("data: "), line, []byte("\n\n"))
	}
	dst = append(r.choice(append(dst, "data: "...), doc), ']')
	if r.body == "message" {
		dst = append(dst, ollamaUsage(doc)...)
	}
	dst = append(dst, "}\n\n"...)
	if !doc.Get("done").Bool() {
		return dst
	}
	if r.usage {
		dst = append(r.head(append(dst, "data: "...), doc), `]`...)
		dst = append(append(dst, ollamaUsage(doc)...), "}\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// head appends the start of an event's document, up to its choices.
func (r *ollamaReply) head(dst []byte, doc gjson.Result) []byte {
	at, _ := time.Parse(time.RFC3339Nano, doc.Get("created_at").Str)
	return fmt.Appendf(dst, `{"id":%q,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[`, r.id,
		max(at.Unix(), 0), openai.AppendString(nil, doc.Get("model").String()))
}

// choice appends an event's document up to the end of its only choice.
func (r *ollamaReply) choice(dst []byte, doc gjson.Result) []byte {
	message := doc.Get("message")
	var m jsonObject
	m.add("role", `"assistant"`)
	if text := doc.Get("response"); text.Exists() {
		m.add("content", string(openai.AppendString(nil, r.prefix+text.Str)))
		r.prefix = ""
	} else {
		m.add("content", ollamaContent(message.Get("content")))
	}
	if v := message.Get("thinking"); v.Str != "" {
		m.add("reasoning", v.Raw)
	}
	if calls := message.Get("tool_calls").Array(); len(calls) > 0 {
		r.called = true
		list := make([]string, len(calls))
		for i, c := range calls {
			f := c.Get("function")
			var fn, call jsonObject
			fn.add("name", f.Get("name").Raw)
			fn.add("arguments", string(openai.AppendString(nil, f.Get("arguments").Raw)))
			call.add("index", strconv.Itoa(int(f.Get("index").Int())))
			call.add("id", string(openai.AppendString(nil, c.Get("id").Str)))
			call.add("type", `"function"`)
			call.add("function", fn.end())
			list[i] = call.end()
		}
		m.add("tool_calls", "["+strings.Join(list, ",")+"]")
	}
	var out jsonObject
	out.add("index", "0")
	out.add(r.body, m.end())
	if v := doc.Get("logprobs"); v.IsArray() {
		out.add("logprobs", `{"content":`+v.Raw+`}`)
	}
	finish := "null"
	if why := doc.Get("done_reason"); doc.Get("done").Bool() && why.Str != "" {
		if finish = why.Raw; r.called {
			finish = `"tool_calls"`
		}
	}
	out.add("finish_reason", finish)
	return append(r.head(dst, doc), out.end()...)
}

// ollamaUsage returns the member usage after a comma.
func ollamaUsage(doc gjson.Result) string {
	prompt, completion := doc.Get("prompt_eval_count").Int(), doc.Get("eval_count").Int()
	return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion,
		prompt+completion)
}
