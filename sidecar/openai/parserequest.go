package openai

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// requestParser fills a Request while it scans. problem is the first value of a wrong type; broken JSON
// outranks it.
type requestParser struct {
	scanner
	q       *Request
	problem *Error
}

// ParseRequest reads a request. It accepts what the OpenAI SDKs and OpenClaw send and ignores unknown
// members; of duplicates the last counts. The error is an *Error with status 400, param and place.
func ParseRequest(body []byte) (*Request, error) {
	p := requestParser{scanner: scanner{Scanner: jsontext.Scanner{Doc: body}}, q: &Request{Body: body, N: 1}}
	p.request()
	if err := p.End(); err != nil {
		return nil, NotJSON(body, err)
	}
	if p.problem != nil {
		return nil, p.problem
	}
	if len(p.q.Messages) == 0 {
		return nil, InvalidRequest("messages", "messages must hold at least one message.")
	}
	p.q.LastUser, p.q.Runtime = p.q.lastUser(), p.q.runtime()
	return p.q, nil
}

// wrong records a value of the wrong kind. param is a format for the indices.
func (p *requestParser) wrong(at Span, must, param string, indices ...int) {
	if p.problem != nil || p.Err != nil {
		return
	}
	p.problem = Wrong(p.Doc, at, must, paramName(param, indices))
}

// missing records that an object lacks a member.
func (p *requestParser) missing(at Span, param string, indices ...int) {
	if p.problem != nil || p.Err != nil {
		return
	}
	p.problem = Missing(p.Doc, at, paramName(param, indices))
}

// paramName fills the indices into a path such as messages[%d].role.
func paramName(format string, indices []int) string {
	args := make([]any, len(indices))
	for i, n := range indices {
		args[i] = n
	}
	return fmt.Sprintf(format, args...)
}

func (p *requestParser) request() {
	q := p.q
	if p.Peek() != '{' {
		if at := p.Skip(); p.Err == nil {
			p.problem = NoObject(p.Doc, at)
		}
		return
	}
	q.Root.From, q.fields = p.Pos, make([]field, 0, 10)
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, at := p.Key()
		f := field{name: key, key: at}
		switch string(key) {
		case "model":
			q.Model, f.val = p.text("model")
			q.Model = strings.Clone(q.Model) // statistics keep it
		case "stream":
			q.Stream, f.val = p.flag("stream")
		case "stream_options":
			f.val = p.streamOptions()
		case "messages":
			q.Messages = make([]Message, 0, 2+min(len(p.Doc)>>11, 60)) // so many are usual
			f.val = p.list(p.message, "messages")
		case "tools":
			q.Tools = nil
			f.val = p.list(p.tool, "tools")
			q.ToolsSpan = f.val
		case "tool_choice":
			f.val = p.toolChoice()
		case "functions":
			if f.val = p.Skip(); p.Err == nil && p.problem == nil && !p.null(f.val) &&
				len(f.val.Of(p.Doc)) > len("[]") {
				p.problem = outdated("functions", "tools", p.Doc, f.val)
			}
		case "n":
			f.val = p.count()
		default:
			f.val = p.Skip()
		}
		q.fields = append(q.fields, f)
	}
	q.Root.To = p.Pos
}

// text reads a string; null is "".
func (p *requestParser) text(param string, indices ...int) (string, Span) {
	text, at := p.word()
	if p.Err == nil && p.Doc[at.From] != '"' && !p.null(at) {
		p.wrong(at, "a string", param, indices...)
	}
	return text, at
}

func (p *requestParser) flag(param string) (bool, Span) {
	at := p.Skip()
	switch {
	case p.Err != nil:
	case p.Doc[at.From] == 't':
		return true, at
	case p.Doc[at.From] != 'f' && p.Doc[at.From] != 'n':
		p.wrong(at, "a boolean", param)
	}
	return false, at
}

func (p *requestParser) count() Span {
	at := p.Skip()
	if p.Err != nil || p.null(at) {
		return at
	}
	n, err := strconv.Atoi(string(at.Of(p.Doc)))
	if err != nil || n < 1 {
		p.wrong(at, "a whole number of at least 1", "n")
		return at
	}
	p.q.N = n
	return at
}

// list reads an array of objects; null is an empty one. param is a format for the indices.
func (p *requestParser) list(each func(i int), param string, indices ...int) Span {
	c, from := p.Peek(), p.Pos
	if c != '[' {
		at := p.Skip()
		if !p.null(at) {
			p.wrong(at, "an array", param, indices...)
		}
		return at
	}
	i := 0
	for ok := p.Enter('['); ok && p.Next(']'); {
		if p.Peek() == '{' {
			each(i)
		} else {
			p.wrong(p.Skip(), "an object", param+"[%d]", append(indices, i)...)
		}
		i++
	}
	return Span{From: from, To: p.Pos}
}

func (p *requestParser) streamOptions() Span {
	p.Peek()
	from := p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		if key, _ := p.Key(); string(key) == "include_usage" {
			p.q.UsageWanted, _ = p.flag("stream_options.include_usage")
		}
	}
	return Span{From: from, To: p.Pos}
}

