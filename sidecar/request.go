package sidecar

import (
	"bytes"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// askedResponse is what an answer has to know of its request.
type askedResponse struct {
	LeftOut []string // types of the items of the input that the model does not read

	echo   []byte          // the members that it repeats, as JSON, a comma in front of each
	sealed bool            // its thoughts go out as encrypted_content, too
	tools  map[string]tool // by the name that the model knows
}

// tool is how a caller knows a tool. Names are JSON strings.
type tool struct {
	space, name []byte // space may be nil
	custom      bool   // it takes a text, and no arguments
}

func (t tool) is(other tool) bool {
	return t.custom == other.custom && bytes.Equal(t.space, other.space) && bytes.Equal(t.name, other.name)
}

// repeated are the members that a Response says again, with what it says where the request
// does not have them. Tools and instructions are none of these: they are large, and an agent sends
// them with every request.
var repeated = []struct{ name, absent string }{
	{"max_output_tokens", "null"}, {"max_tool_calls", "null"}, {"metadata", "{}"}, {"parallel_tool_calls", "true"},
	{"prompt_cache_key", "null"}, {"reasoning", `{"effort":null,"summary":null}`}, {"safety_identifier", "null"},
	{"service_tier", "null"}, {"temperature", "null"}, {"text", `{"format":{"type":"text"}}`}, {"tool_choice", `"auto"`},
	{"top_logprobs", "null"}, {"top_p", "null"}, {"truncation", `"disabled"`}, {"user", "null"},
}

// stateful are the members of requests that rest on something stored, and what a caller can do.
var stateful = []struct{ name, hint string }{
	{"previous_response_id", "send the items of the conversation as input"},
	{"conversation", "send the items of the conversation as input"},
	{"prompt", "send its text as instructions or input"},
	{"background", "leave it out, and read the answer as a stream"},
}

// renamed are members that chat completions have under another name.
var renamed = map[string]string{"max_output_tokens": "max_completion_tokens"}

// own are members that are translated, or mean something in one of the two APIs only. All others
// go on as they are.
var own = []string{
	"background", "client_metadata", "context_management", "conversation", "include", "input", "instructions",
	"max_completion_tokens",
	"max_tokens", "max_tool_calls", "messages", "n", "previous_response_id", "prompt", "reasoning",
	"reasoning_effort", "response_format",
	"store", "stream_options", "text", "tool_choice", "tools", "top_logprobs", "truncation",
}

// request translates one request. The first thing that cannot be used ends it.
type request struct {
	doc   []byte
	root  object
	chat  []byte // so far
	asked *askedResponse
	err   *openai.Error

	more    []placed        // tools that stand in the input
	allowed map[string]bool // the tools that may be called, and whether they are offered; nil: all may
}

// placed is a value, and how its place is called.
type placed struct {
	param string
	at    openai.Span
}

// toChat is the chat completion request that a request of the Responses API means. Texts, arguments
// and schemas keep their bytes. The error is an *openai.Error with status 400, the param and the
// place.
func toChat(body []byte) (chat []byte, asked *askedResponse, err error) {
	all := openai.Span{To: len(body)}
	r := request{doc: body, asked: &askedResponse{},
		chat: append(make([]byte, 0, len(body)+len(body)/4), '{')}
	if r.root, err = members(body, all); err != nil {
		return nil, nil, openai.NotJSON(body, err)
	}
	if at := trimmed(body); body[at.From] != '{' {
		return nil, nil, openai.NoObject(body, at)
	}
	r.members()
	if r.err != nil {
		return nil, nil, r.err
	}
	return append(r.chat, '}'), r.asked, nil
}

// trimmed is the place of the only value of a document.
func trimmed(doc []byte) openai.Span {
	from := slices.IndexFunc(doc, func(c byte) bool { return c > ' ' })
	return openai.Span{From: from, To: len(doc)}
}

func (r *request) members() {
	for _, s := range stateful {
		if at := r.root[s.name]; r.given(at) && string(at.Of(r.doc)) != "false" {
			r.fail(s.name, "is not supported, since nothing is stored here: %s.", s.hint)
		}
	}
	if at := r.root["model"]; r.given(at) {
		r.text("model", at, at)
	}
	stream := r.root["stream"]
	if r.given(stream) && r.kind(stream) != 't' && r.kind(stream) != 'f' {
		r.wrong("stream", stream, stream, "a boolean")
	}
	r.messages()
	r.tools()
	r.toolChoice()
	r.format()
	r.effort()
	if r.kind(stream) == 't' {
		r.put("stream_options", []byte(`{"include_usage":true}`))
	}
	for _, name := range r.root.names() {
		if to, other := renamed[name]; other {
			r.put(to, r.root[name].Of(r.doc))
		} else if !slices.Contains(own, name) {
			r.put(name, r.root[name].Of(r.doc))
		}
	}
	r.answer()
}

// answer notes what the answer has to know.
func (r *request) answer() {
	for _, m := range repeated {
		value := []byte(m.absent)
		if at := r.root[m.name]; r.given(at) {
			value = at.Of(r.doc)
		}
		r.asked.echo = append(append(append(append(r.asked.echo, `,"`...), m.name...), `":`...), value...)
	}
	r.each("include", r.root["include"], func(_ string, at openai.Span) {
		what, _ := openai.Text(r.doc, at)
		r.asked.sealed = r.asked.sealed || what == "reasoning.encrypted_content"
	})
}

// format is text.format: what the answer must look like.
func (r *request) format() {
	at := r.object("text", r.root["text"])["format"]
	format := r.object("text.format", at)
	switch kind := r.word(format["type"]); kind {
	case "", "text":
	case "json_object":
		r.put("response_format", at.Of(r.doc))
	case "json_schema":
		r.chat = append(r.chat, `,"response_format":{"type":"json_schema","json_schema":{`...)
		r.copy(format, "name", "description", "schema", "strict")
		r.chat = append(r.chat, "}}"...)
	default:
		r.fail("text.format.type", "must be text, json_object or json_schema, not %q.", kind)
	}
}

func (r *request) effort() {
	if effort := r.object("reasoning", r.root["reasoning"])["effort"]; r.given(effort) {
		r.put("reasoning_effort", effort.Of(r.doc))
	}
}
