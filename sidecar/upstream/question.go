package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// question is a chat as it is sent.
//
// Where the words are asked for as the model writes them, the server is asked for the prompt of the chat
// first, and then for what follows it: its own parser has no part in that.
type question struct {
	to     string
	body   []byte
	own    bool                              // over Ollama's own API,
	stream bool                              // which gives a stream
	read   func(io.ReadCloser) io.ReadCloser // makes a chat completion of the reply; nil: it is one

	// the question behind this one, for what follows the prompt that the answer tells at this path
	behind   func(prompt string) question
	promptAt string
}

// question puts a chat into the words of a server. Who reads streams gets one of Ollama: where it cannot
// parse a call, a whole reply lacks the thought and the text in front of it.
func (c *Client) question(srv *ruleset.Server, chat []byte, streams bool) question {
	get := func(path string) gjson.Result { return gjson.GetBytes(chat, path) }
	f := srv.Unparsed
	own := srv.API == ruleset.OllamaAPI && time.Now().UnixNano() > c.completions.Load()
	switch {
	case own:
		whole := !get("stream").Bool()
		streams = streams && !get("logprobs").Bool() || !whole // a document keeps them
		read := func(begun string) func(io.ReadCloser) io.ReadCloser {
			return func(body io.ReadCloser) io.ReadCloser {
				usage := whole || get("stream_options.include_usage").Bool()
				return newOllamaReply(body, streams, usage, begun)
			}
		}
		asked := ollamaRequest(chat, streams)
		q := question{to: c.root + ollamaPath, body: asked, own: true, stream: streams, read: read("")}
		if f != nil {
			q.body, q.promptAt = rendering(asked), "_debug_info.rendered_template"
			q.behind = func(prompt string) question {
				return question{to: c.root + ollamaPrompt, body: ollamaRaw(asked, prompt), own: true,
					stream: streams, read: read(f.Begun(prompt))}
			}
		}
		return q
	case f != nil && !bound(chat):
		return question{to: c.root + "/apply-template", body: chat, promptAt: "prompt",
			behind: func(prompt string) question {
				return question{to: c.base + "/completions", body: completion(chat, prompt, f),
					read: func(body io.ReadCloser) io.ReadCloser {
						return rewritten(body, (&textReply{f.Begun(prompt)}).line)
					}}
			}}
	}
	return question{to: c.base + "/chat/completions", body: chat}
}

// rendered is the prompt that an answer tells. An answer that tells none is the reply; it stays unread.
func (q *question) rendered(res *http.Response, limit int64) (prompt string, ok bool) {
	head := bufio.NewReader(io.LimitReader(res.Body, limit))
	line, _ := head.ReadBytes('\n') // what breaks off breaks off again for who reads the answer
	if p := gjson.GetBytes(line, q.promptAt); p.Type == gjson.String {
		return p.Str, true
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(line), head, res.Body), res.Body}
	return "", false
}

// bound says that a server makes the model follow what a chat asks for, which a prompt would not.
func bound(chat []byte) bool {
	choice := gjson.GetBytes(chat, "tool_choice")
	return gjson.GetBytes(chat, "response_format").IsObject() || choice.IsObject() || choice.Str == "required"
}

// ofChats are members of a chat that a text completion has no use for, or means otherwise.
var ofChats = []string{"messages", "tools", "tool_choice", "parallel_tool_calls", "response_format",
	"chat_template_kwargs", "reasoning_effort", "logprobs", "top_logprobs"}

// completion asks for what a model of a family writes behind the prompt of a chat. Tokens that the server
// takes for special are kept in the text.
func completion(chat []byte, prompt string, f *ruleset.Family) []byte {
	var out object
	gjson.ParseBytes(chat).ForEach(func(name, value gjson.Result) bool {
		if !slices.Contains(ofChats, name.Str) {
			out.add(name.Str, value.Raw)
		}
		return true
	})
	out.add("prompt", string(openai.AppendString(nil, prompt)))
	if kept, err := json.Marshal(f.Marks); err == nil {
		out.add("preserved_tokens", string(kept))
	}
	return []byte(out.end())
}

// lines is a body whose lines are read as others.
type lines struct {
	io.Closer
	in  *bufio.Reader
	as  func(line []byte) []byte
	out []byte // what is still to be read
	err error
}

func rewritten(body io.ReadCloser, as func(line []byte) []byte) io.ReadCloser {
	return &lines{Closer: body, in: bufio.NewReader(body), as: as}
}

func (r *lines) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		var line []byte
		if line, r.err = r.in.ReadBytes('\n'); len(line) > 0 {
			r.out = r.as(line)
		}
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// textReply reads a reply of text completions as one of chat completions.
type textReply struct {
	begun string // what of the reply stands in the prompt already; "": nothing, or it was read
}

// line is a line of the reply with its text where a chat completion has it.
func (r *textReply) line(line []byte) []byte {
	data, event := bytes.CutPrefix(line, []byte("data: "))
	text := gjson.GetBytes(data, "choices.0.text")
	if !text.Exists() {
		return line
	}
	var message object
	message.add("role", `"assistant"`)
	message.add("content", string(openai.AppendString(nil, r.begun+text.Str)))
	r.begun = ""
	path := "choices.0.message"
	if event {
		path = "choices.0.delta"
	}
	out, err := sjson.SetRawBytes(bytes.Clone(data), path, []byte(message.end()))
	if err != nil {
		return line
	}
	return append(line[:len(line)-len(data):len(line)-len(data)], out...)
}