// toolChoice reads a word, or an object such as {"type":"function","function":{"name":"exec"}}.
func (p *requestParser) toolChoice() Span {
	q := p.q
	q.ToolChoice, q.ToolName, q.allowed = "", "", nil
	if p.Peek() != '{' {
		var at Span
		q.ToolChoice, at = p.text("tool_choice")
		return at
	}
	from := p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "type":
			q.ToolChoice, _ = p.text("tool_choice.type")
		case "function":
			for ok := p.Enter('{'); ok && p.Next('}'); {
				if key, _ := p.Key(); string(key) == "name" {
					q.ToolName, _ = p.text("tool_choice.function.name")
				}
			}
		case "allowed_tools":
			p.allowedTools()
		}
	}
	return Span{From: from, To: p.Pos}
}

// allowedTools reads {"mode":"required","tools":[{"type":"function","function":{"name":"exec"}}]}.
func (p *requestParser) allowedTools() {
	p.q.allowed = &allowed{mode: "auto"}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "mode":
			p.q.allowed.mode, _ = p.text("tool_choice.allowed_tools.mode")
		case "tools":
			p.list(func(i int) {
				for ok := p.Enter('{'); ok && p.Next('}'); {
					if key, _ := p.Key(); string(key) != "function" {
						continue
					}
					for ok := p.Enter('{'); ok && p.Next('}'); {
						if key, _ := p.Key(); string(key) == "name" {
							name, _ := p.text("tool_choice.allowed_tools.tools[%d].function.name", i)
							p.q.allowed.names = append(p.q.allowed.names, name)
						}
					}
				}
			}, "tool_choice.allowed_tools.tools")
		}
	}
}

// tool reads an entry of tools. Types other than function, such as web_search, are left to the server.
func (p *requestParser) tool(i int) {
	from := p.Pos
	var t tools.Tool
	kind, function := "function", false
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "type":
			kind, _ = p.text("tools[%d].type", i)
		case "function":
			function = p.Peek() == '{'
			t = p.function(i)
		}
	}
	switch {
	case kind != "function":
	case !function:
		p.missing(Span{From: from, To: p.Pos}, "tools[%d].function", i)
	case t.Name == "":
		p.missing(Span{From: from, To: p.Pos}, "tools[%d].function.name", i)
	default:
		p.q.Tools = append(p.q.Tools, t)
	}
}

func (p *requestParser) function(i int) (t tools.Tool) {
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "name":
			t.Name, _ = p.text("tools[%d].function.name", i)
		case "parameters":
			if at := p.Skip(); !p.null(at) {
				t.Parameters = at.Of(p.Doc)
			}
		}
	}
	return t
}

// message reads one entry of messages.
func (p *requestParser) message(i int) {
	p.q.Messages = append(p.q.Messages, Message{})
	m := &p.q.Messages[len(p.q.Messages)-1]
	m.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		key, at := p.Key()
		switch string(key) {
		case "role":
			m.Role, m.RoleSpan = p.text("messages[%d].role", i)
		case "content":
			m.Content = p.content(i)
		case "name":
			m.Name, m.NameSpan = p.text("messages[%d].name", i)
		case "tool_call_id":
			m.CallID, m.CallIDSpan = p.text("messages[%d].tool_call_id", i)
		case "tool_calls":
			p.messageCalls(m, i)
		case "reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details":
			p.reasoning(m, at, string(key))
		}
	}
	m.To = p.Pos
	if m.Role == "" {
		p.missing(m.Span, "messages[%d].role", i)
	}
}

// content reads a string, null, or an array of parts.
func (p *requestParser) content(i int) Span {
	c, from := p.Peek(), p.Pos
	if c != '[' {
		at := p.Skip()
		if c != '"' && c != 'n' {
			p.wrong(at, "a string, null or an array of parts", "messages[%d].content", i)
		}
		return at
	}
	part := 0
	for ok := p.Enter('['); ok && p.Next(']'); {
		c := p.Peek()
		if at := p.Skip(); c != '{' && c != '"' {
			p.wrong(at, "an object", "messages[%d].content[%d]", i, part)
		}
		part++
	}
	return Span{From: from, To: p.Pos}
}

// reasoning notes a chain of thought with text. reasoning_content, which OpenClaw replays, wins over the
// others, and each of them over reasoning_details.
func (p *requestParser) reasoning(m *Message, key Span, name string) {
	at := p.Skip()
	if p.Err != nil || at.To-at.From == 2 || p.Doc[at.From] != '"' && (name != "reasoning_details" ||
		detailsText(p.Doc, at) == "") {
		return
	}
	if m.ReasoningIn == "" || name == "reasoning_content" || m.ReasoningIn == "reasoning_details" {
		m.Reasoning, m.ReasoningKey, m.ReasoningIn = at, key, name
	}
}

func (p *requestParser) messageCalls(m *Message, i int) {
	m.Calls = nil
	m.CallsSpan = p.list(func(j int) {
		m.Calls = append(m.Calls, p.messageCall(i, j))
	}, "messages[%d].tool_calls", i)
}

func (p *requestParser) messageCall(i, j int) (c MessageCall) {
	c.From = p.Pos
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "id":
			c.ID, c.IDSpan = p.text("messages[%d].tool_calls[%d].id", i, j)
		case "function":
			for ok := p.Enter('{'); ok && p.Next('}'); {
				switch key, _ := p.Key(); string(key) {
				case "name":
					c.Name, c.NameSpan = p.text("messages[%d].tool_calls[%d].function.name", i, j)
				case "arguments":
					c.ArgsSpan = p.Skip()
				}
			}
		}
	}
	c.To = p.Pos
	return c
}
