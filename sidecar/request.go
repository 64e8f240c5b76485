package sidecar

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// responseParams are what an answer repeats or needs of its request.
type responseParams struct {
	LeftOut []string // types of input items that the model cannot read

	echo   []byte          // repeated members as JSON, each after a comma
	sealed bool            // reasoning also goes out as encrypted_content
	tools  map[string]tool // by the name that the model knows
}

// tool is a tool as the caller names it. Names are JSON strings.
type tool struct {
	namespace, name []byte // may be nil
	custom          bool   // takes a text instead of arguments
}

func (t tool) equal(other tool) bool {
	return t.custom == other.custom && bytes.Equal(t.namespace, other.namespace) &&
		bytes.Equal(t.name, other.name)
}

// echoedMembers are repeated in a Response, with these values where the request has none. Tools and
// instructions are not: they are large, and agents send them with every request.
var echoedMembers = []struct{ name, absent string }{
	{"max_output_tokens", "null"}, {"max_tool_calls", "null"}, {"metadata", "{}"}, {"parallel_tool_calls", "true"},
	{"prompt_cache_key", "null"}, {"reasoning", `{"effort":null,"summary":null}`}, {"safety_identifier", "null"},
	{"service_tier", "null"}, {"temperature", "null"}, {"text", `{"format":{"type":"text"}}`}, {"tool_choice", `"auto"`},
	{"top_logprobs", "null"}, {"top_p", "null"}, {"truncation", `"disabled"`}, {"user", "null"},
}

// storedMembers need something that is stored, so a request with one fails with this hint.
var storedMembers = []struct{ name, hint string }{
	{"previous_response_id", "send the items of the conversation as input"},
	{"conversation", "send the items of the conversation as input"},
	{"prompt", "send its text as instructions or input"},
	{"background", "leave it out, and read the answer as a stream"},
}

// renamedMembers have another name in chat completions.
var renamedMembers = map[string]string{"max_output_tokens": "max_completion_tokens"}

// translatedMembers are translated, or belong to one of the two APIs only. All others are passed on.
var translatedMembers = []string{
	"background", "client_metadata", "context_management", "conversation", "include", "input", "instructions",
	"max_completion_tokens",
	"max_tokens", "max_tool_calls", "messages", "n", "previous_response_id", "prompt", "reasoning",
	"reasoning_effort", "response_format",
	"store", "stream_options", "text", "tool_choice", "tools", "top_logprobs", "truncation",
}

// request translates one request up to its first error.
type request struct {
	doc    []byte
	root   object
	chat   []byte // the translation so far
	params *responseParams
	err    *openai.Error

	inputTools []paramSpan     // in items of the input
	allowed    map[string]bool // tools that may be called, and whether they are offered; nil: all may
}

// paramSpan is the place of a value and its name in messages.
type paramSpan struct {
	param string
	at    openai.Span
}

// toChat translates a request of the Responses API into one for a chat completion. Texts, arguments and
// schemas keep their bytes. The error is an *openai.Error with status 400, param and place.
func toChat(body []byte) (chat []byte, asked *responseParams, err error) {
	all := openai.Span{To: len(body)}
	r := request{doc: body, params: &responseParams{},
		chat: append(make([]byte, 0, len(body)+len(body)/4), '{')}
	if r.root, err = readMembers(body, all); err != nil {
		return nil, nil, openai.NotJSON(body, err)
	}
	if at := valueSpan(body); body[at.From] != '{' {
		return nil, nil, openai.NoObject(body, at)
	}
	r.translate()
	if r.err != nil {
		return nil, nil, r.err
	}
	return append(r.chat, '}'), r.params, nil
}

// valueSpan returns the place of the only value of a document.
func valueSpan(doc []byte) openai.Span {
	from := slices.IndexFunc(doc, func(c byte) bool { return c > ' ' })
	return openai.Span{From: from, To: len(doc)}
}

