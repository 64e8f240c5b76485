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

// exchange is a chat as it is sent.
//
// Where the model's raw text is wanted, the server is first asked for the prompt of the chat and then for
// its continuation, so that its own parser has no part in it.
type exchange struct {
	to     string
	body   []byte
	ollama bool                              // over Ollama's own API
	stream bool                              // that API gives a stream
	read   func(io.ReadCloser) io.ReadCloser // translates the reply into a chat completion; nil: it is one

	// next returns the exchange for what follows the prompt, which the answer holds at promptAt.
	next     func(prompt string) exchange
	promptAt string
}

// newExchange puts a chat into the server's form. A caller that reads streams gets one of Ollama: where it
// cannot parse a call, a whole reply lacks the thought and the text before it.
func (c *Client) newExchange(srv *ruleset.Server, chat []byte, streams bool) exchange {
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
		q := exchange{to: c.root + ollamaPath, body: asked, ollama: true, stream: streams, read: read("")}
		if f != nil {
			q.body, q.promptAt = renderRequest(asked), "_debug_info.rendered_template"
			q.next = func(prompt string) exchange {
				return exchange{to: c.root + ollamaPrompt, body: ollamaRaw(asked, prompt), ollama: true,
					stream: streams, read: read(f.Begun(prompt))}
			}
		}
		return q
	case f != nil && !constrained(chat):
		return exchange{to: c.root + "/apply-template", body: chat, promptAt: "prompt",
			next: func(prompt string) exchange {
				return exchange{to: c.base + "/completions", body: completion(chat, prompt, f),
					read: func(body io.ReadCloser) io.ReadCloser {
						return translateLines(body, (&textReply{f.Begun(prompt)}).line)
					}}
			}}
	}
	return exchange{to: c.base + "/chat/completions", body: chat}
}

// prompt returns the prompt in a response. A response without one is the reply and stays unread.
func (q *exchange) prompt(res *http.Response, limit int64) (prompt string, ok bool) {
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

// constrained reports whether the server constrains the model as a chat asks, which a prompt would not.
func constrained(chat []byte) bool {
	choice := gjson.GetBytes(chat, "tool_choice")
	return gjson.GetBytes(chat, "response_format").IsObject() || choice.IsObject() || choice.Str == "required"
}

// chatMembers have no use in a text completion, or another meaning.
var chatMembers = []string{"messages", "tools", "tool_choice", "parallel_tool_calls", "response_format",
	"chat_template_kwargs", "reasoning_effort", "logprobs", "top_logprobs"}

// completion asks for what a model of a family writes after the prompt of a chat. Special tokens of the
// server are kept in the text.
func completion(chat []byte, prompt string, f *ruleset.Family) []byte {
	var out jsonObject
	gjson.ParseBytes(chat).ForEach(func(name, value gjson.Result) bool {
		if !slices.Contains(chatMembers, name.Str) {
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

// lineReader translates a body line by line.
type lineReader struct {
	io.Closer
	in        *bufio.Reader
	translate func(line []byte) []byte
	out       []byte // still to be read
	err       error
}

func translateLines(body io.ReadCloser, as func(line []byte) []byte) io.ReadCloser {
	return &lineReader{Closer: body, in: bufio.NewReader(body), translate: as}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		var line []byte
		if line, r.err = r.in.ReadBytes('\n'); len(line) > 0 {
			r.out = r.translate(line)
		}
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// textReply translates text completions into chat completions.
type textReply struct {
	prefix string // start of the reply that is part of the prompt, until it was read
}

// line translates a line of the reply.
func (r *textReply) line(line []byte) []byte {
	data, event := bytes.CutPrefix(line, []byte("data: "))
	text := gjson.GetBytes(data, "choices.0.text")
	if !text.Exists() {
		return line
	}
	var message jsonObject
	message.add("role", `"assistant"`)
	message.add("content", string(openai.AppendString(nil, r.prefix+text.Str)))
	r.prefix = ""
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
