package openai

import (
	"fmt"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// requestParser fills a Request while it scans. problem is the first value of a
// wrong type; broken JSON outranks it.
type requestParser struct {
	scanner
	q       *Request
	problem *Error
}

// ParseRequest reads a request. It accepts whatever the OpenAI SDKs and
// OpenClaw send and ignores what it does not know; of duplicate keys the last
// one counts. The error is an *Error with status 400, the param and the place.
func ParseRequest(body []byte) (*Request, error) {
	p := requestParser{scanner: scanner{doc: body}, q: &Request{Body: body, N: 1}}
	p.request()
	if err := p.end(); err != nil {
		return nil, InvalidRequest("", "The request body is not valid JSON: "+explain(body, p.err))
	}
	if p.problem != nil {
		return nil, p.problem
	}
	if len(p.q.Messages) == 0 {
		return nil, InvalidRequest("messages", "messages must hold at least one message.")
	}
	p.q.LastUser = p.q.lastUser()
	return p.q, nil
}

// explain words a syntax error; the scanner knows the depth limit, encoding/json
// has the better words for the rest.
func explain(doc []byte, err *SyntaxError) string {
	if text := Explain(doc); text != "" {
		return text
	}
	return place(doc, err.Offset) + ": " + err.Why
}

// wrong notes that the value at the span is not what it must be. param is a
// format for the indices.
func (p *requestParser) wrong(at Span, must, param string, indices ...int) {
	if p.problem != nil || p.err != nil {
		return
	}
	param = paramName(param, indices)
	p.problem = InvalidRequest(param, fmt.Sprintf("%s must be %s, not %s (%s).",
		param, must, kindOf(p.doc, at), place(p.doc, at.From)))
}

// missing notes that the object at the span lacks a field.
func (p *requestParser) missing(at Span, param string, indices ...int) {
	if p.problem != nil || p.err != nil {
		return
	}
	param = paramName(param, indices)
	p.problem = InvalidRequest(param, fmt.Sprintf("%s is missing (%s).", param, place(p.doc, at.From)))
}

// paramName fills the indices into a path such as messages[%d].role.
func paramName(format string, indices []int) string {
	args := make([]any, len(indices))
	for i, n := range indices {
		args[i] = n
	}
	return fmt.Sprintf(format, args...)
}

// kindOf names the JSON type of a value.
func kindOf(doc []byte, at Span) string {
	switch doc[at.From] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if at.To-at.From > 20 {
		return "a number"
	}
	return "the number " + string(at.Of(doc))
}

func (p *requestParser) request() {
	q := p.q
	if p.peek() != '{' {
		if at := p.skip(); p.err == nil {
			p.problem = InvalidRequest("", "The request body must be a JSON object, not "+kindOf(p.doc, at)+".")
		}
		return
	}
	q.Root.From = p.pos
	for ok := p.enter('{'); ok && p.next('}'); {
		key, at := p.key()
		f := field{name: string(key), key: at}
		switch f.name {
		case "model":
			q.Model, f.val = p.text("model")
			q.ModelSpan = f.val
		case "stream":
			q.Stream, f.val = p.flag("stream")
		case "stream_options":
			f.val = p.streamOptions()
		case "messages":
			q.Messages = nil
			f.val = p.list("messages", p.message)
			q.MessagesSpan = f.val
		case "tools":
			q.Tools = nil
			f.val = p.list("tools", p.tool)
			q.ToolsSpan = f.val
		case "tool_choice":
			f.val = p.toolChoice()
		case "n":
			f.val = p.count()
		default:
			f.val = p.skip()
		}
		q.fields = append(q.fields, f)
	}
	q.Root.To = p.pos
}

// text reads a string; null is "".
func (p *requestParser) text(param string, indices ...int) (string, Span) {
	text, at := p.word()
	if p.err == nil && p.doc[at.From] != '"' && !p.null(at) {
		p.wrong(at, "a string", param, indices...)
	}
	return text, at
}

func (p *requestParser) flag(param string) (bool, Span) {
	at := p.skip()
	switch {
	case p.err != nil:
	case p.doc[at.From] == 't':
		return true, at
	case p.doc[at.From] != 'f' && p.doc[at.From] != 'n':
		p.wrong(at, "a boolean", param)
	}
	return false, at
}

func (p *requestParser) count() Span {
	at := p.skip()
	if p.err != nil || p.null(at) {
		return at
	}
	n, err := strconv.Atoi(string(at.Of(p.doc)))
	if err != nil || n < 1 {
		p.wrong(at, "a whole number of at least 1", "n")
		return at
	}
	p.q.N = n
	return at
}

// list reads an array of objects, each with each; null is an empty one.
func (p *requestParser) list(param string, each func(i int)) Span {
	c, from := p.peek(), p.pos
	if c != '[' {
		at := p.skip()
		if !p.null(at) {
			p.wrong(at, "an array", param)
		}
		return at
	}
	i := 0
	for ok := p.enter('['); ok && p.next(']'); {
		if p.peek() == '{' {
			each(i)
		} else {
			p.wrong(p.skip(), "an object", param+"[%d]", i)
		}
		i++
	}
	return Span{from, p.pos}
}

func (p *requestParser) streamOptions() Span {
	p.peek()
	from := p.pos
	for ok := p.enter('{'); ok && p.next('}'); {
		if key, _ := p.key(); string(key) == "include_usage" {
			p.q.UsageWanted, _ = p.flag("stream_options.include_usage")
			continue
		}
		p.skip()
	}
	return Span{from, p.pos}
}

// toolChoice reads a word, or an object such as {"type":"function","function":{"name":"exec"}}.
func (p *requestParser) toolChoice() Span {
	q := p.q
	q.ToolChoice, q.ToolName = "", ""
	if p.peek() != '{' {
		var at Span
		q.ToolChoice, at = p.text("tool_choice")
		return at
	}
	from := p.pos
	for ok := p.enter('{'); ok && p.next('}'); {
		switch key, _ := p.key(); string(key) {
		case "type":
			q.ToolChoice, _ = p.text("tool_choice.type")
		case "function":
			for ok := p.enter('{'); ok && p.next('}'); {
				if key, _ := p.key(); string(key) == "name" {
					q.ToolName, _ = p.text("tool_choice.function.name")
					continue
				}
				p.skip()
			}
		default:
			p.skip()
		}
	}
	return Span{from, p.pos}
}

// tool reads one entry of tools. Those of another type than function, such as
// web_search, are the server's business.
func (p *requestParser) tool(i int) {
	from := p.pos
	var t tools.Tool
	kind, function := "function", false
	for ok := p.enter('{'); ok && p.next('}'); {
		switch key, _ := p.key(); string(key) {
		case "type":
			kind, _ = p.text("tools[%d].type", i)
		case "function":
			function = p.peek() == '{'
			t = p.function(i)
		default:
			p.skip()
		}
	}
	switch {
	case kind != "function":
	case !function:
		p.missing(Span{from, p.pos}, "tools[%d].function", i)
	case t.Name == "":
		p.missing(Span{from, p.pos}, "tools[%d].function.name", i)
	default:
		p.q.Tools = append(p.q.Tools, t)
	}
}

func (p *requestParser) function(i int) (t tools.Tool) {
	for ok := p.enter('{'); ok && p.next('}'); {
		switch key, _ := p.key(); string(key) {
		case "name":
			t.Name, _ = p.text("tools[%d].function.name", i)
		case "parameters":
			if at := p.skip(); !p.null(at) {
				t.Parameters = at.Of(p.doc)
			}
		default:
			p.skip()
		}
	}
	return t
}