func (r *request) translate() {
	for _, s := range storedMembers {
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
	for _, name := range r.root.sortedNames() {
		if to, other := renamedMembers[name]; other {
			r.put(to, r.root[name].Of(r.doc))
		} else if !slices.Contains(translatedMembers, name) {
			r.put(name, r.root[name].Of(r.doc))
		}
	}
	r.noteParams()
}

func (r *request) noteParams() {
	for _, m := range echoedMembers {
		value := []byte(m.absent)
		if at := r.root[m.name]; r.given(at) {
			value = at.Of(r.doc)
		}
		r.params.echo = append(append(append(append(r.params.echo, `,"`...), m.name...), `":`...), value...)
	}
	r.each("include", r.root["include"], func(_ string, at openai.Span) {
		what, _ := openai.Text(r.doc, at)
		r.params.sealed = r.params.sealed || what == "reasoning.encrypted_content"
	})
}

// format translates text.format.
func (r *request) format() {
	at := r.object("text", r.root["text"])["format"]
	format := r.object("text.format", at)
	switch kind := r.str(format["type"]); kind {
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

// object maps the members of an object to their places. Of members with the same name the last counts.
type object map[string]openai.Span

// readMembers reads the object at a span. Other values have no members.
func readMembers(doc []byte, at openai.Span) (object, error) {
	o := object{}
	err := openai.Members(doc, at, func(key []byte, _, val openai.Span) { o[string(key)] = val })
	return o, err
}

func (o object) sortedNames() []string { return slices.Sorted(maps.Keys(o)) }

// fail records the first error. The message continues the param.
func (r *request) fail(param, format string, about ...any) {
	if r.err == nil {
		r.err = openai.InvalidRequest(param, param+" "+fmt.Sprintf(format, about...))
	}
}

// wrong fails because of the value at a span, or because the object around it lacks one.
func (r *request) wrong(param string, at, around openai.Span, must string) {
	switch {
	case r.err != nil:
	case at.Present():
		r.err = openai.Wrong(r.doc, at, must, param)
	default:
		r.err = openai.Missing(r.doc, around, param)
	}
}

// kind returns the first character of the value at a span; 0: there is none.
func (r *request) kind(at openai.Span) byte {
	if !at.Present() {
		return 0
	}
	return r.doc[at.From]
}

// given reports whether there is a value other than null.
func (r *request) given(at openai.Span) bool { return at.Present() && r.kind(at) != 'n' }

// str returns the string at a span; "": there is none.
func (r *request) str(at openai.Span) string {
	if !at.Present() {
		return ""
	}
	text, _ := openai.Text(r.doc, at)
	return text
}

// object reads the object at a span, which may be absent.
func (r *request) object(param string, at openai.Span) object {
	if !r.given(at) {
		return nil
	}
	if r.kind(at) != '{' {
		r.wrong(param, at, at, "an object")
	}
	o, _ := readMembers(r.doc, at) // the body has been scanned: there is no error
	return o
}

// each visits the elements of the array at a span, which may be absent.
func (r *request) each(param string, at openai.Span, do func(param string, at openai.Span)) {
	if !r.given(at) {
		return
	}
	if r.kind(at) != '[' {
		r.wrong(param, at, at, "an array")
	}
	i := 0
	_ = openai.Elements(r.doc, at, func(val openai.Span) { // as above
		if r.err == nil {
			do(fmt.Sprintf("%s[%d]", param, i), val)
		}
		i++
	})
}

// text returns the required string at a span, with its quotes.
func (r *request) text(param string, at, around openai.Span) []byte {
	if r.kind(at) != '"' {
		r.wrong(param, at, around, "a string")
		return []byte(`""`)
	}
	return at.Of(r.doc)
}

// put adds a member to the chat request.
func (r *request) put(name string, value []byte) {
	if len(r.chat) > 1 {
		r.chat = append(r.chat, ',')
	}
	r.member(name, value)
}

func (r *request) member(name string, value []byte) {
	r.chat = append(append(openai.AppendString(r.chat, name), ':'), value...)
}

// copy adds those of the named members that have a value to an object of the chat request.
func (r *request) copy(from object, names ...string) {
	for _, name := range names {
		at := from[name]
		if !r.given(at) {
			continue
		}
		if r.chat[len(r.chat)-1] != '{' {
			r.chat = append(r.chat, ',')
		}
		r.member(name, at.Of(r.doc))
	}
}

// joinStrings joins JSON strings. The separator must need no escape.
func joinStrings(parts [][]byte, sep string) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	out := []byte{'"'}
	for i, p := range parts {
		if i > 0 {
			out = append(out, sep...)
		}
		out = append(out, p[1:len(p)-1]...)
	}
	return append(out, '"')
}
