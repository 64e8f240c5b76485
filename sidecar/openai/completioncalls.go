package openai

import (
	"bytes"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// CallPart is one entry of tool_calls, whole or a piece of it. Arguments is JSON
// text, or a piece of it; a server that sends an object instead of a string is
// understood.
type CallPart struct {
	Span
	Index                      int
	Typed                      bool // its type is function
	ID, Name                   string
	Arguments                  []byte // of their own
	IDSpan, NameSpan, ArgsSpan Span
}

func (p *completionParser) calls(ch *Choice) {
	p.Peek()
	ch.CallsSpan.From, ch.Calls = p.Pos, ch.Calls[:0]
	for ok := p.Enter('['); ok && p.Next(']'); {
		p.call(ch)
	}
	ch.CallsSpan.To = p.Pos
}

func (p *completionParser) call(ch *Choice) {
	if p.Peek() != '{' {
		p.Skip()
		return
	}
	part := CallPart{Span: Span{From: p.Pos}, Index: len(ch.Calls)}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "index":
			part.Index = p.int(part.Index)
		case "id":
			part.ID, part.IDSpan = p.word()
		case "type":
			kind, _ := p.word()
			part.Typed = kind == "function"
		case "function":
			p.function(&part)
		}
	}
	part.To = p.Pos
	ch.Calls = append(ch.Calls, part)
}

func (p *completionParser) function(part *CallPart) {
	part.Name, part.NameSpan, part.Arguments, part.ArgsSpan = "", Span{}, nil, Span{}
	for ok := p.Enter('{'); ok && p.Next('}'); {
		switch key, _ := p.Key(); string(key) {
		case "name":
			part.Name, part.NameSpan = p.word()
		case "arguments":
			first := p.Peek()
			part.ArgsSpan, part.Arguments = p.Skip(), nil
			switch raw := part.ArgsSpan.Of(p.Doc); {
			case p.Err != nil:
			case first == '"':
				part.Arguments = jsontext.UnquoteBytes(raw[1 : len(raw)-1])
			case first == '{':
				part.Arguments = bytes.Clone(raw)
			}
		}
	}
}
